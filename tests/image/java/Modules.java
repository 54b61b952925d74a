import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.testcontainers.kafka.ConfluentKafkaContainer;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts the image (the one argument) by each of Testcontainers' modules, and tells of each in a line of JSON. */
public class Modules {
    private static final int RECORDS = 100;

    public static void main(String[] words) {
        var image = words[0];
        tell("apache", () -> {
            var kafka = new KafkaContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("apache/kafka"));
            try (kafka) {
                kafka.start();
                readBack(kafka.getBootstrapServers());
            }
            return null;
        });
        tell("native", () -> {
            try (var kafka = new KafkaContainer(name(image, "apache/kafka-native"))) {
                kafka.start();
                readBack(kafka.getBootstrapServers());
            }
            return null;
        });
        tell("confluent", () -> {
            try (var kafka = new ConfluentKafkaContainer(name(image, "confluentinc/cp-kafka"))) {
                kafka.start();
                readBack(kafka.getBootstrapServers());
            }
            return null;
        });
    }

    private static DockerImageName name(String image, String expected) {
        return DockerImageName.parse(image).asCompatibleSubstituteFor(expected);
    }

    private static void readBack(String bootstrap) throws Exception {
        var text = new StringSerializer();
        try (var producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", bootstrap), text, text)) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>("orders", String.valueOf(number))).get();
            }
        }
        var settings = Map.<String, Object>of(
            "bootstrap.servers", bootstrap, "group.id", "g", "auto.offset.reset", "earliest");
        var back = new StringDeserializer();
        try (var consumer = new KafkaConsumer<>(settings, back, back)) {
            consumer.subscribe(List.of("orders"));
            for (int read = 0; read < RECORDS; ) {
                read += consumer.poll(Duration.ofSeconds(60)).count();
            }
        }
    }

    private static void tell(String scenario, Callable<Void> run) {
        String error = "";
        try {
            run.call();
        } catch (Exception failed) {
            error = failed.toString().replaceAll("[^ -!#-\\[\\]-~]", " ");
        }
        System.out.println("{\"scenario\": \"" + scenario + "\", \"error\": \"" + error + "\"}");
    }
}
