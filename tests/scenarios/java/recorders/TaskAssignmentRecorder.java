import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.streams.MemberTaskOffsets;
import org.apache.kafka.coordinator.group.streams.StreamsGroup;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.TasksTuple;
import org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredSubtopology;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Runs Kafka's own task assignment: each line of standard input is one group's story, each line of output what came of
 * its steps. See tests/scenarios/task_assignments.py, which writes the stories and keeps both.
 */
public class TaskAssignmentRecorder {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(JSON.writeValueAsString(tell(JSON.readTree(line))));
        }
    }

    private static ArrayNode tell(JsonNode story) {
        StreamsGroup group = new StreamsGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "g");
        ArrayNode answers = JSON.createArrayNode();
        ConfiguredTopology topology = null;
        int standbys = 0;
        int epoch = 1;
        for (JsonNode step : story.get("steps")) {
            if (step.has("subtopologies")) {
                topology = topology(step.get("subtopologies"));
            }
            if (step.has("standbys")) {
                standbys = step.get("standbys").asInt();
            }
            if (step.has("leave")) {
                group.removeTargetAssignment(step.get("leave").asText());
                group.removeMember(step.get("leave").asText());
            }
            for (JsonNode id : step.get("take")) {
                StreamsGroupMember member = group.members().get(id.asText());
                TasksTuple target = group.targetAssignment(id.asText(), Optional.empty());
                group.updateMember(new StreamsGroupMember.Builder(member).setAssignedTasks(taken(target)).build());
            }
            step.get("restored").fields().forEachRemaining(entry -> group.updateTaskOffsets(
                entry.getKey(), new MemberTaskOffsets(offsets(entry.getValue().get(0)), offsets(entry.getValue().get(1)))));
            StreamsGroupMember joins = step.has("join") ? member(group, step.get("join")) : null;
            epoch++;
            answers.add(assign(group, topology, standbys, joins, epoch));
        }
        return answers;
    }

    private static ConfiguredTopology topology(JsonNode node) {
        SortedMap<String, ConfiguredSubtopology> subtopologies = new TreeMap<>();
        node.fields().forEachRemaining(entry -> {
            int tasks = entry.getValue().get(0).asInt();
            Map<String, ConfiguredInternalTopic> changelogs = entry.getValue().get(1).asBoolean()
                ? Map.of("c", new ConfiguredInternalTopic("c", tasks, Optional.empty(), Map.of()))
                : Map.of();
            subtopologies.put(entry.getKey(), new ConfiguredSubtopology(tasks, Set.of("t"), Map.of(), Set.of(), changelogs));
        });
        return new ConfiguredTopology(0, 0, Optional.of(subtopologies), Map.of(), Optional.empty());
    }

    private static TasksTupleWithEpochs taken(TasksTuple target) {
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        target.activeTasks().forEach((name, partitions) -> partitions.forEach(
            partition -> active.computeIfAbsent(name, key -> new HashMap<>()).put(partition, 1)));
        return new TasksTupleWithEpochs(active, target.standbyTasks(), target.warmupTasks());
    }

    private static Map<String, Map<Integer, Long>> offsets(JsonNode rows) {
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        for (JsonNode row : rows) {
            offsets.computeIfAbsent(row.get(0).asText(), key -> new HashMap<>()).put(row.get(1).asInt(), row.get(2).asLong());
        }
        return offsets;
    }

    private static StreamsGroupMember member(StreamsGroup group, JsonNode node) {
        StreamsGroupMember present = group.members().get(node.get(0).asText());
        StreamsGroupMember.Builder builder = present == null
            ? StreamsGroupMember.Builder.withDefaults(node.get(0).asText())
            : new StreamsGroupMember.Builder(present);
        return builder.setProcessId(node.get(1).asText()).build();
    }

    private static ArrayNode assign(
        StreamsGroup group,
        ConfiguredTopology topology,
        int standbys,
        StreamsGroupMember joins,
        int epoch
    ) {
        if (joins != null) {
            group.updateMember(joins);
        }
        Map<String, String> configs = Map.of("num.standby.replicas", String.valueOf(standbys));
        TargetAssignmentBuilder builder = new TargetAssignmentBuilder("g", epoch, new StickyTaskAssignor(), configs)
            .withTime(Time.SYSTEM)
            .withMembers(group.members())
            .withTaskOffsets(group.taskOffsets())
            .withTopology(topology)
            .withTargetAssignment(group.targetAssignment())
            .withMetadataImage(CoordinatorMetadataImage.EMPTY);
        List<CoordinatorRecord> records = builder.build().records();
        ArrayNode rows = JSON.createArrayNode();
        for (CoordinatorRecord record : records) {
            if (record.key() instanceof StreamsGroupTargetAssignmentMemberKey key) {
                var value = (StreamsGroupTargetAssignmentMemberValue) record.value().message();
                group.updateTargetAssignment(key.memberId(), TasksTuple.fromTargetAssignmentRecord(value));
                ArrayNode row = rows.addArray().add(key.memberId());
                tasks(row.addArray(), value.activeTasks());
                tasks(row.addArray(), value.standbyTasks());
            }
        }
        return rows;
    }

    private static void tasks(ArrayNode row, List<StreamsGroupTargetAssignmentMemberValue.TaskIds> tasks) {
        for (var subtopology : tasks) {
            ArrayNode partitions = row.addArray().add(subtopology.subtopologyId()).addArray();
            subtopology.partitions().forEach(partitions::add);
        }
    }
}
