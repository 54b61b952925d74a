package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;

/** Transactional producers, what readers see of them, and their administration. */
public final class Transactions {
    private static KafkaProducer<String, String> begin(Context context, String id, Object... more) {
        Object[] config = new Object[more.length + 2];
        config[0] = "transactional.id";
        config[1] = id;
        System.arraycopy(more, 0, config, 2, more.length);
        var producer = context.producer(config);
        producer.initTransactions();
        return producer;
    }

    private static void send(KafkaProducer<String, String> producer, String topic, String... values) throws Exception {
        for (String value : values) {
            producer.send(new ProducerRecord<>(topic, 0, null, value)).get(Context.PATIENCE_S, TimeUnit.SECONDS);
        }
    }

    private static long lastStable(Context context, TopicPartition at) throws Exception {
        var options = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        return context.admin().listOffsets(Map.of(at, OffsetSpec.latest()), options).partitionResult(at).get(Context.PATIENCE_S, TimeUnit.SECONDS).offset();
    }

    public static void committedAndAborted(Context context) throws Exception {
        String topic = context.topic(2);
        TopicPartition at = new TopicPartition(topic, 0);
        var producer = begin(context, unique("txn"));
        producer.beginTransaction();
        send(producer, topic, "a", "b");
        equal(List.of("a", "b"), context.values(topic, 0, "read_uncommitted"));
        equal(List.of(), context.values(topic, 0, "read_committed"));
        equal(0L, lastStable(context, at));
        producer.commitTransaction();
        Context.waitUntil("stable", () -> lastStable(context, at) == 3);
        equal(List.of("a", "b"), context.values(topic, 0, "read_committed"));
        producer.beginTransaction();
        send(producer, topic, "c");
        producer.abortTransaction();
        producer.beginTransaction();
        send(producer, topic, "d");
        producer.send(new ProducerRecord<>(topic, 1, null, "other partition"));
        producer.commitTransaction();
        context.fill(topic, "plain");
        Context.waitUntil("stable", () -> lastStable(context, at) == 8);
        equal(List.of("a", "b", "c", "d", "plain"), context.values(topic, 0, "read_uncommitted"));
        equal(List.of("a", "b", "d", "plain"), context.values(topic, 0, "read_committed"));
        Context.waitUntil("stable", () -> lastStable(context, new TopicPartition(topic, 1)) == 2);
        equal(List.of("other partition"), context.values(topic, 1, "read_committed"));
        equal(8L, Administration.offset(context, at, OffsetSpec.latest()));
    }

    public static void readersStopAtTheFirstOpenTransaction(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        var first = begin(context, unique("txn"));
        var second = begin(context, unique("txn"));
        first.beginTransaction();
        second.beginTransaction();
        send(first, topic, "1a");
        send(second, topic, "2a");
        second.commitTransaction();
        context.fill(topic, "plain");
        equal(0L, lastStable(context, at));
        equal(List.of(), context.values(topic, 0, "read_committed"));
        send(first, topic, "1b");
        first.abortTransaction();
        Context.waitUntil("stable", () -> lastStable(context, at) == 6);
        equal(List.of("2a", "plain"), context.values(topic, 0, "read_committed"));
    }

