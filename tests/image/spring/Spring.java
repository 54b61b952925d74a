import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts the image (the one argument) as a bean of Spring Boot, and tells in a line of JSON whether Spring's clients use it. */
@Configuration
@EnableAutoConfiguration
public class Spring {
    static String image;

    @SuppressWarnings("unchecked")
    public static void main(String[] words) {
        image = words[0];
        System.setProperty("spring.main.banner-mode", "off");
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        String error = "";
        try (var context = SpringApplication.from(Spring::start).with(Kafka.class).run().getApplicationContext()) {
            context.getBean(KafkaTemplate.class).send("orders", "1").get();
            var settings = Map.<String, Object>of("group.id", "g", "auto.offset.reset", "earliest");
            var factory = context.getBean(ConsumerFactory.class);
            factory.updateConfigs(settings);
            try (var consumer = factory.createConsumer()) {
                consumer.subscribe(List.of("orders"));
                while (consumer.poll(Duration.ofSeconds(60)).isEmpty()) { }
            }
        } catch (Exception failed) {
            error = failed.toString().replaceAll("[^ -!#-\\[\\]-~]", " ");
        }
        System.out.println("{\"scenario\": \"spring\", \"error\": \"" + error + "\"}");
    }

    private static void start(String[] words) {
        SpringApplication.run(Spring.class, words);
    }
}

@TestConfiguration(proxyBeanMethods = false)
class Kafka {
    @Bean
    @ServiceConnection
    KafkaContainer broker() {
        return new KafkaContainer(DockerImageName.parse(Spring.image).asCompatibleSubstituteFor("apache/kafka"));
    }
}
