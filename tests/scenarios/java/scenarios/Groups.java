package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.GroupSubscribedToTopicException;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.common.errors.InvalidSessionTimeoutException;
import org.apache.kafka.common.errors.OffsetMetadataTooLarge;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.UnknownMemberIdException;

/** Consumer groups of the classic protocol. */
public final class Groups {
    private static final String ASSIGNOR = "partition.assignment.strategy";

    /** Two topics of three partitions, named so that t0 sorts before t1. */
    private static List<String> twoTopics(Context context) throws Exception {
        String name = unique("t");
        return List.of(context.topicNamed(name + ".0", 3), context.topicNamed(name + ".1", 3));
    }

    /** Writes {@code 0p1} for partition 1 of the first topic. */
    private static List<String> parts(List<String> topics, String... wanted) {
        return Stream.of(wanted).map(each -> topics.get(each.charAt(0) - '0') + "-" + each.substring(2)).toList();
    }

    public static void rangeOfTwoMembers(Context context) throws Exception {
        var topics = twoTopics(context);
        String group = unique("g");
        var first = Member.join(context, "C0", group, topics, ASSIGNOR, RangeAssignor.class.getName());
        Member.owns(Map.of(first, parts(topics, "0p0", "0p1", "0p2", "1p0", "1p1", "1p2")));
        var second = Member.join(context, "C1", group, topics, ASSIGNOR, RangeAssignor.class.getName());
        Member.owns(Map.of(first, parts(topics, "0p0", "0p1", "1p0", "1p1"), second, parts(topics, "0p2", "1p2")));
        first.leave();
        Member.owns(Map.of(second, parts(topics, "0p0", "0p1", "0p2", "1p0", "1p1", "1p2")));
    }

    public static void roundRobinOfTwoMembers(Context context) throws Exception {
        var topics = twoTopics(context);
        String group = unique("g");
        var first = Member.join(context, "C0", group, topics, ASSIGNOR, RoundRobinAssignor.class.getName());
        var second = Member.join(context, "C1", group, topics, ASSIGNOR, RoundRobinAssignor.class.getName());
        Member.owns(Map.of(first, parts(topics, "0p0", "0p2", "1p1"), second, parts(topics, "0p1", "1p0", "1p2")));
    }

    public static void stickyKeepsWhatItHad(Context context) throws Exception {
        var topics = twoTopics(context);
        String group = unique("g");
        var members = new ArrayList<Member>();
        for (String name : List.of("C0", "C1", "C2")) {
            members.add(Member.join(context, name, group, topics, ASSIGNOR, StickyAssignor.class.getName()));
        }
        waitBalanced(members, 6);
        Set<String> kept0 = members.get(0).owned;
        Set<String> kept2 = members.get(2).owned;
        members.get(1).leave();
        waitBalanced(List.of(members.get(0), members.get(2)), 6);
        check(members.get(0).owned.containsAll(kept0), "C0 kept " + kept0 + " in " + members.get(0).owned);
        check(members.get(2).owned.containsAll(kept2), "C2 kept " + kept2 + " in " + members.get(2).owned);
    }

    /** Wait until the partitions are spread over the members, no two of them differing by more than one. */
    private static void waitBalanced(List<Member> members, int partitions) throws Exception {
        Context.waitUntil("balance", () -> {
            List<Set<String>> owned = members.stream().map(member -> member.owned).toList();
            Set<String> all = new HashSet<>();
            owned.forEach(all::addAll);
            int sum = owned.stream().mapToInt(Set::size).sum();
            int most = owned.stream().mapToInt(Set::size).max().getAsInt();
            int least = owned.stream().mapToInt(Set::size).min().getAsInt();
            return sum == partitions && all.size() == partitions && most - least <= 1;
        });
    }

    private static void uneven(Context context, String assignor, List<List<String>> expected) throws Exception {
        String name = unique("t");
        var topics = List.of(context.topicNamed(name + ".0", 1), context.topicNamed(name + ".1", 2), context.topicNamed(name + ".2", 3));
        String group = unique("g");
        var first = Member.join(context, "C0", group, topics.subList(0, 1), ASSIGNOR, assignor);
        var second = Member.join(context, "C1", group, topics.subList(0, 2), ASSIGNOR, assignor);
        var third = Member.join(context, "C2", group, topics, ASSIGNOR, assignor);
        Member.owns(Map.of(
            first, parts(topics, expected.get(0).toArray(String[]::new)),
            second, parts(topics, expected.get(1).toArray(String[]::new)),
            third, parts(topics, expected.get(2).toArray(String[]::new))));
    }

    public static void roundRobinOfUnevenSubscriptions(Context context) throws Exception {
        uneven(context, RoundRobinAssignor.class.getName(),
            List.of(List.of("0p0"), List.of("1p0"), List.of("1p1", "2p0", "2p1", "2p2")));
    }

