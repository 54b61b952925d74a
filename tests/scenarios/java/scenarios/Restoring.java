package scenarios;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Clients that live through a restore, a reset and a fork. The bootstrap address is followed by the URL of the broker's control API; the
 * broker has the topic t with one partition.
 */
public final class Restoring {
    private static final Pattern ID = Pattern.compile("\"id\": ?\"([^\"]+)\"");

    private Restoring() {
    }

    /** Two clients, and the control API. */
    private static final class Lab implements AutoCloseable {
        final Context context;
        final KafkaProducer<String, String> producer;
        final KafkaConsumer<String, String> consumer;
        private final String url;
        private final HttpClient http = HttpClient.newHttpClient();

        Lab(Context given) {
            String[] parts = given.bootstrap.split(" ");
            context = new Context(parts[0]);
            url = parts[1];
            producer = context.producer("enable.idempotence", true, "delivery.timeout.ms", 60_000);
            consumer = context.consumer("group.id", "g", "auto.commit.interval.ms", 50, "enable.auto.commit", "true", "reconnect.backoff.max.ms", 100);
            consumer.subscribe(List.of("t"));
        }

        String post(String path, String body) throws Exception {
            var request = HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
            var answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            Context.check(answer.statusCode() == 200, path + ": " + answer.body());
            return answer.body();
        }

        String snapshot() throws Exception {
            Matcher id = ID.matcher(post("/v1/snapshot", "{}"));
            Context.check(id.find(), "a snapshot without an id");
            return id.group(1);
        }

        void write(String... values) throws Exception {
            for (String value : values) {
                producer.send(new ProducerRecord<>("t", value)).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            }
        }

        void reads(String... values) {
            Context.equal(List.of(values), Context.read(consumer, values.length).stream().map(ConsumerRecord::value).toList());
        }

        @Override
        public void close() {
            context.close();
        }
    }

    public static void restore(Context context) throws Exception {
        try (Lab lab = new Lab(context)) {
            lab.write("1", "2", "3");
            lab.reads("1", "2", "3");
            lab.consumer.commitSync();
            String before = lab.snapshot();
            lab.write("lost 1", "lost 2", "lost 3", "lost 4", "lost 5");
            lab.reads("lost 1", "lost 2", "lost 3", "lost 4", "lost 5");
            for (String value : List.of("again", "once more")) {
                lab.post("/v1/restore", "{\"snapshot\": \"" + before + "\"}");
                lab.write(value);
                lab.reads(value);
                Context.equal(List.of("1", "2", "3", value), lab.context.values("t", 0, "read_uncommitted"));
            }
        }
    }

    public static void reset(Context context) throws Exception {
        try (Lab lab = new Lab(context)) {
            lab.write("1", "2", "3");
            lab.reads("1", "2", "3");
            for (String value : List.of("again", "once more")) {
                lab.post("/v1/reset", "{}");
                lab.write(value);
                lab.reads(value);
                Context.equal(List.of(value), lab.context.values("t", 0, "read_uncommitted"));
            }
        }
    }
}
