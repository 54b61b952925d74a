"""The epoch of the first member of consumer and share groups, as real brokers of the releases told it."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.wire_client import WireConnection


@pytest.mark.parametrize(
    ("version", "with_topics", "without"), [("4.0", 1, 1), ("4.1", 1, 1), ("4.2", 1, 1), ("4.3", 2, 1), ("4.4", 2, 1)]
)
def test_epochs_of_consumer_groups_are_those_of_the_release(version: str, with_topics: int, without: int) -> None:
    with KafkaBroker(kafka_version=version, topics={"t": 1}) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            epochs = []
            for group, topics in (("g", ["t"]), ("h", [])):
                find = FindCoordinatorRequest(group)
                assert connection.receive(find, 2, connection.send(find, 2)).error_code == 0
                joins = ConsumerGroupHeartbeatRequest(group, "m", rebalance_timeout_ms=60_000)
                joins.subscribed_topic_names, joins.topic_partitions = topics, []
                epochs.append(connection.receive(joins, 1, connection.send(joins, 1)).member_epoch)
        assert not broker.bugs
    assert epochs == [with_topics, without]


@pytest.mark.parametrize(("version", "epoch"), [("4.2", 1), ("4.3", 2), ("4.4", 2)])
def test_epochs_of_share_groups_are_those_of_the_release(version: str, epoch: int) -> None:
    with KafkaBroker(kafka_version=version, topics={"t": 1}) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            find = FindCoordinatorRequest("g")
            assert connection.receive(find, 2, connection.send(find, 2)).error_code == 0
            joins = ShareGroupHeartbeatRequest("g", "AAAAAAAAAAAAAAAAAAAAAQ", subscribed_topic_names=["t"])
            assert connection.receive(joins, 1, connection.send(joins, 1)).member_epoch == epoch
        assert not broker.bugs
