"""What users of real clients see who have all, some or none of the rights that they need.

The Java client's part is in `java/scenarios/Rights.java`. Topics, groups and ids are each test's own, so that what is
granted for one counts for no other; `cho` is never granted anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from tests.conformance.real_kafka import CONFIG_COMMAND as CONFIGS
from tests.scenarios.authorization import ADMIN, PASSWORD, broker_with_users
from tests.scenarios.java_host import JavaHost, ToolResult, scenario_names
from tests.scenarios.target import unique, wait_until

ANN, CHO = "ann", "cho"
TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
TOOLS = "org.apache.kafka.tools.consumer.group"
PATIENCE_S = 60.0

Settings = dict[str, str | int | float | bool]


class Users:
    """Makes clients of one broker with a SASL_PLAINTEXT listener, and gives rights."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient(self.config(ADMIN))

    def config(self, user: str, **more: str | int | float | bool) -> Settings:
        known: Settings = {"bootstrap.servers": self.bootstrap, "security.protocol": "SASL_PLAINTEXT", "log_level": 0}
        known |= {"sasl.mechanism": "PLAIN", "sasl.username": user, "sasl.password": PASSWORD}
        return known | {key.replace("_", "."): value for key, value in more.items()}

    def topic(self, records: int = 0) -> str:
        name = unique("rights")
        self.admin.create_topics([NewTopic(name, 1, 1)], operation_timeout=30)[name].result(60)
        producer = Producer(self.config(ADMIN))
        for at in range(records):
            producer.produce(name, str(at), partition=0)
        assert producer.flush(PATIENCE_S) == 0
        return name

    def allow(self, user: str, operation: AclOperation, kind: ResourceType, name: str) -> None:
        literal = ResourcePatternType.LITERAL
        acl = AclBinding(kind, name, literal, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
        self.admin.create_acls([acl])[acl].result(60)

    def tool_config(self, user: str, folder: Path) -> str:
        """A file for the tools' `--command-config`."""
        login = f'PlainLoginModule required username="{user}" password="{PASSWORD}";'
        lines = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN"]
        lines.append(f"sasl.jaas.config=org.apache.kafka.common.security.plain.{login}")
        path = folder / f"{user}.properties"
        path.write_text("\n".join(lines))
        return str(path)


@pytest.fixture(scope="module")
def users(side: str) -> Iterator[Users]:
    with broker_with_users(side) as port:
        yield Users(f"127.0.0.1:{port}")


def refusal(action: Callable[[], object]) -> int:
    """The code that an action of confluent-kafka fails with."""
    with pytest.raises(KafkaException) as raised:
        action()
    code: int = raised.value.args[0].code()
    return code


def delivered(producer: Producer, topic: str) -> int:
    """What became of one record: its error code, 0 for none."""
    codes: list[int] = []
    try:
        producer.produce(
            topic, "v", partition=0, on_delivery=lambda error, _: codes.append(error.code() if error else 0)
        )
    except KafkaException as refused:  # metadata told so before
        code: int = refused.args[0].code()
        return code
    assert producer.flush(PATIENCE_S) == 0
    return codes[0]


def first_error(consumer: Consumer) -> int:
    """The first error that polling meets; 0 when a record comes first."""
    found = wait_until("an error or a record", lambda: consumer.poll(0.1))
    assert found is not None
    error = found.error()
    return error.code() if error else 0


# -- confluent-kafka


def test_a_producer_needs_write_on_the_topic(users: Users) -> None:
    topic = users.topic()
    producer = Producer(users.config(ANN, **{"message.timeout.ms": 5000}))
    assert delivered(producer, topic) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    users.allow(ANN, AclOperation.WRITE, TOPIC, topic)
    wait_until("a record", lambda: delivered(producer, topic) == 0)


def test_idempotent_producer_needs_only_to_write_to_a_topic(users: Users) -> None:
    topic = users.topic()
    users.allow(ANN, AclOperation.WRITE, TOPIC, topic)

    def written() -> bool:
        return delivered(Producer(users.config(ANN, **{"enable.idempotence": True})), topic) == 0

    wait_until("a record", written)


def test_a_topic_is_not_created_for_who_may_not(users: Users) -> None:
    missing = unique("rights")
    users.allow(ANN, AclOperation.WRITE, TOPIC, missing)
    producer = Producer(users.config(ANN, **{"message.timeout.ms": 5000}))
    assert delivered(producer, missing) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert missing not in users.admin.list_topics(timeout=60).topics
    users.allow(ANN, AclOperation.CREATE, TOPIC, missing)
    wait_until("a record", lambda: delivered(producer, missing) == 0)


def test_a_consumer_needs_read_on_topic_and_group(users: Users) -> None:
    topic, group = users.topic(records=1), unique("rights")

    def met(user: str) -> int:
        consumer = Consumer(users.config(user, group_id=group, auto_offset_reset="earliest"))
        try:
            consumer.subscribe([topic])
            return first_error(consumer)
        finally:
            consumer.close()

    assert met(CHO) == KafkaError.GROUP_AUTHORIZATION_FAILED
    users.allow(ANN, AclOperation.READ, GROUP, group)
    wait_until("the topic's refusal", lambda: met(ANN) == KafkaError.TOPIC_AUTHORIZATION_FAILED)
    users.allow(ANN, AclOperation.READ, TOPIC, topic)
    wait_until("a record", lambda: met(ANN) == 0)


def test_commits_need_the_topic_too(users: Users) -> None:
    mine, other, group = users.topic(), users.topic(), unique("rights")
    users.allow(ANN, AclOperation.READ, GROUP, group)
    users.allow(ANN, AclOperation.READ, TOPIC, mine)
    consumer = Consumer(users.config(ANN, group_id=group))
    reader = Consumer(users.config(ADMIN, group_id=group))
    places = [TopicPartition(mine, 0, 1), TopicPartition(other, 0, 1)]

    def kept() -> bool:
        """Whether what ann may commit is committed, though librdkafka tells the refusal alone."""
        try:
            consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as refused:
            if refused.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
                return False  # the group's coordinator is not there yet, or does not know of the right
            found = reader.committed(places, timeout=PATIENCE_S)
            return [each.offset for each in found] == [1, OFFSET_INVALID]
        return False

    wait_until("one of two commits", kept)
    consumer.close()
    reader.close()


def test_a_transactional_producer_needs_write_on_its_id(users: Users) -> None:
    topic, secret, own = users.topic(), users.topic(), unique("rights")
    assert (
        refusal(lambda: Producer(users.config(CHO, transactional_id=own)).init_transactions(PATIENCE_S))
        == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    )
    users.allow(ANN, AclOperation.WRITE, ID, own)
    users.allow(ANN, AclOperation.WRITE, TOPIC, topic)
    users.allow(ANN, AclOperation.DESCRIBE, TOPIC, secret)

    def begun() -> Producer | None:
        producer = Producer(users.config(ANN, transactional_id=own))
        try:
            producer.init_transactions(PATIENCE_S)
        except KafkaException:
            return None
        return producer

    producer = wait_until("a producer", begun)
    assert producer is not None
    producer.begin_transaction()
    assert delivered(producer, topic) == 0
    producer.produce(secret, "lost", partition=0)
    assert refusal(lambda: producer.commit_transaction(PATIENCE_S)) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    producer.abort_transaction(PATIENCE_S)
    producer.begin_transaction()
    assert delivered(producer, topic) == 0
    producer.commit_transaction(PATIENCE_S)


# -- tools


@pytest.mark.jdk
def test_consumer_groups_tool(users: Users, java: JavaHost, tmp_path: Path) -> None:
    seen, hidden, shown, secret = users.topic(records=2), users.topic(records=2), unique("rights"), unique("rights")
    for group in (shown, secret):
        consumer = Consumer(users.config(ADMIN, group_id=group))
        places = [TopicPartition(topic, 0, 1) for topic in (seen, hidden)]
        consumer.commit(offsets=places, asynchronous=False)
        consumer.close()
    users.allow(ANN, AclOperation.DESCRIBE, GROUP, shown)
    users.allow(ANN, AclOperation.DESCRIBE, TOPIC, seen)

    def tool(*arguments: str) -> str:
        config = users.tool_config(ANN, tmp_path)
        given = ("--bootstrap-server", users.bootstrap, "--command-config", config, *arguments)
        result = java.tool(f"{TOOLS}.ConsumerGroupCommand", *given)
        return result.stdout + result.stderr

    def listed() -> bool:
        return shown in (groups := tool("--list").split()) and secret not in groups

    wait_until("the group that may be seen", listed)
    described = wait_until(
        "its offsets", lambda: found if seen in (found := tool("--describe", "--group", shown)) else ""
    )
    assert hidden not in described
    assert "GroupAuthorizationException" in tool("--describe", "--group", secret)
    assert "GroupAuthorizationException" in tool("--delete", "--group", shown)


# -- the Java client


@pytest.mark.jdk
@pytest.mark.parametrize("scenario", scenario_names("Rights"))
def test_the_java_clients_are_told_of_missing_rights(scenario: str, java: JavaHost, users: Users) -> None:
    java.begin(scenario_names("Rights"), users.bootstrap)
    result = java.scenario(scenario, users.bootstrap)
    assert result["ok"], result["error"]


# What Kafka's command line prints. The user of each test may describe one topic and no other; a test says what it gives
# besides.

_TOOLS = "org.apache.kafka.tools"
TOPICS, ACLS, TRANSACTIONS = f"{_TOOLS}.TopicCommand", f"{_TOOLS}.AclCommand", f"{_TOOLS}.TransactionsCommand"
PRODUCER, CONSUMER = f"{_TOOLS}.ConsoleProducer", f"{_TOOLS}.consumer.ConsoleConsumer"
TOPIC_REFUSED = "TopicAuthorizationException: Topic authorization failed."
CLUSTER_REFUSED = "ClusterAuthorizationException: Cluster authorization failed."


@dataclass(frozen=True, slots=True)
class Desk:
    """A user's command line, a topic that the user may describe, and one of which the user may know nothing."""

    users: Users
    java: JavaHost
    folder: Path
    seen: str
    hidden: str

    def run(self, tool: str, *arguments: str, stdin: str = "") -> ToolResult:
        login = ("--command-config", self.users.tool_config(ANN, self.folder))
        return self.java.tool(tool, "--bootstrap-server", self.users.bootstrap, *login, *arguments, stdin=stdin)

    def told(self, tool: str, *arguments: str, stdin: str = "", status: int = 0) -> str:
        """All that a tool prints."""
        result = self.run(tool, *arguments, stdin=stdin)
        assert result.status == status, result
        return result.stdout + result.stderr

    def produced(self, topic: str, text: str) -> str:
        """What the console producer prints. It fails if it hears of a missing right before it has sent, not after."""
        result = self.run(PRODUCER, "--topic", topic, stdin=text)
        assert result.status in (0, 1), result
        return result.stdout + result.stderr

    def refused(self, tool: str, *arguments: str) -> str:
        """The same of a tool that fails."""
        return self.told(tool, *arguments, status=1)

    def allow(self, operation: AclOperation, name: str = "") -> None:
        """A right on a topic, `seen` if no other is named."""
        self.users.allow(ANN, operation, TOPIC, name or self.seen)


@pytest.fixture
def desk(users: Users, java: JavaHost, tmp_path: Path) -> Desk:
    made = Desk(users, java, tmp_path, users.topic(records=2), users.topic(records=2))
    made.allow(AclOperation.DESCRIBE)
    wait_until("the topic that may be seen", lambda: made.seen in made.told(TOPICS, "--list").split())
    return made


@pytest.mark.jdk
def test_the_topics_tool_is_told_of_missing_rights(desk: Desk) -> None:
    assert desk.hidden not in desk.told(TOPICS, "--list")
    unknown = f"Topic '{desk.hidden}' does not exist as expected"
    assert unknown in desk.refused(TOPICS, "--describe", "--topic", desk.hidden)
    assert unknown in desk.refused(TOPICS, "--delete", "--topic", desk.hidden)
    one = ("--topic", desk.seen)
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--describe", *one)  # it asks for the configs, too
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--alter", *one, "--partitions", "3")
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--delete", *one)
    # another text: this one is the controller's
    refused = "TopicAuthorizationException: Authorization failed."
    fresh = unique("rights")
    assert refused in desk.refused(TOPICS, "--create", "--topic", fresh)

    desk.allow(AclOperation.DESCRIBE_CONFIGS)
    wait_until("a description", lambda: desk.run(TOPICS, "--describe", *one).status == 0)
    desk.allow(AclOperation.CREATE, fresh)
    wait_until("a topic", lambda: desk.run(TOPICS, "--create", "--topic", fresh).status == 0)
    desk.allow(AclOperation.ALTER)
    wait_until("more partitions", lambda: desk.run(TOPICS, "--alter", *one, "--partitions", "3").status == 0)
    desk.allow(AclOperation.DELETE)
    wait_until("the end of a topic", lambda: desk.run(TOPICS, "--delete", *one).status == 0)


@pytest.mark.jdk
def test_the_configs_tool_is_told_of_missing_rights(desk: Desk) -> None:
    topic = ("--entity-type", "topics", "--entity-name", desk.seen)
    change = ("--alter", *topic, "--add-config", "retention.ms=1000")
    assert TOPIC_REFUSED in desk.refused(CONFIGS, "--describe", *topic)
    assert TOPIC_REFUSED in desk.refused(CONFIGS, *change)
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "0")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "client-metrics")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "users")
    user = ("--alter", "--entity-type", "users", "--entity-name", "x", "--add-config")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, *user, "producer_byte_rate=1")
    assert "ClusterAuthorizationException: Request" in desk.refused(CONFIGS, *user, "SCRAM-SHA-256=[password=abc]")
    desk.allow(AclOperation.DESCRIBE_CONFIGS)
    desk.allow(AclOperation.ALTER_CONFIGS)
    wait_until("a change", lambda: desk.run(CONFIGS, *change).status == 0)
    wait_until("the change's effect", lambda: "retention.ms=1000" in desk.told(CONFIGS, "--describe", *topic))


