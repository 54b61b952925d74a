package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.unique;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyQueryMetadata;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.state.HostInfo;
import org.apache.kafka.streams.state.Stores;

/** Kafka Streams with exactly-once processing. */
public final class Streaming {
    public static void wordCountExactlyOnceAcrossARestart(Context context) throws Exception {
        String input = context.topic(1);
        String output = context.topic(1);
        String application = unique("streams");
        Path folder = Files.createTempDirectory("odradek-streams");
        context.fill(input, "to be or not", "to be");
        KafkaStreams first = start(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 2L, "be", 2L, "or", 1L, "not", 1L));
        first.close(Duration.ofSeconds(60));
        context.fill(input, "that is", "the question to be");
        KafkaStreams second = start(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 3L, "be", 3L, "or", 1L, "not", 1L, "that", 1L, "is", 1L, "the", 1L, "question", 1L));
        second.close(Duration.ofSeconds(60));
    }

    public static void streamsProtocolCountsExactlyOnceAcrossARestart(Context context) throws Exception {
        String input = context.topic(1);
        String output = context.topic(1);
        String application = promptGroup(context, Map.of());
        Path folder = Files.createTempDirectory("odradek-streams");
        context.fill(input, "to be or not", "to be");
        KafkaStreams first = startWithStreamsProtocol(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 2L, "be", 2L, "or", 1L, "not", 1L));
        first.close(Duration.ofSeconds(60));
        context.fill(input, "that is", "the question to be");
        KafkaStreams second = startWithStreamsProtocol(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 3L, "be", 3L, "or", 1L, "not", 1L, "that", 1L, "is", 1L, "the", 1L, "question", 1L));
        second.close(Duration.ofSeconds(60));
    }

    /** Two subtopologies of four tasks each: one instance has all, two share them, one has all again. */
    public static void streamsProtocolScalesOutAndIn(Context context) throws Exception {
        String input = context.topic(4);
        String output = context.topic(1);
        String application = promptGroup(context, Map.of());
        KafkaStreams first = startWithStreamsProtocol(context, input, output, application, Files.createTempDirectory("first"));
        awaitTasks(8, 0, first);
        context.fill(input, "a b", "a");
        awaitCounts(context, output, Map.of("a", 2L, "b", 1L));
        KafkaStreams second = startWithStreamsProtocol(context, input, output, application, Files.createTempDirectory("second"));
        awaitTasks(8, 0, first, second);
        check(tasks(first, true).size() == 4, "first has " + tasks(first, true));
        context.fill(input, "a b", "c");
        awaitCounts(context, output, Map.of("a", 3L, "b", 2L, "c", 1L));
        var group = context.admin().describeStreamsGroups(List.of(application)).describedGroups().get(application).get();
        check(group.groupState() == GroupState.STABLE, "state " + group.groupState());
        check(group.members().size() == 2, group.members().size() + " members");
        check(group.subtopologies().size() == 2, group.subtopologies().size() + " subtopologies");
        second.close(new KafkaStreams.CloseOptions().leaveGroup(true).timeout(Duration.ofSeconds(60)));
        awaitTasks(8, 0, first);
        context.fill(input, "a");
        awaitCounts(context, output, Map.of("a", 4L, "b", 2L, "c", 1L));
        first.close(Duration.ofSeconds(60));
    }

    /** Each task with state has a standby on the other instance, which goes on when its instance is closed. */
    public static void streamsProtocolKeepsStandbys(Context context) throws Exception {
        String input = context.topic(2);
        String output = context.topic(1);
        String application = promptGroup(context, Map.of("streams.num.standby.replicas", "1"));
        KafkaStreams first = startWithStreamsProtocol(context, input, output, application, Files.createTempDirectory("first"));
        awaitTasks(4, 0, first);
        KafkaStreams second = startWithStreamsProtocol(context, input, output, application, Files.createTempDirectory("second"));
        awaitTasks(4, 2, first, second);
        Set<TaskId> here = tasks(first, true);
        here.retainAll(tasks(first, false));
        check(here.isEmpty(), "active and standby in one place: " + here);
        context.fill(input, "a b", "a");
        awaitCounts(context, output, Map.of("a", 2L, "b", 1L));
        first.close(new KafkaStreams.CloseOptions().leaveGroup(true).timeout(Duration.ofSeconds(60)));
        awaitTasks(4, 0, second);
        context.fill(input, "a b");
        awaitCounts(context, output, Map.of("a", 3L, "b", 2L));
        second.close(Duration.ofSeconds(60));
    }

    /** One member asks for the end of the application, and every instance ends. */
    public static void streamsProtocolEndsTheWholeApplication(Context context) throws Exception {
        String input = context.topic(2);
        String application = promptGroup(context, Map.of());
        List<KafkaStreams> instances = new ArrayList<>();
        for (int number = 0; number < 2; number++) {
            StreamsBuilder builder = new StreamsBuilder();
            builder.<String, String>stream(input).foreach((key, value) -> {
                throw new IllegalArgumentException(value);
            });
            Properties config = streamsProtocol(context, application, Files.createTempDirectory("instance"));
            KafkaStreams streams = context.keep(new KafkaStreams(builder.build(), config));
            streams.setUncaughtExceptionHandler(failure -> StreamThreadExceptionResponse.SHUTDOWN_APPLICATION);
            streams.start();
            instances.add(streams);
        }
        awaitTasks(2, 0, instances.get(0), instances.get(1));
        context.fill(input, "boom");
        long end = System.nanoTime() + 120_000_000_000L;
        while (instances.stream().anyMatch(each -> each.state().isRunningOrRebalancing())) {
            check(System.nanoTime() < end, "states " + instances.get(0).state() + ", " + instances.get(1).state());
            Thread.sleep(50);
        }
    }

    /** Instances with an address know which of them has a key, and which has its standby. */
    public static void streamsProtocolTellsWhereAKeyIs(Context context) throws Exception {
        String input = context.topic(2);
        String output = context.topic(1);
        String application = promptGroup(context, Map.of("streams.num.standby.replicas", "1"));
        List<KafkaStreams> instances = new ArrayList<>();
        for (String address : List.of("one.example:1", "two.example:2")) {
            Properties config = streamsProtocol(context, application, Files.createTempDirectory("instance"));
            config.put("application.server", address);
            instances.add(start(context, input, output, config));
        }
        awaitTasks(4, 2, instances.get(0), instances.get(1));
        context.fill(input, "a");
        awaitCounts(context, output, Map.of("a", 1L));
        List<HostInfo> hosts = List.of(new HostInfo("one.example", 1), new HostInfo("two.example", 2));
        long end = System.nanoTime() + 120_000_000_000L;
        while (true) {
            KeyQueryMetadata told = instances.get(0).queryMetadataForKey("counts", "a", new StringSerializer());
            KeyQueryMetadata other = instances.get(1).queryMetadataForKey("counts", "a", new StringSerializer());
            if (told.equals(other) && hosts.contains(told.activeHost())) {
                int active = hosts.indexOf(told.activeHost());
                check(told.standbyHosts().equals(Set.of(hosts.get(1 - active))), "standbys " + told.standbyHosts());
                TaskId task = new TaskId(1, told.partition());
                check(tasks(instances.get(active), true).contains(task), task + " is not active on " + told.activeHost());
                return;
            }
            check(System.nanoTime() < end, told + " and " + other);
            Thread.sleep(50);
        }
    }

    /** The id of an application whose members are told to be heard of often. */
    private static String promptGroup(Context context, Map<String, String> more) throws Exception {
        String application = unique("streams");
        Map<String, String> configs = new HashMap<>(more);
        configs.put("streams.heartbeat.interval.ms", "200");
        List<AlterConfigOp> changes = new ArrayList<>();
        configs.forEach((name, value) -> changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, application);
        context.admin().incrementalAlterConfigs(Map.of(group, changes)).all().get();
        return application;
    }

    private static Set<TaskId> tasks(KafkaStreams streams, boolean active) {
        Set<TaskId> found = new HashSet<>();
        for (ThreadMetadata thread : streams.metadataForLocalThreads()) {
            for (TaskMetadata task : active ? thread.activeTasks() : thread.standbyTasks()) {
                found.add(task.taskId());
            }
        }
        return found;
    }

    /** Until the instances have so many tasks in all, none of them twice, and each has its share of the active ones. */
    private static void awaitTasks(int active, int standby, KafkaStreams... instances) throws Exception {
        long end = System.nanoTime() + 120_000_000_000L;
        while (true) {
            List<TaskId> found = new ArrayList<>();
            List<TaskId> copies = new ArrayList<>();
            boolean even = true;
            for (KafkaStreams streams : instances) {
                even &= tasks(streams, true).size() == active / instances.length;
                found.addAll(tasks(streams, true));
                copies.addAll(tasks(streams, false));
            }
            if (even && found.size() == active && new HashSet<>(found).size() == active && copies.size() == standby) {
                return;
            }
            check(System.nanoTime() < end, "active " + found + ", standby " + copies);
            Thread.sleep(50);
        }
    }

    private static KafkaStreams startWithStreamsProtocol(
            Context context, String input, String output, String application, Path folder) {
        return start(context, input, output, streamsProtocol(context, application, folder));
    }

    private static Properties streamsProtocol(Context context, String application, Path folder) {
        Properties config = new Properties();
        config.putAll(context.config("application.id", application, "processing.guarantee", "exactly_once_v2",
            "group.protocol", "streams", "state.dir", folder.toString(), "commit.interval.ms", 100,
            "statestore.cache.max.bytes", 0L, "auto.offset.reset", "earliest", "replication.factor", 1,
            "num.stream.threads", 1, StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class,
            StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class));
        return config;
    }

    private static KafkaStreams start(Context context, String input, String output, String application, Path folder) {
        Properties config = new Properties();
        config.putAll(context.config("application.id", application, "processing.guarantee", "exactly_once_v2",
            "state.dir", folder.toString(), "commit.interval.ms", 100, "statestore.cache.max.bytes", 0L,
            "session.timeout.ms", 4000, "heartbeat.interval.ms", 200, "auto.offset.reset", "earliest",
            "replication.factor", 1, "num.stream.threads", 1,
            StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class,
            StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class));
        return start(context, input, output, config);
    }

    private static KafkaStreams start(Context context, String input, String output, Properties config) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(input)
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word)
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
            .toStream()
            .to(output, Produced.with(Serdes.String(), Serdes.Long()));
        KafkaStreams streams = context.keep(new KafkaStreams(builder.build(), config));
        streams.start();
        return streams;
    }

    /** Each word's counts must come as 1, 2, 3, ... once each, and end at the expected number. */
    private static void awaitCounts(Context context, String output, Map<String, Long> expected) {
        TopicPartition at = new TopicPartition(output, 0);
        var config = context.config("isolation.level", "read_committed", "fetch.max.wait.ms", 50);
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer())) {
            consumer.assign(List.of(at));
            consumer.seekToBeginning(List.of(at));
            Map<String, Long> counts = new HashMap<>();
            long end = System.nanoTime() + 120_000_000_000L;
            while (!counts.equals(expected)) {
                check(System.nanoTime() < end, "counts are " + counts + ", expected " + expected);
                for (var record : consumer.poll(Duration.ofMillis(50))) {
                    long before = counts.getOrDefault(record.key(), 0L);
                    check(record.value() == before + 1, record.key() + " went from " + before + " to " + record.value());
                    counts.put(record.key(), record.value());
                }
            }
        }
    }
}
