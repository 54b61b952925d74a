"""Topics, configuration and cluster as the admin clients of the Python libraries see and change them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tests.conformance.real_kafka import RELEASE
from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.python_clients import KITS, Out, Settings, kafka, run_async
from tests.scenarios.target import Target, unique, wait_until


@pytest.fixture
def admin(broker: Target) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})


def outcome(futures: Any) -> dict[str, tuple[int, str] | None]:
    """What became of each: None or (error code, message)."""
    found: dict[str, tuple[int, str] | None] = {}
    for key, future in futures.items():
        name = key if isinstance(key, str) else getattr(key, "name", str(key))
        try:
            future.result(60)
            found[name] = None
        except KafkaException as error:
            found[name] = (error.args[0].code(), error.args[0].str())
    return found


def configs(admin: AdminClient, kind: str, name: str) -> dict[str, Any]:
    resource = ConfigResource(kind, name)
    return dict(admin.describe_configs([resource])[resource].result(60))


def change(admin: AdminClient, kind: str, name: str, *entries: ConfigEntry) -> tuple[int, str] | None:
    resource = ConfigResource(kind, name, incremental_configs=list(entries))
    return outcome(admin.incremental_alter_configs([resource]))[name]


def entry(name: str, operation: AlterConfigOpType, value: str | None = None) -> ConfigEntry:
    return ConfigEntry(name, value, incremental_operation=operation)


def described(admin: AdminClient, name: str) -> Any:
    """The topic's description, or None while the broker does not know it (real Kafka: for a moment)."""
    try:
        found = admin.describe_topics(TopicCollection([name]))[name].result(60)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise
        return None
    return found if all(partition.leader is not None for partition in found.partitions) else None


def test_topics_come_grow_and_go(admin: AdminClient) -> None:
    name = unique("t")
    assert outcome(admin.create_topics([NewTopic(name, 2, 1, config={"retention.ms": "5"})])) == {name: None}
    topic = wait_until("the topic", lambda: described(admin, name))
    assert [(p.id, len(p.replicas), p.leader is not None) for p in topic.partitions] == [(0, 1, True), (1, 1, True)]
    assert outcome(admin.create_partitions([NewPartitions(name, 4)])) == {name: None}
    wait_until("more partitions", lambda: (found := described(admin, name)) and len(found.partitions) == 4)
    assert outcome(admin.delete_topics([name])) == {name: None}
    wait_until("the end", lambda: name not in admin.list_topics(timeout=60).topics)
    assert outcome(admin.create_topics([NewTopic(name, 1, 1)])) == {name: None}
    again = wait_until("the new topic", lambda: described(admin, name))
    assert str(again.topic_id) != str(topic.topic_id)