    public static void stickyOfUnevenSubscriptions(Context context) throws Exception {
        uneven(context, StickyAssignor.class.getName(),
            List.of(List.of("0p0"), List.of("1p0", "1p1"), List.of("2p0", "2p1", "2p2")));
    }

    public static void cooperativeMembersGiveUpOnlyWhatMoves(Context context) throws Exception {
        String topic = context.topic(4);
        String group = unique("g");
        var first = Member.join(context, "C0", group, List.of(topic), ASSIGNOR, CooperativeStickyAssignor.class.getName());
        Member.owns(Map.of(first, List.of(topic + "-0", topic + "-1", topic + "-2", topic + "-3")));
        var second = Member.join(context, "C1", group, List.of(topic), ASSIGNOR, CooperativeStickyAssignor.class.getName(),
            "session.timeout.ms", 10_000);
        waitBalanced(List.of(first, second), 4);
        List<String> revoked = first.events.stream().filter(each -> each.startsWith("revoked")).toList();
        equal(List.of("revoked " + second.owned), revoked);
        second.die();
        Member.owns(Map.of(first, List.of(topic + "-0", topic + "-1", topic + "-2", topic + "-3")));
    }

    public static void ownAssignorsPassUserData(Context context) throws Exception {
        String topic = context.topic(4);
        List<String> all = List.of(topic + "-0", topic + "-1", topic + "-2", topic + "-3");
        String group = unique("g");
        String rackAware = Assignors.RackAware.class.getName();
        var first = Member.join(context, group + ".a", group, List.of(topic), ASSIGNOR, rackAware);
        var second = Member.join(context, group + ".b", group, List.of(topic), ASSIGNOR, rackAware);
        Member.owns(Map.of(first, List.of(topic + "-0", topic + "-2"), second, List.of(topic + "-1", topic + "-3")));
        equal("for a", Assignors.RECEIVED.get(group + ".a"));
        equal("for b", Assignors.RECEIVED.get(group + ".b"));
        String random = unique("g");
        var third = Member.join(context, random + ".c", random, List.of(topic), ASSIGNOR, Assignors.Chance.class.getName());
        var fourth = Member.join(context, random + ".d", random, List.of(topic), ASSIGNOR, Assignors.Chance.class.getName());
        Context.waitUntil("all dealt out", () -> {
            Set<String> both = new TreeSet<>(third.owned);
            both.addAll(fourth.owned);
            return third.owned.size() + fourth.owned.size() == 4 && both.equals(new TreeSet<>(all)) && !fourth.events.isEmpty();
        });
        String everyone = unique("g");
        var fifth = Member.join(context, everyone + ".e", everyone, List.of(topic), ASSIGNOR, Assignors.Broadcast.class.getName());
        var sixth = Member.join(context, everyone + ".f", everyone, List.of(topic), ASSIGNOR, Assignors.Broadcast.class.getName());
        Member.owns(Map.of(fifth, all, sixth, all));
    }

    public static void noCommonProtocolIsRefused(Context context) throws Exception {
        String topic = context.topic(1);
        String group = unique("g");
        var first = Member.join(context, "C0", group, List.of(topic), ASSIGNOR, RangeAssignor.class.getName());
        Member.owns(Map.of(first, List.of(topic + "-0")));
        var second = Member.join(context, "C1", group, List.of(topic), ASSIGNOR, RoundRobinAssignor.class.getName());
        Context.waitUntil("refused", () -> second.failure instanceof InconsistentGroupProtocolException);
        var third = Member.join(context, "C2", group, List.of(topic), "session.timeout.ms", 50, "heartbeat.interval.ms", 10);
        Context.waitUntil("refused", () -> third.failure instanceof InvalidSessionTimeoutException);
        equal(Set.of(topic + "-0"), first.owned);
    }

    public static void theDeadAndTheStuckAreDropped(Context context) throws Exception {
        String topic = context.topic(2);
        String group = unique("g");
        List<String> all = List.of(topic + "-0", topic + "-1");
        var first = Member.join(context, "C0", group, List.of(topic));
        var second = Member.join(context, "C1", group, List.of(topic), "session.timeout.ms", 3000);
        Member.owns(Map.of(first, all.subList(0, 1), second, all.subList(1, 2)));
        second.die();
        Member.owns(Map.of(first, all));
        var third = Member.join(context, "C2", group, List.of(topic), "max.poll.interval.ms", 1000);
        Member.owns(Map.of(first, all.subList(0, 1), third, all.subList(1, 2)));
        third.freeze(true);
        Member.owns(Map.of(first, all));
        third.freeze(false);
        Member.owns(Map.of(first, all.subList(0, 1), third, all.subList(1, 2)));
        check(third.events.stream().anyMatch(each -> each.startsWith("lost")), "the stuck member lost its partitions: " + third.events);
    }

