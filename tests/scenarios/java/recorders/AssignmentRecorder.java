import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.generated.ShareGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ShareGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.ModernGroupMember;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ShareTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Runs Kafka's own target assignment: each line of standard input is one group's story, each line of output what came
 * of its steps. See tests/scenarios/assignments.py, which writes the stories and keeps both.
 */
public class AssignmentRecorder {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, ConsumerGroupPartitionAssignor> ASSIGNORS =
        Map.of("uniform", new UniformAssignor(), "range", new RangeAssignor());

    record Topic(String name, Uuid id, List<List<String>> racks) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public int partitionCount() {
            return racks.size();
        }

        @Override
        public List<String> partitionRacks(int partition) {
            return new ArrayList<>(racks.get(partition));
        }
    }

    record Image(Map<String, Topic> topics) implements CoordinatorMetadataImage {
        @Override
        public Set<Uuid> topicIds() {
            Set<Uuid> ids = new HashSet<>();
            topics.values().forEach(topic -> ids.add(topic.id()));
            return ids;
        }

        @Override
        public Set<String> topicNames() {
            return topics.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(topics.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return topics.values().stream().filter(topic -> topic.id().equals(id)).map(t -> (TopicMetadata) t).findFirst();
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return topics.isEmpty();
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(JSON.writeValueAsString(tell(JSON.readTree(line))));
        }
    }

    private static ArrayNode tell(JsonNode story) {
        String assignor = story.get("assignor").asText();
        Teller<?> teller = assignor.equals("simple") ? new ShareTeller() : new ConsumerTeller(ASSIGNORS.get(assignor));
        Map<String, Topic> topics = new HashMap<>();
        ArrayNode answers = JSON.createArrayNode();
        int epoch = 1;
        for (JsonNode step : story.get("steps")) {
            if (step.has("topics")) {
                for (JsonNode node : step.get("topics")) {
                    Topic topic = topic(node);
                    topics.put(topic.name(), topic);
                }
            }
            if (step.has("leave")) {
                teller.leave(step.get("leave").asText());
            }
            epoch++;
            answers.add(teller.assign(step, new Image(topics), epoch));
        }
        return answers;
    }

    private static Topic topic(JsonNode node) {
        List<List<String>> racks = new ArrayList<>();
        for (JsonNode partition : node.get("racks")) {
            List<String> names = new ArrayList<>();
            partition.forEach(rack -> names.add(rack.asText()));
            racks.add(names);
        }
        return new Topic(node.get("name").asText(), Uuid.fromString(node.get("id").asText()), racks);
    }

    private static List<String> texts(JsonNode nodes) {
        List<String> found = new ArrayList<>();
        nodes.forEach(node -> found.add(node.asText()));
        return found;
    }

    /** A group of one type, and what is recorded of it. */
    private abstract static class Teller<M extends ModernGroupMember> {
        final ModernGroup<M> group;

        Teller(ModernGroup<M> group) {
            this.group = group;
        }

        abstract M member(JsonNode node, int epoch);

        abstract void update(M member);

        abstract void remove(String member);

        abstract SubscriptionType type(Map<String, SubscriptionCount> names, int members);

        abstract TargetAssignmentBuilder<M, ?> builder(JsonNode step, int epoch);

        /** The row of a record that is a member's target, null for another one; the group takes it over. */
        abstract ArrayNode row(CoordinatorRecord record);

        void leave(String member) {
            group.removeTargetAssignment(member);
            remove(member);
        }

        ObjectNode assign(JsonNode step, Image image, int epoch) {
            M joins = step.has("join") ? member(step.get("join"), epoch) : null;
            M before = joins == null ? null : group.members().get(joins.memberId());
            Map<String, SubscriptionCount> names = joins == null
                ? new HashMap<>(group.subscribedTopicNames())
                : group.computeSubscribedTopicNames(before, joins);
            int members = group.numMembers() + (joins != null && before == null ? 1 : 0);
            SubscriptionType type = type(names, members);
            if (joins != null) {
                update(joins);
            }
            TargetAssignmentBuilder<M, ?> builder = builder(step, epoch);
            builder.withTime(Time.SYSTEM);
            builder.withMembers(group.members());
            builder.withSubscriptionType(type);
            builder.withTargetAssignment(group.targetAssignment());
            builder.withInvertedTargetAssignment(group.invertedTargetAssignment());
            builder.withMetadataImage(image);
            List<CoordinatorRecord> records = builder.build().records();
            ArrayNode rows = JSON.createArrayNode();
            for (CoordinatorRecord record : records) {
                ArrayNode row = row(record);
                if (row != null) {
                    rows.add(row);
                }
            }
            ObjectNode answer = JSON.createObjectNode();
            answer.put("hash", ModernGroup.computeMetadataHash(names, new HashMap<>(), image));
            answer.put("type", type.name());
            answer.set("records", rows);
            return answer;
        }

        static ArrayNode row(String member, Map<Uuid, List<Integer>> partitions) {
            ArrayNode row = JSON.createArrayNode().add(member);
            ArrayNode owned = row.addArray();
            partitions.forEach((id, indexes) -> {
                ArrayNode listed = owned.addArray().add(id.toString()).addArray();
                indexes.forEach(listed::add);
            });
            return row;
        }
    }

    private static final class ConsumerTeller extends Teller<ConsumerGroupMember> {
        private final ConsumerGroup consumers;
        private final ConsumerGroupPartitionAssignor assignor;

        ConsumerTeller(ConsumerGroupPartitionAssignor assignor) {
            super(new ConsumerGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "g"));
            this.consumers = (ConsumerGroup) group;
            this.assignor = assignor;
        }

        @Override
        ConsumerGroupMember member(JsonNode node, int epoch) {
            return new ConsumerGroupMember.Builder(node.get("id").asText())
                .setInstanceId(node.get("instance").isNull() ? null : node.get("instance").asText())
                .setSubscribedTopicNames(texts(node.get("topics")))
                .setMemberEpoch(epoch)
                .build();
        }

        @Override
        void update(ConsumerGroupMember member) {
            consumers.updateMember(member);
        }

        @Override
        void remove(String member) {
            consumers.removeMember(member);
        }

        @Override
        SubscriptionType type(Map<String, SubscriptionCount> names, int members) {
            return ConsumerGroup.subscriptionType(Map.of(), names, members);
        }

        @Override
        TargetAssignmentBuilder<ConsumerGroupMember, ?> builder(JsonNode step, int epoch) {
            return new ConsumerTargetAssignmentBuilder("g", epoch, assignor);
        }

        @Override
        ArrayNode row(CoordinatorRecord record) {
            if (!(record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key)) {
                return null;
            }
            var value = (ConsumerGroupTargetAssignmentMemberValue) record.value().message();
            group.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
            Map<Uuid, List<Integer>> partitions = new LinkedHashMap<>();
            value.topicPartitions().forEach(topic -> partitions.put(topic.topicId(), topic.partitions()));
            return row(key.memberId(), partitions);
        }
    }

    private static final class ShareTeller extends Teller<ShareGroupMember> {
        private final ShareGroup members;

        ShareTeller() {
            super(new ShareGroup(new SnapshotRegistry(new LogContext()), "g"));
            this.members = (ShareGroup) group;
        }

        @Override
        ShareGroupMember member(JsonNode node, int epoch) {
            return new ShareGroupMember.Builder(node.get("id").asText())
                .setSubscribedTopicNames(texts(node.get("topics")))
                .setMemberEpoch(epoch)
                .build();
        }

        @Override
        void update(ShareGroupMember member) {
            members.updateMember(member);
        }

        @Override
        void remove(String member) {
            members.removeMember(member);
        }

        @Override
        SubscriptionType type(Map<String, SubscriptionCount> names, int members) {
            return ModernGroup.subscriptionType(names, members);
        }

        @Override
        TargetAssignmentBuilder<ShareGroupMember, ?> builder(JsonNode step, int epoch) {
            Map<Uuid, Set<Integer>> assignable = new HashMap<>();
            step.get("assignable").fields().forEachRemaining(entry -> {
                Set<Integer> partitions = new HashSet<>();
                entry.getValue().forEach(partition -> partitions.add(partition.asInt()));
                assignable.put(Uuid.fromString(entry.getKey()), partitions);
            });
            return new ShareTargetAssignmentBuilder("g", epoch, new SimpleAssignor())
                .withTopicAssignablePartitionsMap(assignable);
        }

        @Override
        ArrayNode row(CoordinatorRecord record) {
            if (!(record.key() instanceof ShareGroupTargetAssignmentMemberKey key)) {
                return null;
            }
            var value = (ShareGroupTargetAssignmentMemberValue) record.value().message();
            group.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
            Map<Uuid, List<Integer>> partitions = new LinkedHashMap<>();
            value.topicPartitions().forEach(topic -> partitions.put(topic.topicId(), topic.partitions()));
            return row(key.memberId(), partitions);
        }
    }
}