@pytest.mark.parametrize(
    ("topic", "code", "message"),
    [
        (NewTopic("a b", 1, 1), 17, "Topic name is invalid: 'a b' contains one or more characters other than"),
        (NewTopic("many-replicas", 1, 99), 38, "Unable to replicate the partition 99 time(s): The target replication"),
        (NewTopic("odd", 1, 1, config={"x": "1"}), 40, "Unknown topic config name: x"),
        (
            NewTopic("odd", 1, 1, config={"retention.ms": "soon"}),
            40,
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
    ],
    ids=["name", "replicas", "config", "value"],
)
def test_topics_that_cannot_be(admin: AdminClient, topic: NewTopic, code: int, message: str) -> None:
    [refused] = outcome(admin.create_topics([topic])).values()
    assert refused is not None
    assert refused[0] == code
    assert refused[1].startswith(message)


def test_validation_creates_nothing(admin: AdminClient) -> None:
    name = unique("t")
    assert outcome(admin.create_topics([NewTopic(name, 1, 1)], validate_only=True)) == {name: None}
    assert name not in admin.list_topics(timeout=60).topics


def test_existing_and_missing_topics(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic()
    assert outcome(admin.create_topics([NewTopic(name, 1, 1)])) == {name: (36, f"Topic '{name}' already exists.")}
    assert outcome(admin.create_partitions([NewPartitions(name, 1)])) == {
        name: (37, "Topic already has 1 partition(s).")
    }
    missing = unique("t")
    refused = outcome(admin.delete_topics([missing]))[missing]
    assert refused is not None
    assert refused[0] == 3


def test_topic_settings_and_where_they_come_from(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic(retention_ms="1000")
    found = configs(admin, "topic", name)
    assert (found["retention.ms"].value, found["retention.ms"].source) == (
        "1000",
        ConfigSource.DYNAMIC_TOPIC_CONFIG.value,
    )
    assert (found["segment.bytes"].value, found["segment.bytes"].is_default) == ("1073741824", True)
    assert [s.name for s in found["segment.bytes"].synonyms.values()] == ["log.segment.bytes"]
    assert len(found) == {"4.3": 33, "4.4": 37}[RELEASE]


def test_settings_change_one_by_one(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic()
    done = change(
        admin,
        "topic",
        name,
        entry("retention.ms", AlterConfigOpType.SET, "5"),
        entry("cleanup.policy", AlterConfigOpType.APPEND, "compact"),
    )
    assert done is None
    wait_until("the settings", lambda: configs(admin, "topic", name)["retention.ms"].value == "5")
    assert configs(admin, "topic", name)["cleanup.policy"].value == "delete,compact"
    assert change(admin, "topic", name, entry("cleanup.policy", AlterConfigOpType.SUBTRACT, "delete")) is None
    assert change(admin, "topic", name, entry("retention.ms", AlterConfigOpType.DELETE)) is None
    wait_until("the settings", lambda: configs(admin, "topic", name)["retention.ms"].value != "5")
    assert configs(admin, "topic", name)["cleanup.policy"].value == "compact"


def test_settings_that_are_refused(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic()
    assert change(admin, "topic", name, entry("x", AlterConfigOpType.SET, "1")) == (40, "Unknown topic config name: x")
    assert change(admin, "topic", name, entry("retention.ms", AlterConfigOpType.SET, "soon")) == (
        40,
        "Invalid value soon for configuration retention.ms: Not a number of type LONG",
    )
    assert change(admin, "topic", name, entry("retention.ms", AlterConfigOpType.APPEND, "1")) == (
        40,
        "Can't APPEND to key retention.ms because its type is not LIST.",
    )
    missing = unique("t")
    assert change(admin, "topic", missing, entry("retention.ms", AlterConfigOpType.SET, "1")) == (
        3,
        f"The topic '{missing}' does not exist.",
    )


def test_a_broker_describes_itself(admin: AdminClient) -> None:
    node = min(admin.list_topics(timeout=60).brokers)
    found = configs(admin, "broker", str(node))
    assert found["node.id"].value == str(node)
    assert found["node.id"].is_read_only
    assert not found["log.retention.ms"].is_read_only
    assert found["ssl.keystore.password"].is_sensitive
    assert found["ssl.keystore.password"].value is None
    refused = change(admin, "broker", str(node), entry("node.id", AlterConfigOpType.SET, "7"))
    assert refused == (42, "Cannot update these configs dynamically: [node.id]")


def test_a_changed_broker_default_shows_in_topics(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic()
    node = str(min(admin.list_topics(timeout=60).brokers))
    own = entry("log.cleaner.delete.retention.ms", AlterConfigOpType.SET, "12345")
    assert change(admin, "broker", node, own) is None
    wait_until("the default", lambda: configs(admin, "topic", name)["delete.retention.ms"].value == "12345")
    undone = entry("log.cleaner.delete.retention.ms", AlterConfigOpType.DELETE)
    assert change(admin, "broker", node, undone) is None
    wait_until("the old default", lambda: configs(admin, "topic", name)["delete.retention.ms"].value == "86400000")


def test_describe_cluster_tells_nodes_and_authorized_operations(admin: AdminClient, broker: Target) -> None:
    cluster = admin.describe_cluster(include_authorized_operations=True).result(60)
    assert len(cluster.cluster_id) == 22
    assert len(cluster.nodes) == broker.nodes
    assert cluster.controller.id in [node.id for node in cluster.nodes]
    assert f"{cluster.nodes[0].host}:{cluster.nodes[0].port}" == broker.bootstrap
    assert {operation.name for operation in cluster.authorized_operations} == {
        "CREATE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
    }


def test_an_election_that_is_not_needed(admin: AdminClient, make_topic: MakeTopic) -> None:
    name = make_topic()
    result = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(name, 0)]).result(60)
    assert [error.code() for error in result.values()] == [84]


def test_offsets_and_records_with_librdkafka(admin: AdminClient, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    KITS[0].produce(bootstrap, topic, [Out(b"x", timestamp=1000 + n) for n in range(6)], Settings())
    place = TopicPartition(topic, 0)

    def listed(spec: OffsetSpec) -> int:
        found: int = admin.list_offsets({place: spec})[place].result(60).offset
        return found

    assert listed(OffsetSpec.latest()) == 6
    assert listed(OffsetSpec.max_timestamp()) == 5
    assert listed(OffsetSpec.for_timestamp(1003)) == 3
    before = TopicPartition(topic, 0, 4)
    assert admin.delete_records([before])[before].result(60).low_watermark == 4
    assert listed(OffsetSpec.earliest()) == 4


def test_administration_with_kafka_python(bootstrap: str) -> None:
    from kafka.admin import NewPartitions as MorePartitions
    from kafka.admin import NewTopic as Topic
    from kafka.errors import TopicAlreadyExistsError

    name = unique("admin")
    client = kafka.KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        client.create_topics([Topic(name, 1, 1)])
        with pytest.raises(TopicAlreadyExistsError):
            client.create_topics([Topic(name, 1, 1)])
        client.create_partitions({name: MorePartitions(3)})
        described = wait_until("partitions", lambda: _three(client.describe_topics([name])))
        assert described[0]["name"] == name
        assert name in client.list_topics()
        assert client.describe_cluster()["cluster_id"]
        client.delete_topics([name])
        wait_until("deletion", lambda: name not in client.list_topics())
    finally:
        client.close()


def _three(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return described if len(described[0]["partitions"]) == 3 else []


def test_administration_with_aiokafka(bootstrap: str) -> None:
    from aiokafka.admin import AIOKafkaAdminClient, NewTopic
    from aiokafka.errors import TopicAlreadyExistsError, for_code

    name = unique("admin")

    async def administer() -> None:
        client = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await client.start()
        try:
            created = await client.create_topics([NewTopic(name, 2, 1)])
            assert [error[1] for error in created.topic_errors] == [0]
            again = await client.create_topics([NewTopic(name, 2, 1)])
            assert [for_code(error[1]) for error in again.topic_errors] == [TopicAlreadyExistsError]
            for _ in range(1000):  # a real Kafka lists it a moment after the answer
                if name in await client.list_topics():
                    break
                await asyncio.sleep(0.02)
            assert name in await client.list_topics()
            await client.delete_topics([name])
        finally:
            await client.close()

    run_async(administer())