@pytest.mark.jdk
def test_the_acls_tool_is_told_of_missing_rights(desk: Desk) -> None:
    refused = "ClusterAuthorizationException: Request"
    entry = ("--allow-principal", "User:x", "--operation", "Read", "--topic", desk.seen)
    assert refused in desk.refused(ACLS, "--list")
    assert refused in desk.refused(ACLS, "--add", *entry)
    assert refused in desk.refused(ACLS, "--remove", "--force", *entry)


@pytest.mark.jdk
def test_the_console_producer_is_told_of_missing_rights(desk: Desk) -> None:
    hidden = desk.produced(desk.hidden, "lost\n")
    assert f"Not authorized to access topics: [{desk.hidden}]" in hidden
    # an idempotent producer gets no producer id while its user may write to no topic, those of other tests included
    unwritten = desk.produced(desk.seen, "lost\n")
    assert CLUSTER_REFUSED in unwritten or f"Not authorized to access topics: [{desk.seen}]" in unwritten
    desk.allow(AclOperation.WRITE)
    wait_until("a record", lambda: "ERROR" not in desk.produced(desk.seen, "kept\n"))


@pytest.mark.jdk
def test_the_console_consumer_is_told_of_missing_rights(desk: Desk) -> None:
    group = unique("rights")
    reading = ("--from-beginning", "--max-messages", "2", "--timeout-ms", "30000", "--topic")
    assert f"Not authorized to access topics: [{desk.hidden}]" in desk.told(CONSUMER, *reading, desk.hidden)
    alone = (*reading, desk.seen, "--partition", "0")
    assert f"Not authorized to access topics: [{desk.seen}]" in desk.told(CONSUMER, *alone)
    member = (*reading, desk.seen, "--group", group)
    assert f"Not authorized to access group: {group}" in desk.told(CONSUMER, *member)
    desk.allow(AclOperation.READ)
    wait_until("records without a group", lambda: desk.run(CONSUMER, *alone).stdout.split() == ["0", "1"])
    assert f"Not authorized to access group: {group}" in desk.told(CONSUMER, *member)
    desk.users.allow(ANN, AclOperation.READ, GROUP, group)
    wait_until("records of a group", lambda: desk.run(CONSUMER, *member).stdout.split() == ["0", "1"])


