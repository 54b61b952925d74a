package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.unique;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/** Kafka Streams with exactly-once processing. */
public final class Streaming {
    public static void wordCountExactlyOnceAcrossARestart(Context context) throws Exception {
        String input = context.topic(1);
        String output = context.topic(1);
        String application = unique("streams");
        Path folder = Files.createTempDirectory("odradek-streams");
        context.fill(input, "to be or not", "to be");
        KafkaStreams first = start(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 2L, "be", 2L, "or", 1L, "not", 1L));
        first.close(Duration.ofSeconds(60));
        context.fill(input, "that is", "the question to be");
        KafkaStreams second = start(context, input, output, application, folder);
        awaitCounts(context, output, Map.of("to", 3L, "be", 3L, "or", 1L, "not", 1L, "that", 1L, "is", 1L, "the", 1L, "question", 1L));
        second.close(Duration.ofSeconds(60));
    }

    private static KafkaStreams start(Context context, String input, String output, String application, Path folder) {
        Properties config = new Properties();
        config.putAll(context.config("application.id", application, "processing.guarantee", "exactly_once_v2",
            "state.dir", folder.toString(), "commit.interval.ms", 100, "statestore.cache.max.bytes", 0L,
            "session.timeout.ms", 4000, "heartbeat.interval.ms", 200, "auto.offset.reset", "earliest",
            "replication.factor", 1, "num.stream.threads", 1,
            StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class,
            StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class));
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(input)
            .flatMapValues(line -> List.of(line.split(" ")))
            .groupBy((key, word) -> word)
            .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
            .toStream()
            .to(output, Produced.with(Serdes.String(), Serdes.Long()));
        KafkaStreams streams = context.keep(new KafkaStreams(builder.build(), config));
        streams.start();
        return streams;
    }

    /** Each word's counts must come as 1, 2, 3, ... once each, and end at the expected number. */
    private static void awaitCounts(Context context, String output, Map<String, Long> expected) {
        TopicPartition at = new TopicPartition(output, 0);
        var config = context.config("isolation.level", "read_committed", "fetch.max.wait.ms", 50);
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer())) {
            consumer.assign(List.of(at));
            consumer.seekToBeginning(List.of(at));
            Map<String, Long> counts = new HashMap<>();
            long end = System.nanoTime() + 120_000_000_000L;
            while (!counts.equals(expected)) {
                check(System.nanoTime() < end, "counts are " + counts + ", expected " + expected);
                for (var record : consumer.poll(Duration.ofMillis(50))) {
                    long before = counts.getOrDefault(record.key(), 0L);
                    check(record.value() == before + 1, record.key() + " went from " + before + " to " + record.value());
                    counts.put(record.key(), record.value());
                }
            }
        }
    }
}
