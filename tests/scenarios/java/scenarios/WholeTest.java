package scenarios;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The whole test with the Java client: prints the seconds of each step of each test, as JSON.
 *
 * <p>Arguments: COUNT CONFIG; CONFIG is what `broker.client_config` gives, as JSON.
 */
public final class WholeTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] STEPS = {"create the topic", "produce", "consume", "commit", "close"};
    private static final int RECORDS = 10;

    public static void main(String[] args) throws Exception {
        Map<String, Object> config = JSON.readValue(args[1], new TypeReference<>() {});
        List<Map<String, Double>> found = new ArrayList<>();
        try (Admin admin = Admin.create(config)) {
            while (found.size() < Integer.parseInt(args[0])) {
                found.add(test(admin, config));
            }
        }
        System.out.println(JSON.writeValueAsString(found));
    }

    private static Map<String, Double> test(Admin admin, Map<String, Object> config) throws Exception {
        String topic = "t-" + UUID.randomUUID();
        List<Long> marks = new ArrayList<>(List.of(System.nanoTime()));
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        marks.add(System.nanoTime());
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int number = 0; number < RECORDS; number++) {
                sent.add(producer.send(new ProducerRecord<>(topic, Integer.toString(number))));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
        marks.add(System.nanoTime());
        Map<String, Object> consuming = new HashMap<>(config);
        consuming.putAll(Map.of("group.id", "g-" + UUID.randomUUID(), "auto.offset.reset", "earliest", "enable.auto.commit", "false"));
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(consuming, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            for (int seen = 0; seen < RECORDS; ) {
                seen += consumer.poll(Duration.ofSeconds(30)).count();
            }
            marks.add(System.nanoTime());
            consumer.commitSync();
            marks.add(System.nanoTime());
        }
        marks.add(System.nanoTime());
        Map<String, Double> seconds = new LinkedHashMap<>();
        for (int step = 0; step < STEPS.length; step++) {
            seconds.put(STEPS[step], (marks.get(step + 1) - marks.get(step)) / 1e9);
        }
        return seconds;
    }
}
