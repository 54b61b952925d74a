"""Acknowledgements: taken as a whole or not at all."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.share import acknowledgement
from odradek.broker.partitions.share.states import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    AcknowledgementBatch,
    RecordState,
    ShareSettings,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.partitions.share.logs import Group


def say(group: Group, *said: tuple[int, int, list[int]], member: str = "a") -> bool:
    batches = [AcknowledgementBatch(*each) for each in said]
    return acknowledgement.acknowledge(group.partition, member, batches, group.now_ms)


@pytest.fixture
def group() -> Group:
    made = Group([(0, 9), (10, 19)], ShareSettings(lock_duration_ms=100))
    made.fetch("a", 100)
    return made


def test_each_type_has_its_effect(group: Group) -> None:
    say(group, (0, 4, [ACCEPT, REJECT, GAP, RELEASE, ACCEPT]))
    assert group.states()[:3] == [
        (3, 3, "AVAILABLE", 1, ""),
        (4, 4, "ACKNOWLEDGED", 1, ""),
        (5, 19, "ACQUIRED", 1, "a"),
    ]
    assert group.partition.start_offset == 3


def test_what_is_stored_is_what_was_decided_before_the_start_moves(group: Group) -> None:
    say(group, (0, 9, [ACCEPT]))
    (write,) = group.coordinator.writes
    assert (write.start_offset, write.delivery_complete_count) == (0, 10)
    assert write.batches == [(0, 9, 2, 1)]
    assert group.partition.start_offset == 10


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([(0, 4, [ACCEPT]), (4, 6, [ACCEPT])], ErrorCode.INVALID_RECORD_STATE),
        ([(0, 4, [ACCEPT]), (15, 20, [ACCEPT])], ErrorCode.INVALID_REQUEST),
        ([(0, 4, [ACCEPT]), (30, 31, [ACCEPT])], ErrorCode.INVALID_REQUEST),
    ],
)
def test_nothing_happens_when_any_of_it_is_refused(
    group: Group, said: list[tuple[int, int, list[int]]], code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as caught:
        say(group, *said)
    assert caught.value.code is code
    assert all(state == "ACQUIRED" and member == "a" for _, _, state, _, member in group.states())
    assert group.partition.delivery_complete_count == 0
    assert group.coordinator.writes == []
    say(group, (0, 19, [ACCEPT]))
    assert group.partition.start_offset == 20


def test_only_what_lets_a_fetch_find_more_wakes_those_who_wait(group: Group) -> None:
    assert not say(group, (5, 5, [ACCEPT]))
    assert say(group, (0, 0, [ACCEPT]))
    assert say(group, (9, 9, [RELEASE]))
    assert not say(group, (7, 8, [REJECT]))


def test_types_count_from_the_first_offset_of_their_batch(group: Group) -> None:
    say(group, (12, 16, [ACCEPT, RELEASE, RELEASE, REJECT, ACCEPT]))
    assert [row[:3] for row in group.states()] == [
        (0, 11, "ACQUIRED"),
        (12, 12, "ACKNOWLEDGED"),
        (13, 14, "AVAILABLE"),
        (15, 15, "ARCHIVED"),
        (16, 16, "ACKNOWLEDGED"),
        (17, 19, "ACQUIRED"),
    ]


def test_who_answers_what_it_does_not_hold_is_told_so(group: Group) -> None:
    say(group, (3, 3, [RELEASE]))
    other = Group([(0, 9), (10, 19)])
    other.fetch("a", 10)
    for answers, member, told in (
        ((3, 4), "a", "The offset cannot be acknowledged. The offset is not acquired."),
        ((4, 5), "b", "Member is not the owner of offset"),
    ):
        with pytest.raises(KafkaError) as refused:
            say(group, (*answers, [ACCEPT]), member=member)
        assert refused.value.message == told
    with pytest.raises(KafkaError) as refused:
        say(other, (0, 9, [ACCEPT]), member="b")
    assert refused.value.message == "Member is not the owner of batch record"
    say(other, (0, 9, [RELEASE]))
    with pytest.raises(KafkaError) as refused:
        say(other, (0, 9, [ACCEPT]))
    assert refused.value.message == "The batch cannot be acknowledged. The batch is not in the acquired state."


def test_nothing_happens_when_it_cannot_be_stored(group: Group) -> None:
    group.coordinator.broken = True
    with pytest.raises(KafkaError, match="COORDINATOR_NOT_AVAILABLE"):
        say(group, (0, 4, [ACCEPT]), (5, 9, [RELEASE]))
    assert {state for _, _, state, _, _ in group.states()} == {"ACQUIRED"}
    assert group.fetch("b", 10) == []


def test_what_is_done_already_is_no_error(group: Group) -> None:
    say(group, (0, 9, [ACCEPT]))
    assert not say(group, (0, 9, [ACCEPT]))
    with pytest.raises(KafkaError, match="Member is not the owner"):
        say(group, (0, 12, [ACCEPT]), member="b")


def test_a_renewed_lock_holds_longer(group: Group) -> None:
    group.now_ms += 60
    say(group, (0, 2, [RENEW]))
    group.now_ms += 60
    found, error = acknowledgement.expire_locks(group.partition, group.now_ms)
    assert error is None
    assert {member for member, _ in found} == {"a"}
    assert min(batch.first_offset for _, batch in found) == 3
    assert group.states()[0] == (0, 2, "ACQUIRED", 1, "a")
    assert all(state == "AVAILABLE" for _, _, state, _, _ in group.states()[1:])
    assert group.fetch("b", 5) == [(3, 19, 2)]


def test_renewing_can_be_switched_off(group: Group) -> None:
    group.settings = ShareSettings(renew_enabled=False)
    with pytest.raises(KafkaError, match="Renewing acquisition locks is not enabled for the group"):
        say(group, (0, 9, [RENEW]))


def test_a_member_that_leaves_gives_back_what_it_holds_and_nothing_else(group: Group) -> None:
    say(group, (0, 0, [ACCEPT]), (5, 5, [RELEASE]))
    group.fetch("b", 1)
    assert acknowledgement.release(group.partition, "a")
    assert group.states() == [
        (1, 4, "AVAILABLE", 1, ""),
        (5, 5, "ACQUIRED", 2, "b"),
        (6, 19, "AVAILABLE", 1, ""),
    ]


def test_locks_run_out_even_if_that_cannot_be_stored(group: Group) -> None:
    group.coordinator.broken = True
    group.now_ms += 100
    found, error = acknowledgement.expire_locks(group.partition, group.now_ms)
    assert found
    assert error is not None
    assert group.fetch("b", 100) == [(0, 19, 2)]


def test_a_lock_over_the_start_of_the_log_gives_back_what_the_log_still_has(group: Group) -> None:
    group.partition.log_starts_at(5)
    group.now_ms += 100
    found, _ = acknowledgement.expire_locks(group.partition, group.now_ms)
    assert [batch for _, batch in found] == [(0, 4, RecordState.ARCHIVED, 1), (5, 19, RecordState.AVAILABLE, 1)]
    assert group.states() == [(5, 19, "AVAILABLE", 1, "")]
    assert (group.partition.start_offset, group.partition.delivery_complete_count) == (5, 0)


def test_answers_about_records_that_the_log_has_lost_are_no_error() -> None:
    group = Group([(0, 9), (10, 19), (20, 29)])
    for _ in range(3):
        group.fetch("a", 10)
    group.partition.log_starts_at(15)
    say(group, (0, 19, [ACCEPT]))
    (write,) = group.coordinator.writes
    assert (write.start_offset, write.delivery_complete_count, write.batches) == (15, 5, [(15, 19, 2, 1)])
    assert group.partition.start_offset == 20
    say(group, (5, 24, [ACCEPT]))
    assert group.partition.start_offset == 25
    assert not say(group, (5, 9, [ACCEPT]))


def test_a_hundred_thousand_records_are_answered_one_by_one() -> None:
    group = Group([(0, 99_999)], ShareSettings(max_locks=10_000))
    assert group.fetch("a", 10) == [(0, 99_999, 1)]
    for offset in range(99_999, 0, -9_999):
        say(group, (offset, offset, [ACCEPT]))
    for offset in range(5_000):
        say(group, (offset, offset, [ACCEPT]))
        assert len(group.partition.runs.peekitem(0)[1].pieces) < 30
    assert group.partition.start_offset == 5_000
