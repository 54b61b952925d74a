package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Topics, configurations, offsets and the cluster, through the admin client. */
public final class Administration {
    public static void lifeOfATopic(Context context) throws Exception {
        String name = context.topic(3);
        fails(TopicExistsException.class, context.admin().createTopics(List.of(new NewTopic(name, 1, (short) 1))).all());
        check(context.admin().listTopics().names().get(Context.PATIENCE_S, TimeUnit.SECONDS).contains(name), "listed");
        Uuid first = context.admin().describeTopics(List.of(name)).allTopicNames().get().get(name).topicId();
        check(!first.equals(Uuid.ZERO_UUID), "has an id");
        context.admin().deleteTopics(List.of(name)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Context.waitUntil("gone", () -> !context.admin().listTopics().names().get().contains(name));
        fails(UnknownTopicOrPartitionException.class, context.admin().deleteTopics(List.of(name)).all());
        context.topicNamed(name, 2);
        var again = context.admin().describeTopics(List.of(name)).allTopicNames().get().get(name);
        check(!again.topicId().equals(first), "a re-created topic has a new id");
        equal(2, again.partitions().size());
        equal(name, again.name());
        equal(false, again.isInternal());
    }

    public static void refusedTopics(Context context) throws Exception {
        fails(InvalidTopicException.class, create(context, new NewTopic("bad name", 1, (short) 1)));
        fails(InvalidTopicException.class, create(context, new NewTopic("..", 1, (short) 1)));
        fails(InvalidPartitionsException.class, create(context, new NewTopic(unique("t"), 0, (short) 1)));
        fails(InvalidReplicationFactorException.class, create(context, new NewTopic(unique("t"), 1, (short) 1000)));
        NewTopic odd = new NewTopic(unique("t"), 1, (short) 1).configs(Map.of("no.such.config", "1"));
        fails(InvalidConfigurationException.class, create(context, odd));
        NewTopic wrong = new NewTopic(unique("t"), 1, (short) 1).configs(Map.of("retention.ms", "soon"));
        fails(InvalidConfigurationException.class, create(context, wrong));
    }

    private static java.util.concurrent.Future<?> create(Context context, NewTopic topic) {
        return context.admin().createTopics(List.of(topic)).all().toCompletionStage().toCompletableFuture();
    }

    public static void validateOnlyAndManualAssignment(Context context) throws Exception {
        String name = unique("java");
        int node = context.admin().describeCluster().nodes().get().iterator().next().id();
        NewTopic topic = new NewTopic(name, Map.of(0, List.of(node), 1, List.of(node)));
        var checked = context.admin().createTopics(List.of(topic), new CreateTopicsOptions().validateOnly(true));
        checked.all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        check(!context.admin().listTopics().names().get().contains(name), "only validated");
        var created = context.admin().createTopics(List.of(topic.configs(Map.of("retention.ms", "1000"))));
        equal(2, created.numPartitions(name).get(Context.PATIENCE_S, TimeUnit.SECONDS));
        equal(1, created.replicationFactor(name).get());
        equal("1000", created.config(name).get().get("retention.ms").value());
        var options = new NewTopic(unique("java"), Optional.empty(), Optional.empty());
        equal(1, context.admin().createTopics(List.of(options)).numPartitions(options.name()).get(Context.PATIENCE_S, TimeUnit.SECONDS));
    }

    public static void morePartitions(Context context) throws Exception {
        String name = context.topic(1);
        context.admin().createPartitions(Map.of(name, NewPartitions.increaseTo(4))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Context.waitUntil("four partitions", () ->
            context.admin().describeTopics(List.of(name)).allTopicNames().get().get(name).partitions().size() == 4);
        fails(InvalidPartitionsException.class, context.admin().createPartitions(Map.of(name, NewPartitions.increaseTo(2))).all());
        fails(UnknownTopicOrPartitionException.class,
            context.admin().createPartitions(Map.of(unique("none"), NewPartitions.increaseTo(2))).all());
    }

    public static void configsOfATopic(Context context) throws Exception {
        String name = context.topic(1, "retention.ms", "600000");
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, name);
        Config config = describe(context, topic);
        ConfigEntry retention = config.get("retention.ms");
        equal("600000", retention.value());
        equal(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, retention.source());
        equal(ConfigEntry.ConfigType.LONG, retention.type());
        check(retention.documentation() != null && retention.documentation().length() > 20, "documented");
        check(retention.synonyms().size() >= 1, "has synonyms");
        equal("delete", config.get("cleanup.policy").value());
        equal(true, config.get("cleanup.policy").isDefault());
        alter(context, topic,
            new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"), OpType.APPEND),
            new AlterConfigOp(new ConfigEntry("retention.ms", null), OpType.DELETE),
            new AlterConfigOp(new ConfigEntry("segment.bytes", "1048576"), OpType.SET));
        Context.waitUntil("changed", () -> describe(context, topic).get("segment.bytes").value().equals("1048576"));
        config = describe(context, topic);
        equal(Set.of("delete", "compact"), Set.of(config.get("cleanup.policy").value().split(",")));
        equal("604800000", config.get("retention.ms").value());
        alter(context, topic, new AlterConfigOp(new ConfigEntry("cleanup.policy", "delete"), OpType.SUBTRACT));
        Context.waitUntil("subtracted", () -> describe(context, topic).get("cleanup.policy").value().equals("compact"));
        var bad = new AlterConfigOp(new ConfigEntry("segment.bytes", "many"), OpType.SET);
        fails(InvalidConfigurationException.class, () -> alter(context, topic, bad));
        equal("1048576", describe(context, topic).get("segment.bytes").value());
        ConfigResource none = new ConfigResource(ConfigResource.Type.TOPIC, unique("none"));
        fails(UnknownTopicOrPartitionException.class, () -> describe(context, none));
    }

    public static void configsOfABroker(Context context) throws Exception {
        String node = context.admin().describeCluster().nodes().get().iterator().next().idString();
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node);
        Config config = describe(context, broker);
        equal("604800000", millis(config));
        equal(ConfigEntry.ConfigType.INT, config.get("num.partitions").type());
        equal(false, config.get("num.partitions").isSensitive());
        equal(true, config.get("broker.id").isReadOnly() || config.get("node.id").isReadOnly());
    }

