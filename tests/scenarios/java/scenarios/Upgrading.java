package scenarios;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Clients that live through a rolling upgrade of three nodes from 3.6 to 4.4. The bootstrap address is followed by the URL of the broker's
 * control API; the broker has the topic t.
 */
public final class Upgrading {
    private static final int AT_EACH_STEP = 60;

    private Upgrading() {
    }

    private static void post(String url, String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url + path)).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        Context.check(answer.statusCode() == 200, path + ": " + answer.body());
    }

    /** Writes while nodes restart: half of the records of a step are under way when its node does. */
    private static final class Writer {
        private final KafkaProducer<String, String> producer;
        private final List<Future<RecordMetadata>> sent = new ArrayList<>();

        Writer(KafkaProducer<String, String> producer) {
            this.producer = producer;
        }

        void step(Context.Action change) throws Exception {
            AtomicBoolean changed = new AtomicBoolean();
            Thread writing = new Thread(() -> {
                for (int i = 0; i < AT_EACH_STEP || !changed.get(); i++) {
                    synchronized (sent) {
                        sent.add(producer.send(new ProducerRecord<>("t", sent.size() % 3, null, "v" + sent.size())));
                    }
                    producer.flush();
                }
            });
            writing.start();
            change.run();
            changed.set(true);
            writing.join();
        }

        int acknowledged() throws Exception {
            for (Future<RecordMetadata> each : sent) {
                each.get(Context.PATIENCE_S, TimeUnit.SECONDS);
            }
            return sent.size();
        }
    }

    public static void rolling(Context given) throws Exception {
        String[] parts = given.bootstrap.split(" ");
        Context context = new Context(parts[0]);
        try {
            Writer writer = new Writer(context.producer("enable.idempotence", true, "delivery.timeout.ms", 60_000, "retry.backoff.ms", 20));
            KafkaConsumer<String, String> consumer = context.consumer("group.id", "g", "enable.auto.commit", "true", "auto.commit.interval.ms", 50);
            consumer.subscribe(List.of("t"));
            List<String> read = new ArrayList<>(Context.read(consumer, 0).stream().map(ConsumerRecord::value).toList());
            for (int node = 1; node <= 3; node++) {
                String body = "{\"version\": \"4.4\", \"node\": " + node + "}";
                writer.step(() -> post(parts[1], "/v1/upgrade", body));
                read.addAll(Context.read(consumer, writer.acknowledged() - read.size()).stream().map(ConsumerRecord::value).toList());
            }
            var levels = context.admin().describeFeatures().featureMetadata().get().finalizedFeatures();
            Context.equal((short) 14, levels.get("metadata.version").maxVersionLevel());
            var raised = Map.of("metadata.version", new FeatureUpdate((short) 33, FeatureUpdate.UpgradeType.UPGRADE),
                "transaction.version", new FeatureUpdate((short) 2, FeatureUpdate.UpgradeType.UPGRADE),
                "group.version", new FeatureUpdate((short) 1, FeatureUpdate.UpgradeType.UPGRADE));
            writer.step(() -> context.admin().updateFeatures(raised, new UpdateFeaturesOptions()).all().get());
            read.addAll(Context.read(consumer, writer.acknowledged() - read.size()).stream().map(ConsumerRecord::value).toList());
            List<String> written = new ArrayList<>();
            for (int i = 0; i < writer.acknowledged(); i++) {
                written.add("v" + i);
            }
            Context.equal(written.stream().sorted().toList(), read.stream().sorted().toList());
            List<String> stored = new ArrayList<>();
            for (int partition = 0; partition < 3; partition++) {
                stored.addAll(context.values("t", partition, "read_uncommitted"));
            }
            Context.equal(written.stream().sorted().toList(), stored.stream().sorted().toList());
        } finally {
            context.close();
        }
    }
}
