"""Requests to the share coordinator, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.read_share_group_state import (
    PartitionData,
    ReadShareGroupStateRequest,
    ReadStateData,
)
from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases
from tests.fakes.wire_client import WireClient

NAMES = ["share_states", "wrong_share_states", "merged_batches", "snapshots", "share_keys"]


@pytest.mark.parametrize(("name", "release"), cases("share_conversations", NAMES))
def test_as_kafka_says_it(name: str, release: str) -> None:
    check_as_recorded(name, release)


def test_a_partition_that_is_named_twice_has_one_result_in_the_order_of_a_hash_map() -> None:
    ids = (bytes(15) + b"\1", bytes(15) + b"\2")
    asked = [[PartitionData(index, 0) for index in indexes] for indexes in ((2, 17, 2), (5,), (0,))]
    topics = [ReadStateData(topic_id, rows) for topic_id, rows in zip((ids[1], ids[0], ids[1]), asked, strict=True)]
    with KafkaBroker() as broker, WireClient(port=int(broker.bootstrap_servers.rpartition(":")[2])) as client:
        response = client.request(ReadShareGroupStateRequest("g", topics))
    found = [(topic.topic_id, [row.partition for row in topic.partitions]) for topic in response.results]
    assert found == [(ids[0], [5]), (ids[1], [0, 17, 2])]
