package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;
import static scenarios.Context.waitUntil;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** What users see who lack rights, and what they can do once they have them. The user `ann` begins with none. */
public final class Rights {
    private static void grant(Context admin, String user, AclOperation operation, ResourceType type, String name) throws Exception {
        var entry = new AccessControlEntry("User:" + user, "*", operation, AclPermissionType.ALLOW);
        var binding = new AclBinding(new ResourcePattern(type, name, PatternType.LITERAL), entry);
        admin.admin().createAcls(List.of(binding)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Until the action is no longer refused: a right counts a moment after it was given. */
    private static void waitAllowed(String what, Context.Action action) throws Exception {
        waitUntil(what, () -> {
            try {
                action.run();
                return true;
            } catch (Exception refused) {
                for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
                    if (cause instanceof AuthorizationException) {
                        return false;
                    }
                }
                throw refused;
            }
        });
    }

    public static void producerNeedsWriteAlone(Context context) throws Exception {
        Context admin = context.as("admin");
        Context ann = context.as("ann");
        String topic = admin.topic(1);
        var plain = ann.producer("enable.idempotence", "false");
        var refused = fails(TopicAuthorizationException.class, plain.send(new ProducerRecord<>(topic, "a")));
        equal(Set.of(topic), refused.unauthorizedTopics());
        grant(admin, "ann", AclOperation.WRITE, ResourceType.TOPIC, topic);
        waitAllowed("an idempotent producer", () -> {
            try (KafkaProducer<String, String> producer = ann.producer()) {
                producer.send(new ProducerRecord<>(topic, 0, null, "b")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            }
        });
        equal(List.of("b"), admin.values(topic, 0, "read_uncommitted"));
    }

    public static void idempotentProducerWithoutAnyRight(Context context) throws Exception {
        Context admin = context.as("admin");
        String topic = admin.topic(1);
        grant(admin, "ben", AclOperation.DESCRIBE, ResourceType.TOPIC, topic);
        waitUntil("a refusal by the cluster", () -> {
            try (KafkaProducer<String, String> producer = context.as("ben").producer()) {
                producer.send(new ProducerRecord<>(topic, "a")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
                throw new AssertionError("a record was written without any right to write");
            } catch (KafkaException | ExecutionException failure) {
                return caused(failure, ClusterAuthorizationException.class);
            }
        });
        check(admin.values(topic, 0, "read_uncommitted").isEmpty(), "something was written");
    }

    private static boolean caused(Throwable failure, Class<? extends Throwable> kind) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (kind.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    public static void transactionalProducer(Context context) throws Exception {
        Context admin = context.as("admin");
        Context ann = context.as("ann");
        String topic = admin.topic(1);
        String secret = admin.topic(1);
        String id = unique("ann");
        String group = unique("ann");
        var none = ann.producer("transactional.id", id);
        fails(TransactionalIdAuthorizationException.class, none::initTransactions);
        grant(admin, "ann", AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, id);
        grant(admin, "ann", AclOperation.WRITE, ResourceType.TOPIC, topic);
        grant(admin, "ann", AclOperation.DESCRIBE, ResourceType.TOPIC, secret);
        List<KafkaProducer<String, String>> made = new ArrayList<>();
        waitAllowed("a transactional producer", () -> {
            var next = ann.producer("transactional.id", id);
            next.initTransactions();
            made.add(next);
        });
        var producer = made.get(0);
        producer.beginTransaction();
        var written = producer.send(new ProducerRecord<>(topic, 0, null, "lost"));
        var refused = fails(TopicAuthorizationException.class, producer.send(new ProducerRecord<>(secret, 0, null, "x")));
        equal(Set.of(secret), refused.unauthorizedTopics());
        fails(KafkaException.class, producer::commitTransaction);
        producer.abortTransaction();
        producer.beginTransaction();
        var offsets = Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1));
        fails(GroupAuthorizationException.class,
            () -> producer.sendOffsetsToTransaction(offsets, new org.apache.kafka.clients.consumer.ConsumerGroupMetadata(group)));
        producer.abortTransaction();
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(topic, 0, null, "kept")).get(Context.PATIENCE_S, TimeUnit.SECONDS);
        producer.commitTransaction();
        equal(List.of("kept"), admin.values(topic, 0, "read_committed"));
        check(admin.values(secret, 0, "read_uncommitted").isEmpty(), "something was written");
        check(written.isDone(), "a record is still on its way");
    }

    public static void classicConsumer(Context context) throws Exception {
        consumer(context, "classic");
    }

    public static void consumerOfTheNewProtocol(Context context) throws Exception {
        consumer(context, "consumer");
    }

    private static void consumer(Context context, String protocol) throws Exception {
        Context admin = context.as("admin");
        Context ann = context.as("ann");
        String topic = admin.topic(1);
        String group = unique("ann");
        admin.fill(topic, "a", "b");
        grant(admin, "ann", AclOperation.DESCRIBE, ResourceType.TOPIC, topic);
        waitAllowed("the topic", () -> ann.admin().describeTopics(List.of(topic)).allTopicNames().get());
        var noGroup = subscribed(ann, protocol, group, topic);
        var refused = fails(GroupAuthorizationException.class, () -> pollOn(noGroup));
        equal(group, refused.groupId());
        grant(admin, "ann", AclOperation.READ, ResourceType.GROUP, group);
        waitUntil("a refusal of the topic", () -> {
            var noTopic = subscribed(ann, protocol, group, topic);
            try {
                pollOn(noTopic);
            } catch (GroupAuthorizationException notYet) {
                return false;
            } catch (TopicAuthorizationException expected) {
                equal(Set.of(topic), expected.unauthorizedTopics());
                return true;
            }
            return false;
        });
        grant(admin, "ann", AclOperation.READ, ResourceType.TOPIC, topic);
        waitAllowed("records", () -> equal(List.of("a", "b"), read(subscribed(ann, protocol, group, topic))));
    }

    private static KafkaConsumer<String, String> subscribed(Context ann, String protocol, String group, String topic) {
        KafkaConsumer<String, String> consumer = ann.consumer("group.id", group, "group.protocol", protocol);
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    private static List<String> read(KafkaConsumer<String, String> consumer) {
        try (consumer) {
            return Context.read(consumer, 2).stream().map(ConsumerRecord::value).toList();
        }
    }

    /** Polls until something is thrown. */
    private static void pollOn(KafkaConsumer<String, String> consumer) {
        try (consumer) {
            long end = Context.deadline();
            while (true) {
                check(consumer.poll(Duration.ofMillis(50)).isEmpty(), "records came");
                check(System.nanoTime() < end, "nothing was refused");
            }
        }
    }

    public static void shareConsumer(Context context) throws Exception {
        Context admin = context.as("admin");
        Context ann = context.as("ann");
        String topic = admin.topic(1);
        String group = unique("ann");
        var reset = new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
        admin.admin().incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, group), List.of(reset))).all().get();
        admin.fill(topic, "a");
        grant(admin, "ann", AclOperation.DESCRIBE, ResourceType.TOPIC, topic);
        waitAllowed("the topic", () -> ann.admin().describeTopics(List.of(topic)).allTopicNames().get());
        var refused = fails(GroupAuthorizationException.class, () -> share(ann, group, topic));
        equal(group, refused.groupId());
        grant(admin, "ann", AclOperation.READ, ResourceType.GROUP, group);
        waitUntil("a refusal of the topic", () -> {
            try {
                share(ann, group, topic);
            } catch (GroupAuthorizationException notYet) {
                return false;
            } catch (TopicAuthorizationException expected) {
                equal(Set.of(topic), expected.unauthorizedTopics());
                return true;
            }
            return false;
        });
        grant(admin, "ann", AclOperation.READ, ResourceType.TOPIC, topic);
        waitAllowed("shared records", () -> equal(List.of("a"), share(ann, group, topic)));
    }

    private static List<String> share(Context ann, String group, String topic) throws Exception {
        var config = ann.config("group.id", group, "fetch.max.wait.ms", 50);
        try (var consumer = new KafkaShareConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long end = Context.deadline();
            List<String> values = new ArrayList<>();
            while (values.isEmpty()) {
                consumer.poll(Duration.ofMillis(50)).forEach(record -> values.add(record.value()));
                check(System.nanoTime() < end, "nothing came and nothing was refused");
            }
            consumer.commitSync();
            return values;
        }
    }

    public static void streamsGroup(Context context) throws Exception {
        Context admin = context.as("admin");
        Context ann = context.as("ann");
        String topic = admin.topic(1);
        String application = unique("ann");
        grant(admin, "ann", AclOperation.DESCRIBE, ResourceType.TOPIC, topic);
        waitAllowed("the topic", () -> ann.admin().describeTopics(List.of(topic)).allTopicNames().get());
        equal(GroupAuthorizationException.class, failureOf(ann, application, topic));
        grant(admin, "ann", AclOperation.READ, ResourceType.GROUP, application);
        grant(admin, "ann", AclOperation.DESCRIBE, ResourceType.GROUP, application);
        waitUntil("a refusal of the changelog", () -> TopicAuthorizationException.class.equals(failureOf(ann, application, topic)));
    }

    /** What kind of refusal ends an application that counts the values of a topic. */
    private static Class<?> failureOf(Context user, String application, String topic) throws Exception {
        var config = new Properties();
        config.putAll(user.config("application.id", application, "group.protocol", "streams", "replication.factor", 1,
            "state.dir", Files.createTempDirectory("rights").toString(),
            StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class,
            StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class));
        var builder = new StreamsBuilder();
        builder.<String, String>stream(topic).groupByKey().count();
        var ended = new CompletableFuture<Throwable>();
        try (var streams = new KafkaStreams(builder.build(), config)) {
            streams.setUncaughtExceptionHandler(failure -> {
                ended.complete(failure);
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            Throwable failure = ended.get(Context.PATIENCE_S, TimeUnit.SECONDS);
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof AuthorizationException) {
                    return cause.getClass();
                }
            }
            return failure.getClass();
        }
    }
}