    private static String millis(Config config) {
        String value = config.get("log.retention.ms").value();
        return value != null ? value : "" + Long.parseLong(config.get("log.retention.hours").value()) * 3_600_000;
    }

    private static Config describe(Context context, ConfigResource resource) throws Exception {
        var options = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        return context.admin().describeConfigs(List.of(resource), options).all().get(Context.PATIENCE_S, TimeUnit.SECONDS).get(resource);
    }

    private static void alter(Context context, ConfigResource resource, AlterConfigOp... operations) throws Exception {
        Collection<AlterConfigOp> all = List.of(operations);
        context.admin().incrementalAlterConfigs(Map.of(resource, all)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
    }

    public static void deletedRecords(Context context) throws Exception {
        String name = context.topic(1);
        TopicPartition at = new TopicPartition(name, 0);
        context.fill(name, "a", "b", "c", "d");
        var done = context.admin().deleteRecords(Map.of(at, RecordsToDelete.beforeOffset(3)));
        equal(3L, done.lowWatermarks().get(at).get(Context.PATIENCE_S, TimeUnit.SECONDS).lowWatermark());
        equal(List.of("d"), context.values(name, 0, "read_uncommitted"));
        equal(3L, offset(context, at, OffsetSpec.earliest()));
        fails(OffsetOutOfRangeException.class, context.admin().deleteRecords(Map.of(at, RecordsToDelete.beforeOffset(9))).all());
        context.admin().deleteRecords(Map.of(at, RecordsToDelete.beforeOffset(-1))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(4L, offset(context, at, OffsetSpec.earliest()));
    }

    public static void listedOffsets(Context context) throws Exception {
        String name = context.topic(1);
        TopicPartition at = new TopicPartition(name, 0);
        equal(-1L, offset(context, at, OffsetSpec.maxTimestamp()));
        long now = System.currentTimeMillis();
        try (var producer = context.producer()) {
            for (long time : new long[] {now - 3000, now - 1000, now - 2000}) {
                producer.send(new ProducerRecord<>(name, 0, time, null, "x")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            }
        }
        equal(0L, offset(context, at, OffsetSpec.earliest()));
        equal(3L, offset(context, at, OffsetSpec.latest()));
        equal(1L, offset(context, at, OffsetSpec.maxTimestamp()));
        equal(1L, offset(context, at, OffsetSpec.forTimestamp(now - 2500)));
        equal(-1L, offset(context, at, OffsetSpec.forTimestamp(now)));
        var latest = context.admin().listOffsets(Map.of(at, OffsetSpec.maxTimestamp())).partitionResult(at).get();
        equal(now - 1000, latest.timestamp());
    }

    static long offset(Context context, TopicPartition at, OffsetSpec spec) throws Exception {
        return context.admin().listOffsets(Map.of(at, spec)).partitionResult(at).get(Context.PATIENCE_S, TimeUnit.SECONDS).offset();
    }

    public static void theCluster(Context context) throws Exception {
        var cluster = context.admin().describeCluster();
        check(!cluster.nodes().get(Context.PATIENCE_S, TimeUnit.SECONDS).isEmpty(), "has nodes");
        check(cluster.clusterId().get().length() == 22, "cluster id " + cluster.clusterId().get());
        check(cluster.controller().get() != null, "has a controller");
        var features = context.admin().describeFeatures().featureMetadata().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal((short) 2, features.finalizedFeatures().get("transaction.version").maxVersionLevel());
        String name = context.topic(1);
        context.fill(name, "x".repeat(1000));
        int node = cluster.nodes().get().iterator().next().id();
        boolean found = context.admin().describeLogDirs(List.of(node)).allDescriptions().get(Context.PATIENCE_S, TimeUnit.SECONDS).get(node)
            .values().stream().anyMatch(folder -> folder.replicaInfos().containsKey(new TopicPartition(name, 0))
                && folder.replicaInfos().get(new TopicPartition(name, 0)).size() > 1000);
        check(found, "the log folder shows the partition with its size");
    }

    public static void producersOfAPartition(Context context) throws Exception {
        String name = context.topic(1);
        TopicPartition at = new TopicPartition(name, 0);
        try (var producer = context.producer("enable.idempotence", true)) {
            producer.send(new ProducerRecord<>(name, 0, null, "a")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>(name, 0, null, "b")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
        }
        var states = context.admin().describeProducers(List.of(at)).partitionResult(at).get(Context.PATIENCE_S, TimeUnit.SECONDS).activeProducers();
        equal(1, states.size());
        equal(1, states.get(0).lastSequence());
        equal(0, states.get(0).producerEpoch());
        check(states.get(0).currentTransactionStartOffset().isEmpty(), "no transaction");
    }
}
