import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.avro.AvroSchema;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.SchemaRegistryClient;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaReference;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroSerializationSchema;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Confluent's client of a schema registry, and Flink's Avro serializers, which use it: one JSON line for each scenario.
 *
 * <p>Registry HOST:PORT URL
 */
public final class Registry {
    private static final String FIRST =
            "{\"type\":\"record\",\"name\":\"Order\",\"fields\":[{\"name\":\"number\",\"type\":\"int\"}]}";
    private static final String SECOND =
            "{\"type\":\"record\",\"name\":\"Order\",\"fields\":[{\"name\":\"number\",\"type\":\"int\"},"
                    + "{\"name\":\"note\",\"type\":\"string\",\"default\":\"none\"}]}";
    private static final String OTHER = FIRST.replace("int", "string");

    private static String bootstrap;
    private static String url;

    interface Scenario {
        void run() throws Exception;
    }

    public static void main(String[] args) {
        bootstrap = args[0];
        url = args[1];
        report("everyCall", Registry::everyCall);
        report("errorsHaveTheirCodes", Registry::errorsHaveTheirCodes);
        report("references", Registry::references);
        report("recordsThereAndBack", Registry::recordsThereAndBack);
    }

    private static void report(String name, Scenario scenario) {
        String error = "";
        try {
            scenario.run();
        } catch (Throwable failure) {
            error = failure.toString();
        }
        String text = error.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s", " ");
        System.out.println("{\"scenario\": \"" + name + "\", \"error\": \"" + text + "\"}");
    }

    private static void want(String what, Object found, Object expected) {
        if (!Objects.equals(found, expected)) {
            throw new AssertionError(what + ": " + found + ", not " + expected);
        }
    }

    private static SchemaRegistryClient client() {
        return new CachedSchemaRegistryClient(url, 100);
    }

    private static void everyCall() throws Exception {
        SchemaRegistryClient client = client();
        int id = client.register("java", new AvroSchema(FIRST));
        want("id", client.getId("java", new AvroSchema(FIRST)), id);
        want("version", client.getVersion("java", new AvroSchema(FIRST)), 1);
        want("compatible", client.testCompatibility("java", new AvroSchema(SECOND)), true);
        want("incompatible", client.testCompatibilityVerbose("java", new AvroSchema(OTHER)).isEmpty(), false);
        client.register("java", new AvroSchema(SECOND));
        want("versions", client.getAllVersions("java"), List.of(1, 2));
        want("latest", client.getLatestSchemaMetadata("java").getVersion(), 2);
        want("by id", client().getSchemaById(id).canonicalString(), FIRST);
        want("subjects of id", List.copyOf(client.getAllSubjectsById(id)), List.of("java"));
        want("level", client.updateCompatibility("java", "FULL"), "FULL");
        want("level", client.getCompatibility("java"), "FULL");
        want("mode", client.setMode("READONLY", "java"), "READONLY");
        want("mode", client.getMode("java"), "READONLY");
        client.deleteMode("java");
        want("one deleted", client.deleteSchemaVersion(Map.of(), "java", "1", false), 1);
        want("deleted", client.deleteSubject("java", false), List.of(2));
        want("deleted for good", client.deleteSubject("java", true), List.of(1, 2));
        want("subjects", client.getAllSubjects().contains("java"), false);
    }

    private static void errorsHaveTheirCodes() throws Exception {
        SchemaRegistryClient client = client();
        client.register("errors", new AvroSchema(FIRST));
        want("incompatible", code(() -> client.register("errors", new AvroSchema(OTHER))), 40901);
        want("no such id", code(() -> client().getSchemaById(99_999)), 40403);
        want("no such subject", code(() -> client.getAllVersions("nothing")), 40401);
        want("no such version", code(() -> client.getSchemaMetadata("errors", 9)), 40402);
        want("no such level", code(() -> client.updateCompatibility("errors", "SIDEWARD")), 42203);
    }

    private static int code(Scenario scenario) throws Exception {
        try {
            scenario.run();
        } catch (RestClientException refused) {
            return refused.getErrorCode();
        }
        return 0;
    }

    private static void references() throws IOException, RestClientException {
        SchemaRegistryClient client = client();
        client.register("order", new AvroSchema(FIRST));
        String cart = "{\"type\":\"record\",\"name\":\"Cart\",\"fields\":[{\"name\":\"order\",\"type\":\"Order\"}]}";
        List<SchemaReference> needed = List.of(new SchemaReference("Order", "order", 1));
        int id = client.register("cart", new AvroSchema(cart, needed, Map.of("Order", FIRST), null));
        AvroSchema found = (AvroSchema) client().getSchemaById(id);
        want("references", found.references(), needed);
        want("resolved", found.rawSchema().getField("order").schema().getFullName(), "Order");
    }

    private static void recordsThereAndBack() throws Exception {
        Schema first = new Schema.Parser().parse(FIRST);
        Schema second = new Schema.Parser().parse(SECOND);
        GenericRecord order = new GenericData.Record(first);
        order.put("number", 7);
        byte[] value = ConfluentRegistryAvroSerializationSchema.forGeneric("orders-value", first, url).serialize(order);
        Map<String, Object> config = Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class,
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            producer.send(new ProducerRecord<>("orders", value)).get();
        }
        GenericRecord back = ConfluentRegistryAvroDeserializationSchema.forGeneric(second, url).deserialize(consumed());
        want("number", back.get("number"), 7);
        want("note", String.valueOf(back.get("note")), "none");
    }

    private static byte[] consumed() {
        Map<String, Object> config = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class,
                ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
            consumer.assign(Collections.singleton(new TopicPartition("orders", 0)));
            List<byte[]> found = new ArrayList<>();
            while (found.isEmpty()) {
                for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofSeconds(1))) {
                    found.add(each.value());
                }
            }
            return found.get(0);
        }
    }
}
