"""Administration through the Python libraries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.python_clients import KITS, Out, Settings, kafka, run_async
from tests.scenarios.target import Target, unique, wait_until


@pytest.fixture
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


def _partitions(admin: AdminClient, topic: str) -> int:
    found = admin.list_topics(timeout=60).topics
    return len(found[topic].partitions) if topic in found else 0


def test_topics_with_librdkafka(admin: AdminClient) -> None:
    name = unique("admin")
    assert admin.create_topics([NewTopic(name, 2)], validate_only=True)[name].result(60) is None
    assert _partitions(admin, name) == 0
    admin.create_topics([NewTopic(name, 2)])[name].result(60)
    wait_until("topic", lambda: _partitions(admin, name) == 2)
    with pytest.raises(KafkaException) as again:
        admin.create_topics([NewTopic(name, 2)])[name].result(60)
    assert again.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    admin.create_partitions([NewPartitions(name, 4)])[name].result(60)
    wait_until("more partitions", lambda: _partitions(admin, name) == 4)
    admin.delete_topics([name])[name].result(60)
    wait_until("deletion", lambda: _partitions(admin, name) == 0)
    with pytest.raises(KafkaException) as unknown:
        admin.delete_topics([name])[name].result(60)
    assert unknown.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_configs_with_librdkafka(admin: AdminClient, make_topic: MakeTopic) -> None:
    resource = ConfigResource(ResourceType.TOPIC, make_topic())
    entry = ConfigEntry("retention.ms", "12345", incremental_operation=AlterConfigOpType.SET)
    change = ConfigResource(ResourceType.TOPIC, resource.name, incremental_configs=[entry])
    admin.incremental_alter_configs([change])[change].result(60)

    def retention() -> str | None:
        found: str | None = admin.describe_configs([resource])[resource].result(60)["retention.ms"].value
        return found

    wait_until("changed", lambda: retention() == "12345")
    wrong = ConfigEntry("retention.ms", "soon", incremental_operation=AlterConfigOpType.SET)
    change = ConfigResource(ResourceType.TOPIC, resource.name, incremental_configs=[wrong])
    with pytest.raises(KafkaException) as refused:
        admin.incremental_alter_configs([change])[change].result(60)
    assert refused.value.args[0].code() == KafkaError.INVALID_CONFIG


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


def test_the_cluster_with_librdkafka(admin: AdminClient, broker: Target) -> None:
    found = admin.describe_cluster().result(60)
    assert len(found.nodes) == broker.nodes
    assert len(found.cluster_id) == 22
    assert found.controller is not None


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
