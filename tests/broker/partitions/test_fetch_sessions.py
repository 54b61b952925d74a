"""The cache of fetch sessions (KIP-227): epochs, membership, order, eviction."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.fetch_sessions import (
    EVICTION_MS,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    MAX_EPOCH,
    NO_SESSION,
    FetchItem,
    FetchSession,
    FetchSessionCache,
    asked_items,
    is_session_id,
)
from odradek.protocol.generated.messages.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from tests.fakes.data_plane import DataPlane
from tests.fakes.nodes import set_leader


def items(count: int, topic: str = "t") -> list[FetchItem]:
    return [FetchItem(topic, FetchPartition(index)) for index in range(count)]


def session(count: int = 2) -> FetchSession:
    found = FetchSessionCache(8).create(items(count), False, 0)
    assert found is not None
    return found


def test_epochs_go_round_to_1() -> None:
    each = session()
    each.epoch = MAX_EPOCH
    each.advance()
    assert each.epoch == 1


def test_a_request_adds_changes_and_forgets_partitions() -> None:
    each = session(2)
    changed = FetchTopic("t", partitions=[FetchPartition(1, fetch_offset=9), FetchPartition(5)])
    each.update([changed], [ForgottenTopic("t", partitions=[0, 44]), ForgottenTopic("other", partitions=[1])])
    assert list(each.items) == [("t", 1), ("t", 5)]
    assert each.items[("t", 1)].fetch_offset == 9


def test_an_idle_partition_is_one_with_nothing_to_read_or_tell() -> None:
    plane = DataPlane(nodes=2)
    partition = plane.cluster.create_topic("t", assignments={0: [1, 2]}).partitions[0]
    plane.produce("t", 3)
    item = FetchItem("t", FetchPartition(0, fetch_offset=3))
    assert not item.is_idle(1), "not resolved"
    item.partition = partition
    assert not item.is_idle(1), "the client was told nothing yet"
    item.note_answer(PartitionData(0, 0, 3, 3, 0), 0)
    assert item.is_idle(1)
    assert not item.is_idle(2)
    item.current_leader_epoch = 4
    assert not item.is_idle(1)
    item.current_leader_epoch = 0
    assert item.is_idle(1)
    plane.produce("t", 1)
    assert not item.is_idle(1)
    item.fetch_offset = 4
    item.note_answer(PartitionData(0, 0, 4, 4, 0), 0)
    partition.delete_records(2)
    assert not item.is_idle(1), "the log start moved"
    item.note_answer(PartitionData(0, 0, 4, 4, 2), 0)
    partition.delete()
    assert not item.is_idle(1)


def test_a_partition_whose_history_is_compared_is_never_idle() -> None:
    plane = DataPlane()
    item = FetchItem("t", FetchPartition(0))
    item.partition = plane.topic("t").partitions[0]
    item.note_answer(PartitionData(0, 0, 0, 0, 0), 0)
    assert item.is_idle(1)
    item.last_fetched_epoch = 0
    assert not item.is_idle(1)
    item.last_fetched_epoch = -1
    set_leader(plane.cluster, "t", 0, 1)
    assert item.is_idle(1)
    item.current_leader_epoch = 0
    assert not item.is_idle(1), "its leader epoch is older"


@pytest.mark.parametrize("by_id", [True, False])
def test_topics_go_by_their_id_or_their_name(by_id: bool) -> None:
    one, other = bytes(15) + b"\1", bytes(15) + b"\2"
    asked = [
        FetchTopic("t", one, [FetchPartition(0, fetch_offset=1), FetchPartition(0, fetch_offset=2)]),
        FetchTopic("t", other, [FetchPartition(0, fetch_offset=3)]),
    ]
    found = {item.topic: item.fetch_offset for item in asked_items(asked, by_id)}
    assert found == ({one: 2, other: 3} if by_id else {"t": 3})
    each = FetchSession(7, asked_items(asked, by_id), by_id, 0)
    each.update(asked[:1], [ForgottenTopic("t", other, [0])])
    assert {topic: item.fetch_offset for (topic, _), item in each.items.items()} == ({one: 2} if by_id else {})


def test_fetch_without_a_session_has_the_id_0_on_the_wire() -> None:
    assert (NO_SESSION, INITIAL_EPOCH, FINAL_EPOCH) == (0, 0, -1)
    parts = 0x7FFFFFFF // 8
    assert [is_session_id(each) for each in (-parts, 1 - parts, 0, 8 * parts - 1, 8 * parts)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_only_changes_have_to_be_answered() -> None:
    item = items(1)[0]
    assert item.note_answer(PartitionData(0, 0, 10, 10, 0), 0)
    assert not item.note_answer(PartitionData(0, 0, 10, 10, 0), 0)
    assert item.note_answer(PartitionData(0, 0, 10, 10, 0), 5)
    assert item.note_answer(PartitionData(0, 0, 11, 11, 0), 0)
    assert item.note_answer(PartitionData(0, 0, 11, 11, 3), 0)
    assert item.note_answer(PartitionData(0, 0, 11, 11, 3, EpochEndOffset(2, 5)), 0)
    assert item.note_answer(PartitionData(0, 0, 11, 11, 3, EpochEndOffset(0, 5)), 0)
    assert item.note_answer(PartitionData(0, 0, 11, 11, 3, preferred_read_replica=0), 0)
    assert not item.note_answer(PartitionData(0, 0, 11, 11, 3), 0)
    assert item.note_answer(PartitionData(0, 1, -1, -1, -1), 0)
    assert item.note_answer(PartitionData(0, 1, -1, -1, -1), 0), "an error is told every time"
    assert item.note_answer(PartitionData(0, 0, 11, 11, -1), 0), "and so is its end"


def opened(cache: FetchSessionCache, count: int, now_ms: int) -> list[FetchSession]:
    """A new session of so many partitions in each part of the cache that takes one."""
    made = [cache.create(items(count), False, now_ms) for _ in range(8)]
    return [each for each in made if each is not None]


def test_a_full_cache_gives_no_session_to_equals() -> None:
    cache = FetchSessionCache(16)
    assert len(opened(cache, 2, 0) + opened(cache, 2, 0)) == 16
    assert opened(cache, 9, EVICTION_MS) == []
    assert len(cache) == 16


def test_the_longest_unused_session_gives_way() -> None:
    cache = FetchSessionCache(16)
    first, second = opened(cache, 2, 0), opened(cache, 2, 0)
    for each in first:
        cache.resume(each.id, 1, False, EVICTION_MS)
    assert len(opened(cache, 1, EVICTION_MS + 1)) == 8
    assert [cache.find(each.id) for each in (*first, *second)] == [*first, *[None] * 8]


def test_a_settled_smaller_session_gives_way_to_a_larger_one() -> None:
    cache = FetchSessionCache(8)
    for each in opened(cache, 2, 0):
        cache.resume(each.id, 1, False, EVICTION_MS + 1)
    assert opened(cache, 2, EVICTION_MS + 1) == []
    assert len(opened(cache, 3, EVICTION_MS + 1)) == 8


@pytest.mark.parametrize(("slots", "granted"), [(4, 0), (8, 8), (20, 16), (100, 96)])
def test_each_of_eight_parts_has_an_eighth_of_the_slots(slots: int, granted: int) -> None:
    cache = FetchSessionCache(slots)
    made = [cache.create(items(1), False, 0) for _ in range(slots)]
    ids = [each.id for each in made if each is not None]
    assert len(set(ids)) == len(cache) == granted
    for session_id in ids:
        found = cache.find(session_id)
        assert found is not None
        cache.resume(session_id, 1, False, 0)
        cache.remove(session_id)
    assert len(cache) == 0
    assert cache.find(-5) is None


@pytest.mark.parametrize("session_id", [-1, 0, 2**31 - 2, 2**31 - 1])
def test_any_id_can_be_asked_for(session_id: int) -> None:
    assert FetchSessionCache(8).find(session_id) is None
