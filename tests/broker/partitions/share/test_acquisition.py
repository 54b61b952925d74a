"""What a fetch acquires. The expected ranges are those of a real Kafka in the same situations."""

from __future__ import annotations

from odradek.broker.partitions.share import acknowledgement
from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire, without
from odradek.broker.partitions.share.states import (
    ACCEPT,
    RECORD_LIMIT,
    RELEASE,
    AcknowledgementBatch,
    AcquiredRange,
    ShareSettings,
)
from tests.broker.partitions.share.logs import Group, Spans


def give_back(group: Group, *spans: tuple[int, int]) -> None:
    batches = [AcknowledgementBatch(first, last, [RELEASE]) for first, last in spans]
    acknowledgement.acknowledge(group.partition, "a", batches, group.now_ms)


def test_whole_batches_that_begin_within_the_limit() -> None:
    group = Group([(0, 9), (10, 19), (20, 24)])
    assert group.fetch("a", 3) == [(0, 9, 1)]
    assert group.fetch("a", 11) == [(10, 24, 1)]
    assert group.fetch("a", 11) == []


def test_ranges_are_cut_at_batches_when_they_are_long_enough() -> None:
    group = Group([(0, 0), (1, 1), (2, 4), (5, 5), (6, 6)])
    assert group.fetch("a", 100, batch_size=2) == [(0, 1, 1), (2, 4, 1), (5, 6, 1)]
    assert Group([(0, 1), (2, 3), (4, 4)]).fetch("a", 100, batch_size=4) == [(0, 3, 1), (4, 4, 1)]
    assert Group([(0, 1), (2, 3)]).fetch("a", 100, batch_size=4) == [(0, 3, 1)]


def test_so_many_records_come_as_the_member_wants() -> None:
    group = Group([(offset, offset) for offset in range(20)])
    assert [group.fetch("a", 9) for _ in range(3)] == [[(0, 8, 1)], [(9, 17, 1)], [(18, 19, 1)]]


def test_a_strict_limit_takes_part_of_a_batch() -> None:
    group = Group([(0, 9), (10, 11)])
    assert group.fetch("a", 3, mode=RECORD_LIMIT) == [(0, 2, 1)]
    assert group.fetch("b", 3, mode=RECORD_LIMIT) == [(3, 5, 1)]
    assert group.fetch("b", 100, mode=RECORD_LIMIT) == [(6, 9, 1), (10, 11, 1)]


def test_what_came_back_is_acquired_first_and_counted() -> None:
    group = Group([(0, 9), (10, 19)])
    group.fetch("a", 5)
    give_back(group, (2, 3), (7, 7))
    assert group.fetch("b", 100) == [(2, 3, 2), (7, 7, 2), (10, 19, 1)]


def test_no_more_than_the_limit_of_locks_is_in_flight() -> None:
    group = Group([(start, start + 29) for start in range(0, 180, 30)], ShareSettings(max_locks=100))
    assert group.fetch("a", 50) == [(0, 59, 1)]
    assert group.fetch("a", 50) == [(60, 119, 1)]
    assert group.fetch("a", 50) == []
    give_back(group, (10, 19))
    assert group.fetch("a", 50) == [(10, 19, 2)]


def test_at_the_limit_of_locks_what_came_back_is_acquired_again() -> None:
    group = Group([(start, start + 29) for start in range(0, 180, 30)], ShareSettings(max_locks=120))
    assert [group.fetch("a", 50) for _ in range(3)] == [[(0, 59, 1)], [(60, 119, 1)], []]
    give_back(group, (10, 19))
    assert group.fetch("b", 50) == [(10, 19, 2)]
    give_back(group, (0, 9))
    assert group.fetch("b", 4, mode=RECORD_LIMIT) == [(0, 3, 2)]


def test_the_last_delivery_is_of_one_record_alone() -> None:
    group = Group([(0, 3)], ShareSettings(delivery_limit=3))
    for _ in range(2):
        group.fetch("a", 10)
        give_back(group, *[(p.first_offset, p.last_offset) for p in group.partition.pieces() if p.member_id == "a"])
    counts = []
    for _ in range(20):
        ranges = group.fetch("a", 10)
        counts += [(taken.size, taken.delivery_count) for taken in ranges]
        give_back(group, *[(taken.first_offset, taken.last_offset) for taken in ranges])
    assert all(size == 1 for size, count in counts if count == 3)
    assert sum(1 for _, count in counts if count == 3) == 4
    assert group.partition.start_offset == 4


def test_a_batch_that_fails_again_and_again_comes_in_smaller_parts_and_with_nothing_else() -> None:
    """From the half of the delivery limit on (3 of 5), a half of the batch at a time (KIP-932)."""
    group = Group([(0, 9), (10, 19), (20, 24)], ShareSettings(delivery_limit=5))
    assert group.fetch("a", 5) == [(0, 9, 1)]
    assert group.fetch("a", 5) == [(10, 19, 1)]
    for count in (2, 3):
        give_back(group, (10, 19))
        assert group.fetch("a", 5) == [(10, 19, count)]
    give_back(group, (0, 9), (10, 19))
    got = [group.fetch("b", 100) for _ in range(5)]
    assert got == [[(0, 9, 2)], [(10, 14, 4)], [(15, 19, 4)], [(20, 24, 1)], []]


