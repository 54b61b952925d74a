import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes and reads what tests/scenarios/old_clients asks for; compiled against kafka-clients 0.11, runs with any. */
public class OldClient {
    private static final int PATIENCE_MS = 120_000;
    private static String servers;
    private static String topic;

    interface Step {
        String run() throws Exception;
    }

    public static void main(String[] arguments) {
        servers = arguments[0];
        topic = arguments[1];
        tell("produce", OldClient::produce);
        tell("group", () -> consume(topic, "read_uncommitted", 12));
        tell("transactions", OldClient::transactions);
        System.exit(0);
    }

    private static void tell(String name, Step step) {
        String outcome;
        try {
            outcome = step.run();
        } catch (Exception error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            outcome = cause.getClass().getSimpleName();
        }
        System.out.println(name + "=" + outcome);
    }

    private static Properties properties(String... pairs) {
        Properties made = new Properties();
        made.put("bootstrap.servers", servers);
        made.put("max.block.ms", "120000");
        for (int place = 0; place < pairs.length; place += 2) {
            made.put(pairs[place], pairs[place + 1]);
        }
        for (String side : new String[] {"key", "value"}) {
            String package_ = "org.apache.kafka.common.serialization.String";
            made.put(side + ".serializer", package_ + "Serializer");
            made.put(side + ".deserializer", package_ + "Deserializer");
        }
        return made;
    }

    private static String produce() throws Exception {
        int sent = 0;
        for (String codec : new String[] {"none", "gzip", "snappy", "lz4"}) {
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties("compression.type", codec, "linger.ms", "20"))) {
                List<java.util.concurrent.Future<?>> answers = new ArrayList<>();
                for (int index = 0; index < 3; index++) {
                    answers.add(producer.send(new ProducerRecord<>(topic, "k", codec + index)));
                    sent++;
                }
                for (java.util.concurrent.Future<?> answer : answers) {
                    answer.get();
                }
            }
        }
        return sent + " records";
    }

    private static String transactions() throws Exception {
        String other = topic + "-transactions";
        Properties own = properties("transactional.id", topic, "acks", "all");
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(own)) {
            producer.initTransactions();
            for (String value : new String[] {"kept", "dropped"}) {
                producer.beginTransaction();
                for (int index = 0; index < 2; index++) {
                    producer.send(new ProducerRecord<>(other, "k", value + index)).get();
                }
                if (value.equals("kept")) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(other, "k", "end")).get();
            producer.commitTransaction();
        }
        return consume(other, "read_committed", 3);
    }

    private static String consume(String from, String isolation, int count) throws Exception {
        Properties own = properties("group.id", from, "auto.offset.reset", "earliest", "isolation.level", isolation);
        List<String> values = new ArrayList<>();
        long end = System.currentTimeMillis() + PATIENCE_MS;
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(own)) {
            consumer.subscribe(Collections.singletonList(from));
            while (values.size() < count && System.currentTimeMillis() < end) {
                for (ConsumerRecord<String, String> record : poll(consumer)) {
                    values.add(record.value());
                }
            }
            consumer.commitSync();
        }
        return String.join(" ", values);
    }

    /** The method's argument has changed with 2.0, and the old one is gone with 4.0. */
    @SuppressWarnings("unchecked")
    private static ConsumerRecords<String, String> poll(KafkaConsumer<String, String> consumer) throws Exception {
        try {
            Method newer = KafkaConsumer.class.getMethod("poll", Duration.class);
            return (ConsumerRecords<String, String>) newer.invoke(consumer, Duration.ofMillis(200));
        } catch (NoSuchMethodException old) {
            Method older = KafkaConsumer.class.getMethod("poll", long.class);
            return (ConsumerRecords<String, String>) older.invoke(consumer, 200L);
        }
    }
}
