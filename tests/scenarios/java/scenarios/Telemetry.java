package scenarios;

import static scenarios.Context.read;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;

/** Client metrics (KIP-714), on a broker that has somebody to give them to. */
public final class Telemetry {
    /**
     * A producer and a consumer work, until the topic "pushed" has a record. The topic "ids" is told their client instance
     * ids, in this order.
     */
    public static void clientsPush(Context context) throws Exception {
        var subscription = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "scenario");
        context.admin().incrementalAlterConfigs(Map.of(subscription, List.of(
            new AlterConfigOp(new ConfigEntry("metrics", "*"), AlterConfigOp.OpType.SET),
            new AlterConfigOp(new ConfigEntry("interval.ms", "100"), AlterConfigOp.OpType.SET))))
            .all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        context.topicNamed("ids", 1);
        context.topicNamed("pushed", 1);
        String topic = context.topic(1);
        var producer = context.producer("client.id", "java-producer");
        for (int i = 0; i < 10; i++) {
            producer.send(new ProducerRecord<>(topic, 0, null, "value " + i)).get(Context.PATIENCE_S, TimeUnit.SECONDS);
        }
        var consumer = context.consumer("client.id", "java-consumer", "group.id", Context.unique("group"));
        consumer.subscribe(List.of(topic));
        read(consumer, 10);
        Uuid producerId = producer.clientInstanceId(Duration.ofSeconds(Context.PATIENCE_S));
        Uuid consumerId = consumer.clientInstanceId(Duration.ofSeconds(Context.PATIENCE_S));
        context.fill("ids", producerId.toString(), consumerId.toString());
        consumer.unsubscribe();
        consumer.assign(List.of(new TopicPartition("pushed", 0)));
        read(consumer, 1);
        consumer.close();
        producer.close();
    }
}
