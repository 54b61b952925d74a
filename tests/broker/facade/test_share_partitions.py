"""What Python users see of the records of a share group."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.broker.facade.share_partitions import SharePartitionInfo
from odradek.broker.facade.threaded import KafkaBroker
from tests.scenarios.share_conversations import ShareConversation


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker() as started:
        yield started
        assert started.bugs == []


@pytest.fixture
def talk(broker: KafkaBroker) -> Iterator[ShareConversation]:
    host, port = broker.bootstrap_servers.split(":")
    conversation = ShareConversation(host, int(port))
    conversation.share_coordinator()
    conversation.configured(share_auto_offset_reset="earliest")
    yield conversation
    conversation.close()


@pytest.mark.long
def test_records_by_state_and_deliveries(broker: KafkaBroker, talk: ShareConversation) -> None:
    group = broker.group(talk.group)
    assert group.share_partitions == {}
    talk.joined(early=False)
    talk.produce(10)
    talk.fetch_shared("m1", 0, {0: []})
    assert group.share_partitions == {
        (talk.topic, 0): SharePartitionInfo(0, 10, {"acquired": 10}, {"acquired": {1: 10}}, {"m1": 10})
    }
    talk.acknowledge("m1", 1, {0: [(0, 1, [1]), (4, 4, [3]), (7, 8, [2])]})
    talk.fetch_shared("m1", 2, max=1, mode=1)
    seen = group.share_partitions[talk.topic, 0]
    assert (seen.start_offset, seen.end_offset) == (2, 10)
    assert seen.records == {"acquired": 6, "archived": 1, "available": 1}
    assert seen.deliveries == {"acquired": {1: 5, 2: 1}, "archived": {1: 1}, "available": {1: 1}}
    assert seen.held == {"m1": 6}


def test_a_group_without_records_in_flight(broker: KafkaBroker, talk: ShareConversation) -> None:
    talk.joined(early=False)
    talk.fetch_shared("m1", 0, {0: []}, wait=10)
    assert broker.group(talk.group).share_partitions == {(talk.topic, 0): SharePartitionInfo(0, 0, {}, {}, {})}
