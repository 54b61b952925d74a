package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.read;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.record.TimestampType;

/** Producing and consuming without groups. */
public final class Data {
    private static final int HOUR_MS = 3_600_000;

    public static void eachCodec(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        List<String> sent = new ArrayList<>();
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            try (var producer = context.producer("compression.type", codec, "linger.ms", 20)) {
                for (int i = 0; i < 100; i++) {
                    sent.add(codec + " " + i + " ".repeat(300));
                    producer.send(new ProducerRecord<>(topic, 0, null, sent.get(sent.size() - 1)));
                }
            }
        }
        var consumer = context.consumer();
        consumer.assign(List.of(at));
        var seen = read(consumer, sent.size());
        for (int i = 0; i < sent.size(); i++) {
            equal((long) i, seen.get(i).offset());
            equal(sent.get(i), seen.get(i).value());
        }
    }

    public static void headersTimestampsAndTombstones(Context context) throws Exception {
        String topic = context.topic(1);
        long time = System.currentTimeMillis() - HOUR_MS;
        try (var producer = context.producer()) {
            var record = new ProducerRecord<>(topic, 0, time, "key", (String) null);
            record.headers().add("a", "1".getBytes(StandardCharsets.UTF_8)).add("a", new byte[0]).add("null", null);
            RecordMetadata placed = producer.send(record).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            equal(0L, placed.offset());
            equal(time, placed.timestamp());
        }
        var consumer = context.consumer();
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        var seen = read(consumer, 1).get(0);
        equal("key", seen.key());
        equal(null, seen.value());
        equal(time, seen.timestamp());
        equal(TimestampType.CREATE_TIME, seen.timestampType());
        var headers = seen.headers().toArray();
        equal(List.of("a", "a", "null"), List.of(headers[0].key(), headers[1].key(), headers[2].key()));
        equal(0, headers[1].value().length);
        equal(null, headers[2].value());
        equal(0, seen.leaderEpoch().get());
    }

    public static void logAppendTime(Context context) throws Exception {
        String topic = context.topic(1, "message.timestamp.type", "LogAppendTime");
        long before = System.currentTimeMillis();
        long placed;
        try (var producer = context.producer("compression.type", "zstd")) {
            placed = producer.send(new ProducerRecord<>(topic, 0, 1234L, null, "x")).get(Context.PATIENCE_S, TimeUnit.SECONDS).timestamp();
        }
        check(placed >= before, "the answer carries the append time");
        var consumer = context.consumer();
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        var seen = read(consumer, 1).get(0);
        equal(placed, seen.timestamp());
        equal(TimestampType.LOG_APPEND_TIME, seen.timestampType());
    }

    public static void assignSeekAndPause(Context context) throws Exception {
        String topic = context.topic(2);
        TopicPartition first = new TopicPartition(topic, 0);
        TopicPartition second = new TopicPartition(topic, 1);
        try (var producer = context.producer("linger.ms", 10)) {
            for (int i = 0; i < 50; i++) {
                producer.send(new ProducerRecord<>(topic, i % 2, null, "" + i));
            }
        }
        var consumer = context.consumer("max.poll.records", 5);
        consumer.assign(List.of(first, second));
        consumer.pause(List.of(second));
        equal(25, read(consumer, 25).stream().filter(record -> record.partition() == 0).toList().size());
        consumer.resume(List.of(second));
        equal(25, read(consumer, 25).stream().filter(record -> record.partition() == 1).toList().size());
        consumer.seek(first, 24);
        equal("48", read(consumer, 1).get(0).value());
        consumer.seekToBeginning(List.of(first));
        equal(0L, consumer.position(first));
        consumer.seekToEnd(List.of(second));
        equal(25L, consumer.position(second));
        equal(Map.of(first, 0L, second, 0L), consumer.beginningOffsets(List.of(first, second)));
        equal(Map.of(first, 25L, second, 25L), consumer.endOffsets(List.of(first, second)));
    }

    public static void offsetsForTimes(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        long start = System.currentTimeMillis() - HOUR_MS;
        try (var producer = context.producer("linger.ms", 50, "compression.type", "gzip")) {
            for (int i = 0; i < 300; i++) {
                producer.send(new ProducerRecord<>(topic, 0, start + i * 10, null, "v" + i));
            }
        }
        var consumer = context.consumer();
        for (int i : List.of(0, 1, 100, 299)) {
            var found = consumer.offsetsForTimes(Map.of(at, start + i * 10 - 5)).get(at);
            equal((long) i, found.offset());
            equal(start + i * 10, found.timestamp());
        }
        equal(null, consumer.offsetsForTimes(Map.of(at, start + 3000)).get(at));
    }

    public static void readingPastTheEndResetsOrFails(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        context.fill(topic, "a", "b");
        var strict = context.consumer("auto.offset.reset", "none");
        strict.assign(List.of(at));
        strict.seek(at, 17);
        var failure = fails(OffsetOutOfRangeException.class, () -> {
            for (int i = 0; i < 600; i++) {
                strict.poll(Duration.ofMillis(100));
            }
        });
        equal(Map.of(at, 17L), failure.offsetOutOfRangePartitions());
        var lenient = context.consumer();
        lenient.assign(List.of(at));
        lenient.seek(at, 17);
        equal("a", read(lenient, 2).get(0).value());
    }

    public static void idempotentProducerWithManyInFlight(Context context) throws Exception {
        String topic = context.topic(2);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (var producer = context.producer("enable.idempotence", true, "max.in.flight.requests.per.connection", 5, "batch.size", 200)) {
            for (int i = 0; i < 1000; i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, i % 2, null, "" + i)));
            }
            for (int i = 0; i < 1000; i++) {
                equal((long) (i / 2), sent.get(i).get(Context.PATIENCE_S, TimeUnit.SECONDS).offset());
            }
        }
        equal(500, context.values(topic, 0, "read_uncommitted").size());
        equal(500, context.values(topic, 1, "read_committed").size());
    }

    public static void refusedRecords(Context context) throws Exception {
        String compacted = context.topic(1, "cleanup.policy", "compact");
        String small = context.topic(1, "max.message.bytes", "1000");
        String timely = context.topic(1, "message.timestamp.after.max.ms", "1000", "message.timestamp.before.max.ms", "100000");
        try (var producer = context.producer("retries", 0)) {
            var keyless = fails(InvalidRecordException.class, producer.send(new ProducerRecord<>(compacted, "no key")));
            check(keyless.getMessage().contains("Compacted topic cannot accept message without key"), keyless.getMessage());
            fails(RecordTooLargeException.class, producer.send(new ProducerRecord<>(small, "x".repeat(2000))));
            long now = System.currentTimeMillis();
            fails(InvalidTimestampException.class, producer.send(new ProducerRecord<>(timely, 0, now + HOUR_MS, null, "x")));
            fails(InvalidTimestampException.class, producer.send(new ProducerRecord<>(timely, 0, now - HOUR_MS, null, "x")));
            equal(0L, producer.send(new ProducerRecord<>(timely, 0, now, null, "x")).get(Context.PATIENCE_S, TimeUnit.SECONDS).offset());
        }
    }

    public static void recordsLargerThanTheFetchLimits(Context context) throws Exception {
        String topic = context.topic(2);
        try (var producer = context.producer()) {
            for (int i = 0; i < 6; i++) {
                producer.send(new ProducerRecord<>(topic, i % 2, null, i + "x".repeat(100_000))).get(Context.PATIENCE_S, TimeUnit.SECONDS);
            }
        }
        var consumer = context.consumer("fetch.max.bytes", 50_000, "max.partition.fetch.bytes", 10_000);
        consumer.assign(List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1)));
        equal(6, read(consumer, 6).size());
    }

    public static void longPollWakesOnArrival(Context context) throws Exception {
        String topic = context.topic(1);
        var consumer = context.consumer("fetch.max.wait.ms", 200_000, "request.timeout.ms", 300_000, "fetch.min.bytes", 1);
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        consumer.poll(Duration.ofMillis(200));
        context.fill(topic, "now");
        equal("now", read(consumer, 1).get(0).value());  // which does not wait as long as the fetch would
    }
}