    public static void aStaticMemberComesBackToItsPartitions(Context context) throws Exception {
        String topic = context.topic(2);
        String group = unique("g");
        var first = Member.join(context, "C0", group, List.of(topic), "group.instance.id", "i0", "session.timeout.ms", 60_000);
        var second = Member.join(context, "C1", group, List.of(topic), "group.instance.id", "i1", "session.timeout.ms", 60_000);
        waitBalanced(List.of(first, second), 2);
        int events = first.events.size();
        Set<String> had = second.owned;
        second.die();
        var again = Member.join(context, "C1", group, List.of(topic), "group.instance.id", "i1", "session.timeout.ms", 60_000);
        Member.owns(Map.of(again, List.copyOf(had)));
        equal(events, first.events.size());
        var other = Member.join(context, "C1", group, List.of(topic), "group.instance.id", "i1", "session.timeout.ms", 60_000);
        Context.waitUntil("fenced", () -> again.failure instanceof FencedInstanceIdException);
        Member.owns(Map.of(other, List.copyOf(had)));
        other.die();
        context.admin().removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("i1"))))
            .all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Member.owns(Map.of(first, List.of(topic + "-0", topic + "-1")));
    }

    public static void commits(Context context) throws Exception {
        String topic = context.topic(2);
        TopicPartition at = new TopicPartition(topic, 0);
        TopicPartition other = new TopicPartition(topic, 1);
        String group = unique("g");
        context.fill(topic, "a", "b", "c");
        var member = Member.join(context, "C0", group, List.of(topic));
        Context.waitUntil("read", () -> member.values.size() == 3);
        member.with(consumer -> {
            consumer.commitSync();
            return null;
        });
        equal(new OffsetAndMetadata(3, java.util.Optional.of(0), ""), member.with(c -> c.committed(Set.of(at))).get(at));
        equal(0L, member.with(c -> c.committed(Set.of(other))).get(other).offset());
        var done = new CompletableFuture<Exception>();
        member.with(consumer -> {
            consumer.commitAsync(Map.of(at, new OffsetAndMetadata(1, "why")), (offsets, failure) -> done.complete(failure));
            return null;
        });
        equal(null, done.get(Context.PATIENCE_S, TimeUnit.SECONDS));
        equal("why", member.with(c -> c.committed(Set.of(at))).get(at).metadata());
        fails(OffsetMetadataTooLarge.class, () -> member.with(consumer -> {
            consumer.commitSync(Map.of(at, new OffsetAndMetadata(1, "x".repeat(5000))));
            return null;
        }));
        member.leave();
        var next = Member.join(context, "C1", group, List.of(topic));
        Context.waitUntil("goes on at the commit", () -> next.values.equals(List.of("b", "c")));
    }

    public static void aStaleCommitIsRefused(Context context) throws Exception {
        String topic = context.topic(2);
        String group = unique("g");
        var first = Member.join(context, "C0", group, List.of(topic), "max.poll.interval.ms", 1000);
        Member.owns(Map.of(first, List.of(topic + "-0", topic + "-1")));
        first.freeze(true);
        var second = Member.join(context, "C1", group, List.of(topic));
        Member.owns(Map.of(second, List.of(topic + "-0", topic + "-1")));
        var attempt = CompletableFuture.supplyAsync(() -> {
            try {
                return first.with(consumer -> {
                    consumer.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(5)));
                    return null;
                });
            } catch (Exception refused) {
                throw new java.util.concurrent.CompletionException(refused);
            }
        });
        Context.waitUntil("queued", () -> first.hasWork() || attempt.isDone());
        first.freeze(false);
        // the client knows of its expulsion already, or is just joining again
        var refusal = fails(org.apache.kafka.common.KafkaException.class, attempt);
        check(refusal instanceof CommitFailedException || refusal instanceof RebalanceInProgressException, refusal.toString());
        equal(null, second.with(c -> c.committed(Set.of(new TopicPartition(topic, 0)))).get(new TopicPartition(topic, 0)));
    }

    public static void assignedConsumersCommitWithoutMembership(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        String group = unique("g");
        var consumer = context.consumer("group.id", group);
        consumer.assign(List.of(at));
        consumer.commitSync(Map.of(at, new OffsetAndMetadata(7)));
        equal(7L, consumer.committed(Set.of(at)).get(at).offset());
        ConsumerGroupDescription described = describe(context, group);
        equal(GroupState.EMPTY, described.groupState());
        equal(true, described.isSimpleConsumerGroup());
        var member = Member.join(context, "C0", group, List.of(topic));
        Member.owns(Map.of(member, List.of(topic + "-0")));
        fails(CommitFailedException.class, () -> consumer.commitSync(Map.of(at, new OffsetAndMetadata(8))));
    }

    private static ConsumerGroupDescription describe(Context context, String group) throws Exception {
        return context.admin().describeConsumerGroups(List.of(group)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS).get(group);
    }

    public static void patternsAndNewPartitions(Context context) throws Exception {
        String name = unique("pattern");
        context.topicNamed(name + ".a", 1);
        String group = unique("g");
        var member = Member.joinPattern(context, "C0", group, name + "\\..*");
        Member.owns(Map.of(member, List.of(name + ".a-0")));
        context.topicNamed(name + ".b", 1);
        Member.owns(Map.of(member, List.of(name + ".a-0", name + ".b-0")));
        context.admin().createPartitions(Map.of(name + ".b", NewPartitions.increaseTo(2))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Member.owns(Map.of(member, List.of(name + ".a-0", name + ".b-0", name + ".b-1")));
        context.admin().deleteTopics(List.of(name + ".a")).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Member.owns(Map.of(member, List.of(name + ".b-0", name + ".b-1")));
    }

    public static void groupsThroughTheAdminClient(Context context) throws Exception {
        String topic = context.topic(2);
        TopicPartition at = new TopicPartition(topic, 0);
        String group = unique("g");
        fails(GroupIdNotFoundException.class, context.admin().describeConsumerGroups(List.of(group)).all());
        var member = Member.join(context, "C0", group, List.of(topic), "group.instance.id", "one");
        Member.owns(Map.of(member, List.of(topic + "-0", topic + "-1")));
        ConsumerGroupDescription described = describe(context, group);
        equal(GroupState.STABLE, described.groupState());
        equal("range", described.partitionAssignor());
        var seen = described.members().iterator().next();
        equal("C0", seen.clientId());
        equal("one", seen.groupInstanceId().get());
        check(seen.host().contains("127.0.0.1"), "host " + seen.host());
        equal(Set.of(at, new TopicPartition(topic, 1)), seen.assignment().topicPartitions());
        check(listed(context, GroupState.STABLE).contains(group), "listed as stable");
        check(!listed(context, GroupState.EMPTY).contains(group), "not listed as empty");
        fails(GroupNotEmptyException.class, context.admin().deleteConsumerGroups(List.of(group)).all());
        fails(UnknownMemberIdException.class, context.admin().alterConsumerGroupOffsets(group, Map.of(at, new OffsetAndMetadata(1))).all());
        member.with(consumer -> {
            consumer.commitSync(Map.of(at, new OffsetAndMetadata(0)));
            return null;
        });
        fails(GroupSubscribedToTopicException.class, context.admin().deleteConsumerGroupOffsets(group, Set.of(at)).partitionResult(at));
        member.die();  // first, as it would join again
        context.admin().removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("one"))))
            .all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Context.waitUntil("empty", () -> describe(context, group).groupState() == GroupState.EMPTY);
        context.admin().alterConsumerGroupOffsets(group, Map.of(at, new OffsetAndMetadata(42, "by hand"))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(42L, offsets(context, group).get(at).offset());
        equal("by hand", offsets(context, group).get(at).metadata());
        context.admin().deleteConsumerGroupOffsets(group, Set.of(at)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(Map.of(), offsets(context, group));
        context.admin().deleteConsumerGroups(List.of(group)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        fails(GroupIdNotFoundException.class, context.admin().deleteConsumerGroups(List.of(group)).all());
    }

    private static List<String> listed(Context context, GroupState state) throws Exception {
        var options = ListGroupsOptions.forConsumerGroups().inGroupStates(Set.of(state));
        return context.admin().listGroups(options).all().get(Context.PATIENCE_S, TimeUnit.SECONDS).stream().map(each -> each.groupId()).toList();
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(Context context, String group) throws Exception {
        return context.admin().listConsumerGroupOffsets(Map.of(group, new ListConsumerGroupOffsetsSpec())).all()
            .get(Context.PATIENCE_S, TimeUnit.SECONDS).get(group);
    }

    public static void deletedTopicsTakeTheirOffsetsAlong(Context context) throws Exception {
        String topic = context.topic(1);
        TopicPartition at = new TopicPartition(topic, 0);
        String group = unique("g");
        context.admin().alterConsumerGroupOffsets(group, Map.of(at, new OffsetAndMetadata(3))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        equal(3L, offsets(context, group).get(at).offset());
        context.admin().deleteTopics(List.of(topic)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Context.waitUntil("offsets gone", () -> {
            try {
                return offsets(context, group).isEmpty();
            } catch (java.util.concurrent.ExecutionException gone) {
                return gone.getCause() instanceof GroupIdNotFoundException;
            }
        });
    }
}