@pytest.mark.jdk
def test_the_transactions_tool_is_told_of_missing_rights(desk: Desk) -> None:
    own, foreign = unique("rights"), unique("rights")
    producers = []
    for name in (own, foreign):
        producer = Producer(desk.users.config(ADMIN, transactional_id=name))
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for topic in (desk.seen, desk.hidden):
            producer.produce(topic, "open", partition=0)
        assert producer.flush(PATIENCE_S) == 0
        producers.append(producer)

    def described(name: str) -> tuple[str, ...]:
        return ("describe", "--transactional-id", name)

    def producers_of(topic: str) -> tuple[str, ...]:
        return ("describe-producers", "--topic", topic, "--partition", "0")

    assert own not in desk.told(TRANSACTIONS, "list")
    assert "due to authorization failure" in desk.refused(TRANSACTIONS, *described(own))
    assert "due to authorization failure on topic" in desk.refused(TRANSACTIONS, *producers_of(desk.seen))
    assert "due to topic authorization failure" in desk.refused(TRANSACTIONS, *producers_of(desk.hidden))

    desk.users.allow(ANN, AclOperation.DESCRIBE, ID, own)
    desk.allow(AclOperation.READ)
    listed = wait_until("the transaction", lambda: text if own in (text := desk.told(TRANSACTIONS, "list")) else "")
    assert foreign not in listed
    told = desk.told(TRANSACTIONS, *described(own))
    assert f"{desk.seen}-0" in told
    assert desk.hidden not in told  # its other partition is left out
    assert "due to authorization failure" in desk.refused(TRANSACTIONS, *described(foreign))
    wait_until("its producers", lambda: desk.run(TRANSACTIONS, *producers_of(desk.seen)).status == 0)
    abort = ("abort", "--topic", desk.seen, "--partition", "0", "--start-offset", "2")
    assert "failed cluster authorization" in desk.refused(TRANSACTIONS, *abort)
    for producer in producers:
        producer.abort_transaction(PATIENCE_S)
