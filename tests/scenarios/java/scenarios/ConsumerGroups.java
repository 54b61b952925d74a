package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.GroupSubscribedToTopicException;
import org.apache.kafka.common.errors.InvalidRegularExpression;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.errors.UnsupportedAssignorException;

/** Consumer groups of the consumer protocol (KIP-848). */
public final class ConsumerGroups {
    private static final int SESSION_MS = 3_000;

    /** A group whose members tell of themselves ten times a second. */
    private static String group(Context context) throws Exception {
        String group = unique("g848");
        var resource = new ConfigResource(ConfigResource.Type.GROUP, group);
        Collection<AlterConfigOp> changes = new ArrayList<>();
        for (var each : Map.of("consumer.heartbeat.interval.ms", 100, "consumer.session.timeout.ms", SESSION_MS).entrySet()) {
            var entry = new ConfigEntry(each.getKey(), String.valueOf(each.getValue()));
            changes.add(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
        }
        context.admin().incrementalAlterConfigs(Map.of(resource, changes)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        return group;
    }

    private static Member join(Context context, String name, String group, Collection<String> topics, Object... more) {
        var options = new ArrayList<Object>(List.of(more));
        options.addAll(List.of("group.protocol", "consumer"));
        return Member.join(context, name, group, topics, options.toArray());
    }

    private static List<String> parts(String topic, int... partitions) {
        List<String> all = new ArrayList<>();
        for (int partition : partitions) {
            all.add(topic + "-" + partition);
        }
        return all;
    }

    private static void waitShared(List<Member> members, int partitions) throws Exception {
        Context.waitUntil("even shares", () -> {
            Set<String> all = new HashSet<>();
            int sum = 0;
            for (Member member : members) {
                check(member.failure == null, member.name + " failed: " + member.failure);
                sum += member.owned.size();
                all.addAll(member.owned);
                if (member.owned.size() != partitions / members.size()) {
                    return false;
                }
            }
            return sum == partitions && all.size() == partitions;
        });
    }

    private static ConsumerGroupDescription describe(Context context, String group) throws Exception {
        return context.admin().describeConsumerGroups(List.of(group)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS).get(group);
    }

    public static void membersComeAndGo(Context context) throws Exception {
        String topic = context.topic(12);
        String group = group(context);
        List<Member> members = new ArrayList<>();
        for (String name : List.of("C0", "C1", "C2", "C3")) {
            members.add(join(context, name, group, List.of(topic)));
            waitShared(members, 12);
        }
        members.remove(1).leave();
        waitShared(members, 12);
        members.remove(0).die();
        waitShared(members, 12);
        for (Member member : members) {
            check(member.events.stream().noneMatch(each -> each.startsWith("lost")), member.events.toString());
        }
    }

    public static void onlyWhatMovesIsGivenUp(Context context) throws Exception {
        String topic = context.topic(4);
        String group = group(context);
        var first = join(context, "C0", group, List.of(topic));
        Member.owns(Map.of(first, parts(topic, 0, 1, 2, 3)));
        var second = join(context, "C1", group, List.of(topic));
        Member.owns(Map.of(first, parts(topic, 0, 1), second, parts(topic, 2, 3)));
        List<String> revoked = first.events.stream().filter(each -> each.startsWith("revoked")).toList();
        equal(List.of("revoked " + second.owned), revoked);
    }

    public static void rangeByName(Context context) throws Exception {
        String topic = context.topic(3);
        String group = group(context);
        var first = join(context, "C0", group, List.of(topic), "group.remote.assignor", "range", "group.instance.id", "a");
        var second = join(context, "C1", group, List.of(topic), "group.remote.assignor", "range", "group.instance.id", "b");
        Member.owns(Map.of(first, parts(topic, 0, 1), second, parts(topic, 2)));
        equal("range", describe(context, group).partitionAssignor());
        var third = join(context, "C2", group(context), List.of(topic), "group.remote.assignor", "mine");
        Context.waitUntil("refused", () -> third.failure instanceof UnsupportedAssignorException);
    }

    public static void aStaticMemberComesBackToItsPartitions(Context context) throws Exception {
        String topic = context.topic(2);
        String group = group(context);
        var first = join(context, "C0", group, List.of(topic), "group.instance.id", "i0");
        var second = join(context, "C1", group, List.of(topic), "group.instance.id", "i1");
        waitShared(List.of(first, second), 2);
        Set<String> had = second.owned;
        int events = first.events.size();
        second.die();  // for a while: it says that it will be back
        var again = join(context, "C1", group, List.of(topic), "group.instance.id", "i1");
        Member.owns(Map.of(again, List.copyOf(had)));
        equal(events, first.events.size());
        var other = join(context, "C9", group, List.of(topic), "group.instance.id", "i1");
        Context.waitUntil("refused", () -> other.failure instanceof UnreleasedInstanceIdException);
    }

    public static void patternsAndNewPartitions(Context context) throws Exception {
        String name = unique("pattern");
        context.topicNamed(name + ".a", 1);
        context.topicNamed(name + ".b", 1);
        context.topicNamed("other-" + name + ".a", 1);
        String group = group(context);
        var member = Member.joinResolved(context, "C0", group, name + "\\.[a-c]", "group.protocol", "consumer");
        Member.owns(Map.of(member, List.of(name + ".a-0", name + ".b-0")));
        context.admin().createPartitions(Map.of(name + ".b", NewPartitions.increaseTo(2))).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        Member.owns(Map.of(member, List.of(name + ".a-0", name + ".b-0", name + ".b-1")));
        context.topicNamed(name + ".c", 1);
        Member.owns(Map.of(member, List.of(name + ".a-0", name + ".b-0", name + ".b-1", name + ".c-0")));
        var bad = Member.joinResolved(context, "C1", group(context), "(", "group.protocol", "consumer");
        Context.waitUntil("refused", () -> bad.failure instanceof InvalidRegularExpression);
    }

    public static void commits(Context context) throws Exception {
        String topic = context.topic(2);
        TopicPartition at = new TopicPartition(topic, 0);
        String group = group(context);
        context.fill(topic, "a", "b", "c");
        var member = join(context, "C0", group, List.of(topic));
        Context.waitUntil("read", () -> member.values.size() == 3);
        member.with(consumer -> {
            consumer.commitSync(Map.of(at, new OffsetAndMetadata(1, "why")));
            return null;
        });
        equal("why", member.with(c -> c.committed(Set.of(at))).get(at).metadata());
        fails(GroupNotEmptyException.class, context.admin().deleteConsumerGroups(List.of(group)).all());
        fails(GroupSubscribedToTopicException.class, context.admin().deleteConsumerGroupOffsets(group, Set.of(at)).partitionResult(at));
        member.leave();
        var next = join(context, "C1", group, List.of(topic));
        Context.waitUntil("goes on at the commit", () -> next.values.equals(List.of("b", "c")));
        next.leave();
        context.admin().deleteConsumerGroups(List.of(group)).all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
    }

    public static void throughTheAdminClient(Context context) throws Exception {
        String topic = context.topic(2);
        String group = group(context);
        var member = join(context, "C0", group, List.of(topic), "group.instance.id", "one");
        Member.owns(Map.of(member, parts(topic, 0, 1)));
        Context.waitUntil("stable", () -> describe(context, group).groupState() == GroupState.STABLE);
        ConsumerGroupDescription described = describe(context, group);
        equal(GroupType.CONSUMER, described.type());
        equal("uniform", described.partitionAssignor());
        equal(described.groupEpoch(), described.targetAssignmentEpoch());
        var seen = described.members().iterator().next();
        equal("one", seen.groupInstanceId().get());
        equal(true, seen.upgraded().get());
        equal(seen.targetAssignment().get().topicPartitions(), seen.assignment().topicPartitions());
        equal(described.targetAssignmentEpoch().get(), seen.memberEpoch().get());
        var listing = context.admin().listGroups(new ListGroupsOptions().withTypes(Set.of(GroupType.CONSUMER)))
            .all().get(Context.PATIENCE_S, TimeUnit.SECONDS);
        check(listing.stream().anyMatch(each -> each.groupId().equals(group)), "listed as a consumer group");
    }

    public static void fromClassicAndBack(Context context) throws Exception {
        String topic = context.topic(4);
        String group = group(context);
        var classic = Member.join(context, "C0", group, List.of(topic),
            "partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        Member.owns(Map.of(classic, parts(topic, 0, 1, 2, 3)));
        equal(GroupType.CLASSIC, describe(context, group).type());
        var modern = join(context, "C1", group, List.of(topic));
        waitShared(List.of(classic, modern), 4);
        equal(GroupType.CONSUMER, describe(context, group).type());
        var second = join(context, "C2", group, List.of(topic));
        classic.leave();
        waitShared(List.of(modern, second), 4);
        var back = Member.join(context, "C3", group, List.of(topic),
            "partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        second.leave();
        waitShared(List.of(modern, back), 4);
        modern.leave();
        Member.owns(Map.of(back, parts(topic, 0, 1, 2, 3)));
        equal(GroupType.CLASSIC, describe(context, group).type());
    }
}
