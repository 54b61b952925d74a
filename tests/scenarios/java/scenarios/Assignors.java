package scenarios;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.TopicPartition;

/** Assignors of an application's own, which send user data with the subscription and get some with the assignment. */
public final class Assignors {
    /** User data that members got with their assignment, by client id. */
    static final Map<String, String> RECEIVED = Collections.synchronizedMap(new HashMap<>());

    private abstract static class Own implements ConsumerPartitionAssignor, Configurable {
        private String client;

        @Override
        public void configure(Map<String, ?> configs) {
            client = (String) configs.get("client.id");
        }

        /** What this member tells the leader: its rack, which tests put behind a slash in the client id. */
        @Override
        public ByteBuffer subscriptionUserData(Set<String> topics) {
            return ByteBuffer.wrap(client.substring(client.indexOf('.') + 1).getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
            RECEIVED.put(client, assignment.userData() == null ? "" : text(assignment.userData()));
        }

        static String text(ByteBuffer data) {
            return StandardCharsets.UTF_8.decode(data.duplicate()).toString();
        }

        static ByteBuffer bytes(String text) {
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        }

        static List<TopicPartition> partitions(Cluster cluster, GroupSubscription group) {
            Set<String> topics = new java.util.TreeSet<>();
            group.groupSubscription().values().forEach(each -> topics.addAll(each.topics()));
            List<TopicPartition> all = new ArrayList<>();
            for (String topic : topics) {
                for (int i = 0; i < cluster.partitionCountForTopic(topic); i++) {
                    all.add(new TopicPartition(topic, i));
                }
            }
            return all;
        }
    }

    /** Gives partition n to the member of rack n modulo racks; answers each member's rack with a prefix. */
    public static final class RackAware extends Own {
        @Override
        public String name() {
            return "own-rack-aware";
        }

        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
            TreeMap<String, String> byRack = new TreeMap<>();
            group.groupSubscription().forEach((member, asked) -> byRack.put(text(asked.userData()), member));
            Map<String, Assignment> all = new HashMap<>();
            List<String> racks = new ArrayList<>(byRack.keySet());
            for (String rack : racks) {
                List<TopicPartition> own = partitions(cluster, group).stream()
                    .filter(each -> racks.get(each.partition() % racks.size()).equals(rack)).toList();
                all.put(byRack.get(rack), new Assignment(own, bytes("for " + rack)));
            }
            return new GroupAssignment(all);
        }
    }

    /** Deals the partitions out by chance. */
    public static final class Chance extends Own {
        @Override
        public String name() {
            return "own-random";
        }

        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
            List<String> members = new ArrayList<>(new java.util.TreeSet<>(group.groupSubscription().keySet()));
            Map<String, List<TopicPartition>> dealt = new HashMap<>();
            Random random = new Random();
            members.forEach(member -> dealt.put(member, new ArrayList<>()));
            partitions(cluster, group).forEach(each -> dealt.get(members.get(random.nextInt(members.size()))).add(each));
            Map<String, Assignment> all = new HashMap<>();
            dealt.forEach((member, own) -> all.put(member, new Assignment(own, bytes(own.toString()))));
            return new GroupAssignment(all);
        }
    }

    /** Gives every partition to every member. */
    public static final class Broadcast extends Own {
        @Override
        public String name() {
            return "own-broadcast";
        }

        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
            Map<String, Assignment> all = new HashMap<>();
            group.groupSubscription().keySet().forEach(member -> all.put(member, new Assignment(partitions(cluster, group), bytes("all"))));
            return new GroupAssignment(all);
        }
    }
}
