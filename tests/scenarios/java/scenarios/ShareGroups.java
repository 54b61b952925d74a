package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.deadline;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;
import static scenarios.Context.waitUntil;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.SharePartitionOffsetInfo;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Share groups: records handed out one by one to whoever asks. */
public final class ShareGroups {
    /** A group that begins at the start of its topics, with these configs. */
    private static String group(Context context, String... configs) throws Exception {
        String group = unique("share");
        Map<String, String> config = new HashMap<>(Map.of("share.auto.offset.reset", "earliest"));
        for (int i = 0; i < configs.length; i += 2) {
            config.put(configs[i], configs[i + 1]);
        }
        var changes = config.entrySet().stream().map(each -> set(each.getKey(), each.getValue())).toList();
        Map<ConfigResource, Collection<AlterConfigOp>> change = Map.of(new ConfigResource(ConfigResource.Type.GROUP, group), changes);
        context.admin().incrementalAlterConfigs(change).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        return group;
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    private static KafkaShareConsumer<String, String> member(Context context, String group, String topic, Object... config) {
        Map<String, Object> all = context.config("group.id", group, "fetch.max.wait.ms", 50);
        all.putAll(context.config(config));
        var consumer = new KafkaShareConsumer<>(all, new StringDeserializer(), new StringDeserializer());
        context.keep((AutoCloseable) () -> consumer.close(Duration.ZERO));
        consumer.subscribe(List.of(topic));
        return consumer;
    }

    private static KafkaShareConsumer<String, String> explicit(Context context, String group, String topic, Object... config) {
        Object[] all = new Object[config.length + 2];
        System.arraycopy(config, 0, all, 2, config.length);
        all[0] = "share.acknowledgement.mode";
        all[1] = "explicit";
        return member(context, group, topic, all);
    }

    /** Polls until something comes. */
    private static List<ConsumerRecord<String, String>> some(KafkaShareConsumer<String, String> consumer) {
        long end = deadline();
        while (true) {
            List<ConsumerRecord<String, String>> all = new ArrayList<>();
            consumer.poll(Duration.ofMillis(100)).forEach(all::add);
            if (!all.isEmpty()) {
                return all;
            }
            check(System.nanoTime() < end, "no record came");
        }
    }

    private static void nothing(KafkaShareConsumer<String, String> consumer) {
        for (int i = 0; i < 5; i++) {
            check(consumer.poll(Duration.ofMillis(100)).isEmpty(), "a record came");
        }
    }

    /** Offset and delivery count of each record. */
    private static List<String> seen(List<ConsumerRecord<String, String>> records) {
        return records.stream().map(record -> record.offset() + "x" + record.deliveryCount().orElseThrow()).toList();
    }

    private static void committed(KafkaShareConsumer<String, String> consumer) {
        consumer.commitSync().forEach((partition, failure) -> check(failure.isEmpty(), partition + ": " + failure));
    }

    private static SharePartitionOffsetInfo offset(Context context, String group, String topic) throws Exception {
        var asked = Map.of(group, new ListShareGroupOffsetsSpec());
        var all = context.admin().listShareGroupOffsets(asked).partitionsToOffsetInfo(group).get(Context.PATIENCE_S, TimeUnit.SECONDS);
        return all.get(new TopicPartition(topic, 0));
    }

    private static long lag(Context context, String group, String topic) throws Exception {
        return offset(context, group, topic).lag().orElseThrow();
    }

    private static String[] numbers(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toArray(String[]::new);
    }

    public static void acknowledgedByTheNextPoll(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context);
        context.fill(topic, numbers(5));
        var first = member(context, group, topic);
        List<String> values = new ArrayList<>();
        while (values.size() < 5) {
            some(first).forEach(record -> values.add(record.value()));
        }
        equal(List.of(numbers(5)), values);
        nothing(first);
        waitUntil("no lag", () -> lag(context, group, topic) == 0);
        first.close();
        nothing(member(context, group, topic));
    }