def test_each_delivery_of_a_bad_batch_halves_the_part_that_comes() -> None:
    group = Group([(0, 15)], ShareSettings(delivery_limit=10))
    got = []
    for _ in range(11):
        ((first, last, count),) = group.fetch("a", 100)
        got.append((first, last, count))
        give_back(group, (first, last))
    halves = [(0, 7, 6), (0, 3, 7), (0, 1, 8), (0, 0, 9), (0, 0, 10)]
    assert got == [*((0, 15, count) for count in range(1, 6)), *halves, (1, 1, 9)]


def test_a_strict_limit_holds_for_what_came_back_in_parts() -> None:
    group = Group([(0, 9), (10, 19)])
    group.fetch("a", 100)
    give_back(group, (1, 1), (3, 5), (7, 9), (10, 19))
    wanted = [group.fetch("b", count, mode=RECORD_LIMIT) for count in (3, 2, 4)]
    assert wanted == [[(1, 1, 2), (3, 4, 2)], [(5, 5, 2), (7, 7, 2)], [(8, 11, 2)]]


def test_a_member_that_wants_no_records_gets_none() -> None:
    group = Group([(0, 9)])
    assert acquire(group.partition, AcquireRequest("a", 0, fetch_offset=0), Spans(group.spans), group.now_ms) == []
    assert group.states() == []


def test_a_lock_holds_for_the_duration_of_the_group() -> None:
    group = Group([(0, 9), (10, 19)], ShareSettings(lock_duration_ms=100))
    assert group.partition.next_deadline_ms() is None
    group.fetch("a", 5)
    group.now_ms += 60
    group.fetch("a", 5)
    assert group.partition.next_deadline_ms() == 1_100
    assert [found for found, _ in acknowledgement.expire_locks(group.partition, 1_099)[0]] == []
    ((member, batch),) = acknowledgement.expire_locks(group.partition, 1_100)[0]
    assert (member, batch[:2]) == ("a", (0, 9))
    assert group.partition.next_deadline_ms() == 1_160


def test_records_of_aborted_transactions_are_done_and_not_given_out() -> None:
    group = Group([(0, 2), (3, 5), (6, 6), (7, 8)])
    group.aborted = [(3, 5)]
    assert group.fetch("a", 100) == [(0, 2, 1), (6, 8, 1)]
    accepted = [AcknowledgementBatch(0, 2, [ACCEPT]), AcknowledgementBatch(6, 8, [ACCEPT])]
    acknowledgement.acknowledge(group.partition, "a", accepted, group.now_ms)
    assert group.partition.start_offset == 9


def test_a_log_full_of_aborted_records_does_not_use_up_the_locks() -> None:
    group = Group([(start, start + 9) for start in range(0, 500, 10)], ShareSettings(max_locks=100))
    group.aborted = group.spans[:-1]
    got: list[AcquiredRange] = []
    for _ in range(60):
        got += group.fetch("a", 20)
    assert got == [(490, 499, 1)]


def test_records_that_the_log_has_lost_are_done() -> None:
    group = Group([(0, 9), (10, 19)])
    group.fetch("a", 10)
    give_back(group, (0, 9))
    group.spans = [(5, 9), (10, 19)]  # the log cleaner has taken 0 to 4
    assert group.fetch("b", 100) == [(5, 9, 2), (10, 19, 1)]
    assert group.states()[0] == (0, 4, "ARCHIVED", 1, "")
    assert group.partition.delivery_complete_count == 5
    accepted = [AcknowledgementBatch(5, 9, [ACCEPT]), AcknowledgementBatch(10, 19, [ACCEPT])]
    acknowledgement.acknowledge(group.partition, "b", accepted, group.now_ms)
    assert (group.partition.start_offset, group.partition.delivery_complete_count) == (20, 0)


def test_ranges_without_what_is_gone() -> None:
    ranges = [AcquiredRange(0, 9, 1), AcquiredRange(20, 29, 2)]
    assert without(ranges, [(0, 1), (5, 5), (9, 21)]) == [(2, 4, 1), (6, 8, 1), (22, 29, 2)]
    assert without(ranges, [(0, 40)]) == []


def test_the_batch_in_which_the_log_starts_comes_whole_while_others_are_in_flight() -> None:
    group = Group([(0, 4), (5, 9), (10, 14), (15, 19)])
    assert group.fetch("a", 5) == [(0, 4, 1)]
    group.partition.log_starts_at(12)
    assert group.fetch("a", 5) == [(10, 14, 1)]


def test_a_group_that_begins_within_a_batch_leaves_out_what_is_before() -> None:
    group = Group([(0, 4), (5, 9)])
    group.partition.log_starts_at(2)
    assert group.fetch("a", 5) == [(2, 9, 1)]
