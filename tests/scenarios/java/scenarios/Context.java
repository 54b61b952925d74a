package scenarios;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What a scenario works with: clients of the broker under test, closed at its end, and checks. */
final class Context {
    /** How long anything is waited for that must come. */
    static final long PATIENCE_S = 60;
    final String bootstrap;
    private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();
    private Admin admin;

    private final Map<String, Object> security;

    Context(String bootstrap) {
        this(bootstrap, Map.of());
    }

    private Context(String bootstrap, Map<String, Object> security) {
        this.bootstrap = bootstrap;
        this.security = security;
    }

    /** The same broker, where clients log in as this user. */
    Context as(String user) {
        String login = "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + user + "\" password=\"secret\";";
        var known = Map.<String, Object>of("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config", login);
        Context other = new Context(bootstrap, known);
        keep((AutoCloseable) other::close);
        return other;
    }

    /** Code that may throw anything. */
    interface Action {
        void run() throws Exception;
    }

    static String unique(String label) {
        return label + "-" + UUID.randomUUID().toString().substring(0, 8);
    }

    synchronized Admin admin() {
        if (admin == null) {
            admin = keep(Admin.create(config("client.id", "scenario-admin")));
        }
        return admin;
    }

    <T extends AutoCloseable> T keep(T closeable) {
        open.add(closeable);
        return closeable;
    }

    String topic(int partitions, String... configs) throws Exception {
        return topicNamed(unique("java"), partitions, configs);
    }

    String topicNamed(String name, int partitions, String... configs) throws Exception {
        Map<String, String> config = new HashMap<>();
        for (int i = 0; i < configs.length; i += 2) {
            config.put(configs[i], configs[i + 1]);
        }
        admin().createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(config))).all().get(PATIENCE_S, TimeUnit.SECONDS);
        waitUntil("leaders of " + name, () -> {
            try {
                var topic = admin().describeTopics(List.of(name)).allTopicNames().get().get(name);
                return topic.partitions().size() == partitions && topic.partitions().stream().allMatch(p -> p.leader() != null);
            } catch (ExecutionException notYet) {
                return false;
            }
        });
        // a leader that metadata knows already may not have its log yet; the client asks until it has
        Map<TopicPartition, OffsetSpec> logs = new HashMap<>();
        for (int i = 0; i < partitions; i++) {
            logs.put(new TopicPartition(name, i), OffsetSpec.earliest());
        }
        admin().listOffsets(logs).all().get(PATIENCE_S, TimeUnit.SECONDS);
        return name;
    }

    KafkaProducer<String, String> producer(Object... config) {
        Map<String, Object> all = config("linger.ms", 0, "max.block.ms", 60_000);
        all.putAll(config(config));
        return keep(new KafkaProducer<>(all, new StringSerializer(), new StringSerializer()));
    }

    KafkaConsumer<String, String> consumer(Object... config) {
        Map<String, Object> all = config("auto.offset.reset", "earliest", "enable.auto.commit", "false", "fetch.max.wait.ms", 50);
        all.putAll(config(config));
        return keep(new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer()));
    }

    /** A configuration map of the given names and values, with the bootstrap address. */
    Map<String, Object> config(Object... pairs) {
        Map<String, Object> map = new HashMap<>(Map.of("bootstrap.servers", bootstrap));
        map.putAll(security);
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }

    /** Produce the values to partition 0 and wait for them. */
    void fill(String topic, String... values) throws Exception {
        try (KafkaProducer<String, String> producer = producer()) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(topic, 0, null, value)).get(PATIENCE_S, TimeUnit.SECONDS);
            }
        }
    }

    /** Poll until that many records came, or fail after a minute. */
    static List<ConsumerRecord<String, String>> read(KafkaConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> all = new ArrayList<>();
        long end = deadline();
        while (all.size() < count) {
            consumer.poll(Duration.ofMillis(50)).forEach(all::add);
            check(System.nanoTime() < end, "only " + all.size() + " of " + count + " records came: " + where(all));
        }
        return all;
    }

    /** Partition and offset of each record. */
    static List<String> where(List<ConsumerRecord<String, String>> records) {
        return records.stream().map(record -> record.partition() + "@" + record.offset()).toList();
    }

    /** Values of a partition from its start up to the end that the isolation level shows. */
    List<String> values(String topic, int partition, String isolation) {
        TopicPartition at = new TopicPartition(topic, partition);
        try (KafkaConsumer<String, String> consumer = consumer("isolation.level", isolation)) {
            consumer.assign(List.of(at));
            long end = consumer.endOffsets(List.of(at)).get(at);
            consumer.seekToBeginning(List.of(at));
            List<String> all = new ArrayList<>();
            long deadline = deadline();
            while (consumer.position(at) < end) {
                consumer.poll(Duration.ofMillis(50)).forEach(record -> all.add(record.value()));
                check(System.nanoTime() < deadline, "stuck at " + consumer.position(at) + " of " + end);
            }
            return all;
        }
    }

    /** The end of patience, as a value of System.nanoTime. */
    static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_S);
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void equal(Object expected, Object actual) {
        check(Objects.equals(expected, actual), "expected " + expected + " but got " + actual);
    }

    /** The action must fail with this exception, perhaps wrapped in an ExecutionException or KafkaException. */
    static <E extends Throwable> E fails(Class<E> kind, Action action) {
        try {
            action.run();
        } catch (Throwable failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (kind.isInstance(cause)) {
                    return kind.cast(cause);
                }
            }
            throw new AssertionError("expected " + kind.getSimpleName() + " but got " + failure, failure);
        }
        throw new AssertionError("expected " + kind.getSimpleName() + " but it went through");
    }

    static <E extends Throwable> E fails(Class<E> kind, Future<?> future) {
        return fails(kind, () -> future.get(PATIENCE_S, TimeUnit.SECONDS));
    }

    static void waitUntil(String what, Callable<Boolean> probe) throws Exception {
        long end = deadline();
        while (!probe.call()) {
            check(System.nanoTime() < end, what + ": not within " + PATIENCE_S + " s");
            Thread.sleep(20);
        }
    }

    void close() {
        for (AutoCloseable each : open) {
            try {
                if (each instanceof KafkaProducer<?, ?> producer) {
                    producer.close(Duration.ZERO);
                } else if (each instanceof KafkaConsumer<?, ?> consumer) {
                    consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO));
                } else {
                    each.close();
                }
            } catch (Exception alreadyClosedOrBusy) {
                continue;
            }
        }
    }
}
