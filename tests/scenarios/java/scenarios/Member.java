package scenarios;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** A consumer of a group that polls on a thread of its own; what it owns and what happened to it can be read from any thread. */
final class Member implements ConsumerRebalanceListener {
    final String name;
    final List<String> events = new CopyOnWriteArrayList<>();
    final List<String> values = new CopyOnWriteArrayList<>();
    volatile Set<String> owned = Set.of();
    volatile Throwable failure;
    private final KafkaConsumer<String, String> consumer;
    private final ConcurrentLinkedQueue<Runnable> work = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile CloseOptions ending;
    private volatile boolean frozen;

    private Member(String name, KafkaConsumer<String, String> consumer, java.util.function.BiConsumer<KafkaConsumer<String, String>, Member> subscribe) {
        this.name = name;
        this.consumer = consumer;
        subscribe.accept(consumer, this);
        thread = new Thread(this::run, "member-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * The client id is the member's name, so member ids sort by it. Who is to die, and to be missed soon, joins with a
     * shorter session: a busy machine can let it end early, so that what is expected must come about again after that.
     */
    static Map<String, Object> settings(Context context, String name, String group, Object... more) {
        Map<String, Object> config = context.config("group.id", group, "client.id", name, "auto.offset.reset", "earliest",
            "enable.auto.commit", "false", "session.timeout.ms", 30_000, "heartbeat.interval.ms", 100, "fetch.max.wait.ms", 50,
            "metadata.max.age.ms", 500, "key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer",
            "value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        for (int i = 0; i < more.length; i += 2) {
            config.put((String) more[i], more[i + 1]);
        }
        if ("consumer".equals(config.get("group.protocol"))) {  // the group's own configs say so then
            config.keySet().removeAll(Set.of("session.timeout.ms", "heartbeat.interval.ms"));
        }
        return config;
    }

    static Member join(Context context, String name, String group, Collection<String> topics, Object... more) {
        var consumer = new KafkaConsumer<String, String>(settings(context, name, group, more));
        return context.keep(new Closing(new Member(name, consumer, (c, member) -> c.subscribe(topics, member)))).member;
    }

    static Member joinPattern(Context context, String name, String group, String pattern, Object... more) {
        var consumer = new KafkaConsumer<String, String>(settings(context, name, group, more));
        return context.keep(new Closing(new Member(name, consumer,
            (c, member) -> c.subscribe(java.util.regex.Pattern.compile(pattern), member)))).member;
    }

    /** With a pattern that the broker resolves (KIP-848). */
    static Member joinResolved(Context context, String name, String group, String pattern, Object... more) {
        var consumer = new KafkaConsumer<String, String>(settings(context, name, group, more));
        return context.keep(new Closing(new Member(name, consumer,
            (c, member) -> c.subscribe(new org.apache.kafka.clients.consumer.SubscriptionPattern(pattern), member)))).member;
    }

    private record Closing(Member member) implements AutoCloseable {
        @Override
        public void close() {
            member.frozen = false;
            member.end(CloseOptions.timeout(Duration.ZERO), false);
        }
    }

    private void run() {
        try {
            while (ending == null) {
                if (frozen) {
                    Thread.sleep(10);
                    continue;
                }
                for (Runnable next = work.poll(); next != null; next = work.poll()) {
                    next.run();
                }
                consumer.poll(Duration.ofMillis(20)).forEach(record -> values.add(record.value()));
                owned = names(consumer.assignment());
            }
        } catch (Throwable thrown) {
            failure = thrown;
        }
        owned = Set.of();
        consumer.close(ending == null ? CloseOptions.timeout(Duration.ZERO) : ending);
    }

    static Set<String> names(Collection<TopicPartition> partitions) {
        Set<String> all = new TreeSet<>();
        partitions.forEach(each -> all.add(each.toString()));
        return all;
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        events.add("revoked " + names(partitions));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        events.add("assigned " + names(partitions));
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        events.add("lost " + names(partitions));
    }

    /** Run something with the consumer on its thread, and give its answer or its exception. */
    <T> T with(Function<KafkaConsumer<String, String>, T> action) throws Exception {
        CompletableFuture<T> answer = new CompletableFuture<>();
        work.add(() -> {
            try {
                answer.complete(action.apply(consumer));
            } catch (Throwable thrown) {
                answer.completeExceptionally(thrown);
            }
        });
        return answer.get(Context.PATIENCE_S, TimeUnit.SECONDS);
    }

    /** Whether something waits to be run by {@link #with}. */
    boolean hasWork() {
        return !work.isEmpty();
    }

    /** Stop calling poll, as an application that is stuck would; heartbeats go on. */
    void freeze(boolean stuck) {
        frozen = stuck;
    }

    /** Leave the group. */
    void leave() throws Exception {
        end(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP), true);
    }

    /** Go without a word, as a process that was killed. */
    void die() throws Exception {
        end(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP), true);
    }

    private void end(CloseOptions how, boolean wait) {
        ending = how;
        try {
            if (wait) {
                thread.join(60_000);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Wait until the members own exactly these partitions, each written like {@code topic-0}; an empty list is nothing. */
    static void owns(Map<Member, List<String>> expected) throws Exception {
        long end = Context.deadline();
        while (true) {
            boolean same = true;
            List<String> found = new ArrayList<>();
            for (var each : expected.entrySet()) {
                Set<String> owned = each.getKey().owned;
                found.add(each.getKey().name + " " + owned + (each.getKey().failure == null ? "" : " " + each.getKey().failure));
                same &= owned.equals(new TreeSet<>(each.getValue()));
            }
            if (same) {
                return;
            }
            Context.check(System.nanoTime() < end, "ownership is " + found + ", expected " + expected.values());
            Thread.sleep(20);
        }
    }
}