    public static void releasedAndRejected(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context);
        context.fill(topic, numbers(4));
        var consumer = explicit(context, group, topic);
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        while (records.size() < 4) {
            var more = some(consumer);
            for (var record : more) {
                consumer.acknowledge(record, switch ((int) record.offset()) {
                    case 1 -> AcknowledgeType.RELEASE;
                    case 2 -> AcknowledgeType.REJECT;
                    default -> AcknowledgeType.ACCEPT;
                });
            }
            records.addAll(more);
            committed(consumer);
        }
        equal(List.of("0x1", "1x1", "2x1", "3x1"), seen(records));
        var again = some(consumer);
        equal(List.of("1x2"), seen(again));
        equal(1L, lag(context, group, topic));
        consumer.acknowledge(again.get(0));
        committed(consumer);
        nothing(consumer);
        equal(0L, lag(context, group, topic));
    }

    public static void explicitMembersMustAcknowledgeBeforeTheyPoll(Context context) throws Exception {
        String topic = context.topic(1);
        context.fill(topic, numbers(1));
        var consumer = explicit(context, group(context), topic);
        var records = some(consumer);
        fails(IllegalStateException.class, () -> consumer.poll(Duration.ofMillis(10)));
        consumer.acknowledge(records.get(0));
        fails(IllegalStateException.class, () -> consumer.acknowledge(topic, 0, 7, AcknowledgeType.ACCEPT));
        committed(consumer);
        nothing(consumer);
    }

    public static void aRecordIsDeliveredUpToItsLimit(Context context) throws Exception {
        String topic = context.topic(1);
        context.fill(topic, "poison", "fine");
        String group = group(context, "share.delivery.count.limit", "3");
        var consumer = explicit(context, group, topic);
        List<String> deliveries = new ArrayList<>();
        long end = deadline();
        while (deliveries.size() < 4) {
            check(System.nanoTime() < end, "only " + deliveries);
            for (var record : consumer.poll(Duration.ofMillis(100))) {
                deliveries.add(record.value() + record.deliveryCount().orElseThrow());
                boolean fine = record.value().equals("fine");
                consumer.acknowledge(record, fine ? AcknowledgeType.ACCEPT : AcknowledgeType.RELEASE);
            }
            committed(consumer);
        }
        equal(Set.of("poison1", "poison2", "poison3", "fine1"), new HashSet<>(deliveries));
        nothing(consumer);
        equal(0L, lag(context, group, topic));
    }

    public static void membersShareAPartition(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context);
        Object[] few = {"max.poll.records", 10, "share.acquire.mode", "record_limit"};
        var members = List.of(member(context, group, topic, few), member(context, group, topic, few), member(context, group, topic, few));
        context.fill(topic, numbers(200));
        Set<String> all = new HashSet<>();
        Set<Integer> served = new HashSet<>();
        long end = deadline();
        while (all.size() < 200 || served.size() < 3) {
            check(System.nanoTime() < end, all.size() + " records of 200, served: " + served);
            if (all.size() == 200) {
                context.fill(topic, IntStream.range(0, 60).mapToObj(n -> unique("more")).toArray(String[]::new));
            }
            for (int i = 0; i < members.size(); i++) {
                for (var record : members.get(i).poll(Duration.ofMillis(50))) {
                    equal((short) 1, record.deliveryCount().orElseThrow());
                    check(all.add(record.value()), record.value() + " came twice");
                    served.add(i);
                }
            }
        }
        check(all.containsAll(List.of(numbers(200))), "records are missing");
    }

    public static void strictLimitOfRecords(Context context) throws Exception {
        String topic = context.topic(1);
        var producer = context.producer("linger.ms", 1000);
        for (String number : numbers(50)) {
            producer.send(new ProducerRecord<>(topic, number));
        }
        producer.flush();
        var consumer = member(context, group(context), topic, "max.poll.records", 7, "share.acquire.mode", "record_limit");
        List<String> values = new ArrayList<>();
        while (values.size() < 50) {
            var records = some(consumer);
            check(records.size() <= 7, records.size() + " records");
            records.forEach(record -> values.add(record.value()));
        }
        equal(List.of(numbers(50)), values);
    }

    public static void whatAMemberLeavesBehindComesAgain(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context);
        context.fill(topic, numbers(3));
        var first = explicit(context, group, topic);
        int held = some(first).size();
        first.close();
        var second = member(context, group, topic);
        List<ConsumerRecord<String, String>> all = new ArrayList<>();
        while (all.size() < 3) {
            all.addAll(some(second));
        }
        long twice = all.stream().filter(record -> record.deliveryCount().orElseThrow() == 2).count();
        check(twice >= held, twice + " of " + held + " came again");
    }

    public static void aRenewedRecordStaysWithItsMember(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context);
        context.fill(topic, numbers(1));
        var consumer = explicit(context, group, topic);
        var record = some(consumer).get(0);
        check(consumer.acquisitionLockTimeoutMs().orElseThrow() == 30_000, "lock timeout " + consumer.acquisitionLockTimeoutMs());
        consumer.acknowledge(record, AcknowledgeType.RENEW);
        committed(consumer);
        var again = some(consumer);
        equal(List.of("0x1"), seen(again));
        consumer.acknowledge(again.get(0), AcknowledgeType.ACCEPT);
        committed(consumer);
        equal(0L, lag(context, group, topic));
    }

    public static void theCallbackHearsOfAcknowledgements(Context context) throws Exception {
        String topic = context.topic(1);
        context.fill(topic, numbers(4));
        var consumer = member(context, group(context), topic);
        Set<Long> told = new HashSet<>();
        consumer.setAcknowledgementCommitCallback((offsets, failure) -> {
            check(failure == null, "failed: " + failure);
            offsets.values().forEach(told::addAll);
        });
        long end = deadline();
        while (told.size() < 4) {
            consumer.poll(Duration.ofMillis(50));
            check(System.nanoTime() < end, "only " + told);
        }
        equal(Set.of(0L, 1L, 2L, 3L), told);
    }

    public static void readCommittedSkipsWhatWasAborted(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context, "share.isolation.level", "read_committed");
        var producer = context.producer("transactional.id", unique("t"));
        producer.initTransactions();
        for (String outcome : List.of("aborted", "committed", "aborted", "committed")) {
            producer.beginTransaction();
            for (int i = 0; i < 3; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, outcome + i));
            }
            if (outcome.equals("committed")) {
                producer.commitTransaction();
            } else {
                producer.flush();
                producer.abortTransaction();
            }
        }
        var consumer = member(context, group, topic);
        List<String> values = new ArrayList<>();
        while (values.size() < 6) {
            some(consumer).forEach(record -> values.add(record.value()));
        }
        equal(List.of("committed0", "committed1", "committed2", "committed0", "committed1", "committed2"), values);
        committed(consumer);
        nothing(consumer);
    }

    public static void latestSkipsWhatWasThere(Context context) throws Exception {
        String topic = context.topic(1);
        String group = group(context, "share.auto.offset.reset", "latest");
        context.fill(topic, "old");
        var consumer = member(context, group, topic);
        long end = deadline();
        List<String> values = new ArrayList<>();
        while (values.isEmpty()) {
            context.fill(topic, "new");
            consumer.poll(Duration.ofMillis(100)).forEach(record -> values.add(record.value()));
            check(System.nanoTime() < end, "no record came");
        }
        check(!values.contains("old"), "came: " + values);
    }

    public static void assignmentsOfThreePartitions(Context context) throws Exception {
        String topic = context.topic(3);
        String group = group(context);
        var members = List.of(member(context, group, topic), member(context, group, topic));
        waitUntil("everything is assigned", () -> {
            members.forEach(each -> each.poll(Duration.ofMillis(50)));
            if (context.admin().listGroups().all().get().stream().noneMatch(each -> each.groupId().equals(group))) {
                return false;
            }
            var described = context.admin().describeShareGroups(List.of(group)).describedGroups().get(group).get();
            Set<TopicPartition> all = new HashSet<>();
            described.members().forEach(each -> all.addAll(each.assignment().topicPartitions()));
            return described.groupState() == GroupState.STABLE && described.members().size() == 2 && all.size() == 3
                && described.members().stream().noneMatch(each -> each.assignment().topicPartitions().isEmpty());
        });
    }

    public static void administration(Context context) throws Exception {
        var admin = context.admin();
        String topic = context.topic(1);
        String group = group(context);
        context.fill(topic, numbers(6));
        var consumer = explicit(context, group, topic);
        some(consumer).forEach(consumer::acknowledge);
        committed(consumer);
        var shares = ListGroupsOptions.forShareGroups();
        check(admin.listGroups(shares).all().get().stream().anyMatch(each -> each.groupId().equals(group)), "not listed");
        var described = admin.describeShareGroups(List.of(group)).describedGroups().get(group).get();
        equal(GroupState.STABLE, described.groupState());
        equal(1, described.members().size());
        var everything = admin.listGroups().all().get().stream().filter(each -> each.groupId().equals(group)).findFirst().orElseThrow();
        equal(GroupType.SHARE, everything.type().orElseThrow());
        var zero = new TopicPartition(topic, 0);
        fails(GroupNotEmptyException.class, admin.alterShareGroupOffsets(group, Map.of(zero, 2L)).all());
        fails(GroupNotEmptyException.class, admin.deleteShareGroups(List.of(group)).all());
        consumer.close();
        waitUntil("nobody is left", () -> admin.describeShareGroups(List.of(group)).describedGroups().get(group).get().members().isEmpty());
        admin.alterShareGroupOffsets(group, Map.of(zero, 2L)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(2L, offset(context, group, topic).startOffset());
        equal(4L, offset(context, group, topic).lag().orElseThrow());
        var next = explicit(context, group, topic);
        equal(2L, some(next).get(0).offset());
        next.close();
        waitUntil("nobody is left", () -> admin.describeShareGroups(List.of(group)).describedGroups().get(group).get().members().isEmpty());
        admin.deleteShareGroupOffsets(group, Set.of(topic)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        check(offset(context, group, topic) == null, "offset is left");
        admin.deleteShareGroups(List.of(group)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        fails(GroupIdNotFoundException.class, admin.deleteShareGroups(List.of(group)).all());
    }
}
