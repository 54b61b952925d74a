package scenarios;

import static scenarios.Context.check;
import static scenarios.Context.equal;
import static scenarios.Context.fails;
import static scenarios.Context.unique;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;

/** Access control entries, on a broker where everybody may use what no entry concerns. */
public final class Acls {
    public static void lifeOfEntries(Context context) throws Exception {
        String prefix = unique("acl");
        AclBinding literal = on(ResourceType.TOPIC, prefix + "-a", PatternType.LITERAL, "User:alice", AclOperation.READ);
        AclBinding prefixed = on(ResourceType.TOPIC, prefix, PatternType.PREFIXED, "User:bob", AclOperation.ALL);
        AclBinding group = on(ResourceType.GROUP, prefix + "-a", PatternType.LITERAL, "User:alice", AclOperation.READ);
        context.admin().createAcls(List.of(literal, prefixed, group, literal)).all().get();
        AclBindingFilter matching = filter(ResourceType.TOPIC, prefix + "-a", PatternType.MATCH);
        Context.waitUntil("two match", () -> found(context, matching).equals(Set.of(literal, prefixed)));
        equal(Set.of(literal, group), found(context, filter(ResourceType.ANY, prefix + "-a", PatternType.LITERAL)));
        equal(Set.of(literal, group), found(context, filter(ResourceType.ANY, prefix + "-a", PatternType.ANY)));
        equal(Set.of(), found(context, filter(ResourceType.TOPIC, prefix, PatternType.LITERAL)));
        var gone = context.admin().deleteAcls(List.of(matching)).all().get();
        equal(Set.of(literal, prefixed), Set.copyOf(gone));
        Context.waitUntil("one is left", () -> found(context, matching).isEmpty());
        equal(Set.of(group), found(context, filter(ResourceType.ANY, prefix + "-a", PatternType.ANY)));
        context.admin().deleteAcls(List.of(group.toFilter())).all().get();
    }

    public static void refusedEntries(Context context) throws Exception {
        AclBinding nobody = on(ResourceType.TOPIC, unique("t"), PatternType.LITERAL, "alice", AclOperation.READ);
        fails(InvalidRequestException.class, context.admin().createAcls(List.of(nobody)).all());
        AclBinding other = on(ResourceType.CLUSTER, "another", PatternType.LITERAL, "User:a", AclOperation.ALTER);
        fails(InvalidRequestException.class, context.admin().createAcls(List.of(other)).all());
    }

    public static void whatIsDenied(Context context) throws Exception {
        String topic = context.topic(1);
        AclBinding write = on(ResourceType.TOPIC, topic, PatternType.LITERAL, "User:ANONYMOUS", AclOperation.WRITE);
        AclBinding read = on(ResourceType.TOPIC, topic, PatternType.LITERAL, "User:ANONYMOUS", AclOperation.READ);
        context.admin().createAcls(List.of(write)).all().get();
        var options = new DescribeTopicsOptions().includeAuthorizedOperations(true);
        Set<AclOperation> writing = Set.of(AclOperation.WRITE, AclOperation.DESCRIBE);
        Context.waitUntil("only writing is allowed", () -> {
            var described = context.admin().describeTopics(List.of(topic), options).allTopicNames().get();
            return described.get(topic).authorizedOperations().equals(writing);
        });
        try (var producer = context.producer()) {
            producer.send(new ProducerRecord<>(topic, "k", "v")).get();
        }
        try (var consumer = context.consumer("group.id", unique("g"))) {
            consumer.subscribe(List.of(topic));
            var refused = fails(TopicAuthorizationException.class, () -> pollFor(consumer));
            equal(Set.of(topic), refused.unauthorizedTopics());
        }
        context.admin().deleteAcls(List.of(write.toFilter())).all().get();
        context.admin().createAcls(List.of(read)).all().get();
        Context.waitUntil("only reading is allowed", () -> {
            var described = context.admin().describeTopics(List.of(topic), options).allTopicNames().get();
            return described.get(topic).authorizedOperations().equals(Set.of(AclOperation.READ, AclOperation.DESCRIBE));
        });
        try (var producer = context.producer()) {
            fails(TopicAuthorizationException.class, producer.send(new ProducerRecord<>(topic, "k", "v")));
        }
        context.admin().deleteAcls(List.of(read.toFilter())).all().get();
    }

    private static void pollFor(org.apache.kafka.clients.consumer.KafkaConsumer<String, String> consumer) {
        long deadline = Context.deadline();
        while (System.nanoTime() < deadline) {
            check(consumer.poll(Duration.ofMillis(100)).isEmpty(), "nothing may be read");
        }
    }

    private static AclBinding on(ResourceType type, String name, PatternType kind, String who, AclOperation operation) {
        AccessControlEntry entry = new AccessControlEntry(who, "*", operation, AclPermissionType.ALLOW);
        return new AclBinding(new ResourcePattern(type, name, kind), entry);
    }

    private static AclBindingFilter filter(ResourceType type, String name, PatternType kind) {
        return new AclBindingFilter(new ResourcePatternFilter(type, name, kind), AccessControlEntryFilter.ANY);
    }

    private static Set<AclBinding> found(Context context, AclBindingFilter filter) throws Exception {
        return Set.copyOf(context.admin().describeAcls(filter).values().get());
    }

    private Acls() {}
}
