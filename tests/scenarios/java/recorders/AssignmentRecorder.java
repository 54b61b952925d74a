import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
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
        ConsumerGroupPartitionAssignor assignor = ASSIGNORS.get(story.get("assignor").asText());
        ConsumerGroup group = new ConsumerGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "g");
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
            ConsumerGroupMember joins = step.has("join") ? member(step.get("join"), epoch + 1) : null;
            if (step.has("leave")) {
                group.removeTargetAssignment(step.get("leave").asText());
                group.removeMember(step.get("leave").asText());
            }
            epoch++;
            answers.add(assign(group, assignor, new Image(topics), joins, epoch));
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

    private static ConsumerGroupMember member(JsonNode node, int epoch) {
        List<String> names = new ArrayList<>();
        node.get("topics").forEach(name -> names.add(name.asText()));
        return new ConsumerGroupMember.Builder(node.get("id").asText())
            .setInstanceId(node.get("instance").isNull() ? null : node.get("instance").asText())
            .setSubscribedTopicNames(names)
            .setMemberEpoch(epoch)
            .build();
    }

    private static ObjectNode assign(
        ConsumerGroup group,
        ConsumerGroupPartitionAssignor assignor,
        Image image,
        ConsumerGroupMember joins,
        int epoch
    ) {
        ConsumerGroupMember before = joins == null ? null : group.members().get(joins.memberId());
        Map<String, SubscriptionCount> names = joins == null
            ? new HashMap<>(group.subscribedTopicNames())
            : group.computeSubscribedTopicNames(before, joins);
        int members = group.numMembers() + (joins != null && before == null ? 1 : 0);
        ConsumerTargetAssignmentBuilder builder = new ConsumerTargetAssignmentBuilder("g", epoch, assignor)
            .withTime(Time.SYSTEM)
            .withMembers(group.members())
            .withStaticMembers(group.staticMembers())
            .withSubscriptionType(ConsumerGroup.subscriptionType(Map.of(), names, members))
            .withTargetAssignment(group.targetAssignment())
            .withInvertedTargetAssignment(group.invertedTargetAssignment())
            .withMetadataImage(image);
        if (joins != null) {
            builder.addOrUpdateMember(joins.memberId(), joins);
        }
        ArrayNode rows = JSON.createArrayNode();
        List<CoordinatorRecord> records = builder.build().records();
        if (joins != null) {
            group.updateMember(joins);
        }
        for (CoordinatorRecord record : records) {
            if (record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key) {
                var value = (ConsumerGroupTargetAssignmentMemberValue) record.value().message();
                group.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
                ArrayNode row = rows.addArray().add(key.memberId());
                ArrayNode owned = row.addArray();
                for (var topic : value.topicPartitions()) {
                    ArrayNode partitions = owned.addArray().add(topic.topicId().toString()).addArray();
                    topic.partitions().forEach(partitions::add);
                }
            }
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.put("hash", ModernGroup.computeMetadataHash(names, new HashMap<>(), image));
        answer.put("type", ConsumerGroup.subscriptionType(Map.of(), names, members).name());
        answer.set("records", rows);
        return answer;
    }
}