    public static void aSecondProducerFencesTheFirst(Context context) throws Exception {
        String topic = context.topic(1);
        String id = unique("txn");
        var first = begin(context, id);
        first.beginTransaction();
        send(first, topic, "lost");
        var second = begin(context, id);
        second.beginTransaction();
        send(second, topic, "kept");
        fails(KafkaException.class, () -> {
            try {
                send(first, topic, "late");
                first.commitTransaction();
            } catch (Exception refused) {
                boolean fenced = false;
                for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
                    fenced |= cause instanceof ProducerFencedException || cause instanceof InvalidProducerEpochException;
                }
                check(fenced, "fenced, not " + refused);
                throw refused;
            }
        });
        second.commitTransaction();
        Context.waitUntil("stable", () -> context.values(topic, 0, "read_committed").equals(List.of("kept")));
    }

    public static void aFencedProducerThatGoesOnDoesNotHoldUpItsSuccessor(Context context) throws Exception {
        String topic = context.topic(1);
        String id = unique("txn");
        var old = begin(context, id);
        old.beginTransaction();
        var next = begin(context, id);
        next.beginTransaction();
        send(next, topic, "new-0");
        fails(Exception.class, () -> send(old, topic, "old-0"));
        send(next, topic, "new-1", "new-2");
        next.commitTransaction();
        var all = List.of("new-0", "new-1", "new-2");
        Context.waitUntil("stable", () -> context.values(topic, 0, "read_committed").equals(all));
    }

    public static void aTransactionTimesOut(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        var producer = begin(context, unique("txn"), "transaction.timeout.ms", 3000);
        producer.beginTransaction();
        send(producer, topic, "late");
        Context.waitUntil("aborted by the broker", () -> lastStable(context, at) == 2);
        equal(List.of(), context.values(topic, 0, "read_committed"));
        fails(KafkaException.class, producer::commitTransaction);
        var refused = fails(KafkaException.class, () -> begin(context, unique("txn"), "transaction.timeout.ms", 1_000_000_000));
        check(refused.getMessage().contains("larger than the maximum value allowed by the broker"), refused.getMessage());
    }

    /** One step of copying: reads what the group has not yet had, and writes it with the offsets in one transaction. */
    private static int copy(Context context, String source, String target, String group, String id, String killedAt) throws Exception {
        var consumer = context.consumer("group.id", group, "isolation.level", "read_committed", "max.poll.records", 3);
        TopicPartition at = new TopicPartition(source, 0);
        consumer.subscribe(List.of(source));
        var producer = begin(context, id);
        int copied = 0;
        long end = Context.deadline();
        while (consumer.assignment().isEmpty() || consumer.position(at) < 9) {
            check(System.nanoTime() < end, "stuck");
            var records = consumer.poll(Duration.ofMillis(50));
            if (records.isEmpty()) {
                continue;
            }
            if (killedAt.equals("polled")) {
                return end(consumer, producer, copied);
            }
            producer.beginTransaction();
            for (var record : records) {
                producer.send(new ProducerRecord<>(target, 0, null, record.value().toUpperCase()));
            }
            producer.flush();
            if (killedAt.equals("produced")) {
                return end(consumer, producer, copied);
            }
            producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(consumer.position(at))), consumer.groupMetadata());
            if (killedAt.equals("offsets")) {
                return end(consumer, producer, copied);
            }
            producer.commitTransaction();
            copied += records.count();
            if (killedAt.equals("committed")) {
                return end(consumer, producer, copied);
            }
        }
        return end(consumer, producer, copied);
    }

    private static int end(KafkaConsumer<String, String> consumer, KafkaProducer<String, String> producer, int copied) {
        producer.close(Duration.ZERO);
        consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(Context.PATIENCE_S)));
        return copied;
    }

    public static void copyingIsExactlyOnceWhateverStepItDiesAt(Context context) throws Exception {
        String source = context.topic(1);
        String target = context.topic(1);
        String group = unique("g");
        String id = unique("txn");
        context.fill(source, "a", "b", "c", "d", "e", "f", "g", "h", "i");
        for (String step : List.of("polled", "produced", "offsets", "committed", "produced", "")) {
            copy(context, source, target, group, id, step);
        }
        Context.waitUntil("all there once", () ->
            context.values(target, 0, "read_committed").equals(List.of("A", "B", "C", "D", "E", "F", "G", "H", "I")));
    }

    public static void offsetsCountWhenTheTransactionCommits(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        String group = unique("g");
        var producer = begin(context, unique("txn"));
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(5, "in")), new ConsumerGroupMetadata(group));
        equal(null, committed(context, group, at, false));
        producer.commitTransaction();
        awaitCommitted(context, group, at, 5);
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(9)), new ConsumerGroupMetadata(group));
        equal(5L, committed(context, group, at, false));
        producer.abortTransaction();
        awaitCommitted(context, group, at, 5);
        producer.beginTransaction();
        var stale = new ConsumerGroupMetadata(group, 17, "nobody", java.util.Optional.empty());
        fails(CommitFailedException.class, () -> {
            producer.sendOffsetsToTransaction(Map.of(at, new OffsetAndMetadata(11)), stale);
            producer.commitTransaction();
        });
        producer.abortTransaction();
        awaitCommitted(context, group, at, 5);
    }

    /** The admin client leaves an offset out while the end of its transaction is under way. */
    private static void awaitCommitted(Context context, String group, TopicPartition at, long offset) throws Exception {
        Context.waitUntil("committed " + offset, () -> Long.valueOf(offset).equals(committed(context, group, at, true)));
    }

    private static Long committed(Context context, String group, TopicPartition at, boolean stable) throws Exception {
        var options = new ListConsumerGroupOffsetsOptions().requireStable(stable);
        var found = context.admin().listConsumerGroupOffsets(group, options).partitionsToOffsetAndMetadata().get(Context.PATIENCE_S, TimeUnit.SECONDS).get(at);
        return found == null ? null : found.offset();
    }

    public static void describedListedAndAbortedByTheAdmin(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        String id = unique("txn");
        fails(TransactionalIdNotFoundException.class, context.admin().describeTransactions(List.of(id)).description(id));
        var producer = begin(context, id);
        equal(TransactionState.EMPTY, describe(context, id).state());
        producer.beginTransaction();
        send(producer, topic, "x");
        var described = describe(context, id);
        equal(TransactionState.ONGOING, described.state());
        equal(Set.of(at), described.topicPartitions());
        equal(60_000L, described.transactionTimeoutMs());
        check(described.transactionStartTimeMs().isPresent(), "has a start");
        check(listed(context, new ListTransactionsOptions()).contains(id), "listed");
        check(listed(context, new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING))).contains(id), "as ongoing");
        check(!listed(context, new ListTransactionsOptions().filterStates(Set.of(TransactionState.EMPTY))).contains(id), "not as empty");
        check(!listed(context, new ListTransactionsOptions().filterProducerIds(Set.of(987654321L))).contains(id), "not by another producer");
        check(!listed(context, new ListTransactionsOptions().filterOnDuration(3_600_000)).contains(id), "not an hour old");
        equal(List.of(id), listed(context, new ListTransactionsOptions().filterOnTransactionalIdPattern(id + ".*")));
        var state = context.admin().describeProducers(List.of(at)).partitionResult(at).get(Context.PATIENCE_S, TimeUnit.SECONDS).activeProducers().get(0);
        equal(0L, state.currentTransactionStartOffset().getAsLong());
        equal(described.producerId(), state.producerId());
        context.admin().abortTransaction(new AbortTransactionSpec(at, state.producerId(), (short) state.producerEpoch(),
            state.coordinatorEpoch().orElse(0))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(2L, lastStable(context, at));
        equal(List.of(), context.values(topic, 0, "read_committed"));
    }

    private static org.apache.kafka.clients.admin.TransactionDescription describe(Context context, String id) throws Exception {
        return context.admin().describeTransactions(List.of(id)).description(id).get(Context.PATIENCE_S, TimeUnit.SECONDS);
    }

    private static List<String> listed(Context context, ListTransactionsOptions options) throws Exception {
        return context.admin().listTransactions(options).all().get(Context.PATIENCE_S, TimeUnit.SECONDS).stream().map(each -> each.transactionalId()).toList();
    }

    public static void fencedByTheAdmin(Context context) throws Exception {
        String topic = context.topic(1);
        String id = unique("txn");
        var producer = begin(context, id);
        producer.beginTransaction();
        send(producer, topic, "x");
        context.admin().fenceProducers(List.of(id)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        fails(KafkaException.class, producer::commitTransaction);
        Context.waitUntil("aborted", () -> lastStable(context, new TopicPartition(topic, 0)) == 2);
        equal(List.of(), context.values(topic, 0, "read_committed"));
    }

    public static void manyTransactionsOneAfterAnother(Context context) throws Exception {
        String topic = context.topic(3);
        var producer = begin(context, unique("txn"));
        List<String> kept = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, i % 3, null, "v" + i));
            if (i % 4 == 3) {
                producer.abortTransaction();
            } else {
                producer.commitTransaction();
                kept.add("v" + i);
            }
        }
        Context.waitUntil("all ended", () -> {
            List<String> all = new ArrayList<>();
            for (int p = 0; p < 3; p++) {
                all.addAll(context.values(topic, p, "read_committed"));
            }
            return all.size() == kept.size() && all.containsAll(kept);
        });
    }
}
