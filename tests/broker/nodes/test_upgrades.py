"""Nodes restart with another release of Kafka: what clients see of it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import odradek
from odradek.broker.nodes.upgrades import releases_of
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.storage.backend import StorageError
from odradek.wire_client import WireConnection
from tests.fakes.brokers import broker_fixture

FETCH, SHARE_FETCH = 1, 78
TOPIC, BROKER = 2, 4
LATER = "group.consumer.assignment.interval.ms"
"""A config that 4.4 has and 3.6 has not."""
old = broker_fixture(kafka_version="3.6", nodes=3, topics={"t": {"partitions": 3, "replication_factor": 3}})
"""Three nodes of Kafka 3.6."""


def connect(broker: odradek.KafkaBroker, node: int) -> WireConnection:
    return WireConnection("127.0.0.1", broker.nodes[node].port)


def api_versions(broker: odradek.KafkaBroker, node: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest("tests", "1")
    with connect(broker, node) as connection:
        answer: ApiVersionsResponse = connection.receive(request, 3, connection.send(request, 3))
    return answer


def highest(broker: odradek.KafkaBroker, node: int) -> dict[int, int]:
    return {each.api_key: each.max_version for each in api_versions(broker, node).api_keys}


def supported(broker: odradek.KafkaBroker, node: int) -> tuple[int, int]:
    told = {each.name: (each.min_version, each.max_version) for each in api_versions(broker, node).supported_features}
    return told["metadata.version"]


def configs(broker: odradek.KafkaBroker, node: int) -> dict[str, str | None]:
    request = DescribeConfigsRequest([DescribeConfigsResource(BROKER, str(node), None)])
    with connect(broker, node) as connection:
        answer = connection.receive(request, 1, connection.send(request, 1))
    return {each.name: each.value for each in answer.results[0].configs}


def update(broker: odradek.KafkaBroker, node: int, **levels: int) -> tuple[int, str | None]:
    """What UpdateFeatures v2 answers."""
    keys = [FeatureUpdateKey(name.replace("_", "."), level) for name, level in levels.items()]
    request = UpdateFeaturesRequest(1000, keys)
    with connect(broker, node) as connection:
        answer = connection.receive(request, 2, connection.send(request, 2))
    return answer.error_code, answer.error_message


def versions(broker: odradek.KafkaBroker) -> list[str]:
    return [node.release for node in broker.nodes.values()]


def test_one_node_is_of_the_newer_release(old: odradek.KafkaBroker) -> None:
    before = highest(old, 2)
    old.upgrade("4.4", node=2)
    assert versions(old) == ["3.6", "4.4", "3.6"]
    assert highest(old, 1) == highest(old, 3) == before
    assert SHARE_FETCH not in before
    assert highest(old, 2)[SHARE_FETCH] == 2
    assert highest(old, 2)[FETCH] == before[FETCH] + 3
    assert (supported(old, 1), supported(old, 2)) == ((1, 14), (7, 33))
    assert (LATER in configs(old, 1), LATER in configs(old, 2)) == (False, True)


def test_its_connections_end_and_others_lead(old: odradek.KafkaBroker) -> None:
    request = ApiVersionsRequest("tests", "1")
    with connect(old, 1) as kept, connect(old, 2) as cut:
        for each in (kept, cut):  # an answer says that the node has accepted the connection, not only the kernel
            each.receive(request, 3, each.send(request, 3))
        old.upgrade("4.4", node=2)
        assert kept.receive(request, 3, kept.send(request, 3)).error_code == ErrorCode.NONE
        with pytest.raises((ConnectionError, EOFError)):
            cut.receive(request, 3, cut.send(request, 3))
    assert 2 not in {partition.leader for partition in old.topics["t"].partitions}
    assert all(2 in partition.isr for partition in old.topics["t"].partitions if 2 in partition.replicas)


def test_levels_stay_until_they_are_upgraded(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    assert versions(old) == ["4.4"] * 3
    assert old.cluster.image.features == {"metadata.version": 14}
    assert update(old, 1, metadata_version=33) == (ErrorCode.NONE, None)
    assert old.cluster.image.features == {"metadata.version": 33}


def test_levels_wait_for_the_oldest_node(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4", node=1)
    old.upgrade("4.4", node=2)
    text = "The update failed for all features since the following feature had an error: Invalid update version"
    assert update(old, 1, metadata_version=33) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{text} 33 for feature metadata.version. Broker 3 only supports versions 1-14",
    )
    assert update(old, 1, group_version=1) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{text} 1 for feature group.version. Broker 3 does not support this feature.",
    )
    assert old.cluster.image.features == {"metadata.version": 14}


def test_a_cluster_has_the_defaults_of_its_oldest_node(old: odradek.KafkaBroker) -> None:
    def limit() -> int:
        return old.cluster.topics.by_name("t").partitions[0].log.config.message_timestamp_after_max_ms

    old.produce("t", b"one", partition=0)
    no_limit = limit()
    old.upgrade("4.4", node=1)
    old.upgrade("4.4", node=2)
    assert limit() == no_limit > 3_600_000
    old.upgrade("4.4", node=3)
    assert limit() == 3_600_000


def test_a_node_that_is_down_starts_as_the_newer_release(old: odradek.KafkaBroker) -> None:
    old.stop_node(3)
    old.upgrade("4.4", node=3)
    assert old.nodes[3].state == "down"
    old.start_node(3)
    assert supported(old, 3) == (7, 33)


def test_a_node_that_restarts_forgets_what_clients_have_used() -> None:
    """From 4.4 on the time to wait for a quota is an int at most; before, one that is longer wraps."""
    entry = EntryData([EntityData("client-id", None)], [OpData("consumer_byte_rate", 1e-9)])
    fetch = FetchRequest(max_wait_ms=0, topics=[FetchTopic("t", partitions=[FetchPartition(0)])])
    with odradek.KafkaBroker(kafka_version="4.3", nodes=2, topics={"t": 1}) as broker, broker.clock.stopped():
        with connect(broker, 1) as connection:
            request = AlterClientQuotasRequest([entry])
            connection.receive(request, 1, connection.send(request, 1))

        def told(node: int) -> int:
            with connect(broker, node) as connection:
                answer: FetchResponse = connection.receive(fetch, 11, connection.send(fetch, 11))
            return answer.throttle_time_ms

        longest = 2**31 - 1
        assert told(1) < longest
        broker.upgrade("4.4", node=1)
        assert told(1) == longest
        assert told(2) < longest


def test_single_nodes_are_upgraded_with_their_records() -> None:
    with odradek.KafkaBroker(kafka_version="3.6", topics={"t": 1}) as broker:
        broker.produce("t", b"one")
        broker.upgrade("4.4")
        broker.produce("t", b"two")
        assert [record.value for record in broker.records("t")] == [b"one", b"two"]
        assert SHARE_FETCH in highest(broker, 1)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda broker: broker.upgrade("4.9"), r"'4\.9'; it knows 2\.8, 3\.3, .*4\.4$"),
        (lambda broker: broker.upgrade("2.8"), "KRaft as a preview only"),
        (lambda broker: broker.upgrade("4.4", node=4), "no node 4: the cluster has 1, 2, 3"),
    ],
)
def test_what_there_is_not(call: Callable[[odradek.KafkaBroker], None], why: str, old: odradek.KafkaBroker) -> None:
    with pytest.raises(ValueError, match=why):
        call(old)
    assert versions(old) == ["3.6"] * 3


def test_a_frozen_node_cannot_restart(old: odradek.KafkaBroker) -> None:
    with old.freeze_node(2), pytest.raises(ValueError, match="node 2 is frozen"):
        old.upgrade("4.4")
    assert versions(old) == ["3.6"] * 3


def test_zookeeper_has_no_way_to_kraft() -> None:
    with odradek.KafkaBroker(kafka_version="2.8", nodes=2) as broker:
        broker.upgrade("3.9", node=2)
        assert highest(broker, 2)[FETCH] > highest(broker, 1)[FETCH]
        with pytest.raises(ValueError, match=r"no ZooKeeper mode of Kafka 4\.4"):
            broker.upgrade("4.4")


def test_older_software_needs_older_levels(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    old.upgrade("3.6", node=1)
    assert versions(old) == ["3.6", "4.4", "4.4"]
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    with pytest.raises(ValueError, match=r"support finalized version 33 of metadata\.version.* between 1 and 14, incl"):
        old.upgrade("3.6", node=1)
    assert versions(old) == ["4.4"] * 3


def test_a_snapshot_has_the_releases_of_its_time(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4", node=1)
    old.produce("t", b"one", partition=0)
    mixed = old.snapshot()
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    with old.fork() as newer:
        assert (versions(newer), newer.cluster.image.features) == (["4.4"] * 3, {"metadata.version": 33})
        assert [record.value for record in newer.records("t")] == [b"one"]
    old.restore(mixed)
    assert (versions(old), old.cluster.config.release.name) == (["4.4", "3.6", "3.6"], "3.6")
    assert (old.cluster.image.features, supported(old, 2)) == ({"metadata.version": 14}, (1, 14))


def test_a_reset_goes_back_to_the_release_of_the_start(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    old.reset(data=False)
    assert versions(old) == ["4.4"] * 3
    old.reset()
    assert {release.name for release in releases_of(old.cluster).values()} == {"3.6"}
    assert old.cluster.image.features == {"metadata.version": 14}
    assert (supported(old, 3), LATER in configs(old, 3)) == ((1, 14), False)


def test_data_directories_are_of_releases_that_keep_them(tmp_path: Path) -> None:
    with odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path, topics={"t": 1}) as broker:
        broker.produce("t", b"one")
        with pytest.raises(ValueError, match=r"data directories from Kafka 4\.3 on, not as Kafka 3\.6"):
            broker.upgrade("3.6")
        broker.upgrade("4.4")
        assert update(broker, 1, metadata_version=33, share_version=2) == (ErrorCode.NONE, None)
    with odradek.KafkaBroker(kafka_version="4.4", data_dir=tmp_path) as broker:
        assert [record.value for record in broker.records("t")] == [b"one"]
        assert broker.cluster.image.feature("share.version") == 2
    older = odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path)
    with pytest.raises(StorageError, match=r"metadata\.version 33"):
        older.start()


def test_a_directory_with_a_feature_that_the_release_has_not_is_refused(tmp_path: Path) -> None:
    with odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path) as broker:
        broker.upgrade("4.4")
        assert update(broker, 1, share_version=2) == (ErrorCode.NONE, None)
    older = odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path)
    with pytest.raises(StorageError, match=r"the metadata has share\.version 2, and this release supports 0 to 1"):
        older.start()
