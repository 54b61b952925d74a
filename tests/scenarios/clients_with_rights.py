"""What users of real clients see who have all, some or none of the rights that they need.

The Java client's part is in `java/scenarios/Rights.java`. Topics, groups and ids are each test's own, so that what is
granted for one counts for no other; `cho` is never granted anything.
"""

from __future__ import annotations

from collections.abc import Callable
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

from tests.scenarios.authorization import ADMIN, PASSWORD
from tests.scenarios.java_host import JavaHost, scenario_names
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


@pytest.fixture
def users(users_port: int) -> Users:
    return Users(f"127.0.0.1:{users_port}")


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


def test_producer(users: Users) -> None:
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


def test_consumer(users: Users) -> None:
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


def test_transactional_producer(users: Users) -> None:
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
def test_java(scenario: str, java: JavaHost, users: Users) -> None:
    java.begin(scenario_names("Rights"), users.bootstrap)
    result = java.scenario(scenario, users.bootstrap)
    assert result["ok"], result["error"]
