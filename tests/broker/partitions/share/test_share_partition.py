"""The share partition as a machine, against a model: whatever the order of members, time and reloads."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.partitions.share import acknowledgement
from odradek.broker.partitions.share.share_partition import SharePartition
from odradek.broker.partitions.share.states import (
    ACCEPT,
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    GAP,
    RECORD_LIMIT,
    REJECT,
    RELEASE,
    RENEW,
    AcknowledgementBatch,
    ShareSettings,
    StateBatch,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.partitions.share.logs import Coordinator, Group
from tests.fakes.examples import examples

MEMBERS = ("a", "b", "c")


class SharePartitionModel(RuleBasedStateMachine):
    """A model that knows for each offset who holds it until when, how often it was delivered, and whether it is done.

    It says what must hold of any implementation; which records a fetch gets is up to the machine.
    """

    @initialize(
        sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8),
        limit=st.integers(2, 5),
        locks=st.integers(5, 20),
    )
    def start(self, sizes: list[int], limit: int, locks: int) -> None:
        self.group = Group(settings=ShareSettings(lock_duration_ms=100, delivery_limit=limit, max_locks=locks))
        self.limit = limit
        self.held: dict[int, tuple[str, int]] = {}
        self.delivered: dict[int, int] = {}
        self.done: set[int] = set()
        for size in sizes:
            self.produce(size)

    @rule(size=st.integers(1, 7))
    def produce(self, size: int) -> None:
        end = self.group.spans[-1][1] + 1 if self.group.spans else 0
        self.group.spans.append((end, end + size - 1))

    @rule(
        member=st.sampled_from(MEMBERS),
        most=st.integers(1, 12),
        mode=st.integers(0, 1),
        batch_size=st.integers(1, 10),
    )
    def fetch(self, member: str, most: int, mode: int, batch_size: int) -> None:
        ranges = self.group.fetch(member, most, mode=mode, batch_size=batch_size)
        if mode == 1:
            assert sum(found.size for found in ranges) <= most
        start = self.group.partition.start_offset
        batch_of_start = next((first for first, last in self.group.spans if first <= start <= last), start)
        for found in ranges:
            assert found.first_offset >= batch_of_start, "delivered before the batch in which the log starts"
            for offset in range(max(found.first_offset, start), found.last_offset + 1):
                assert offset not in self.held, "acquired twice at once"
                assert offset not in self.done, "delivered after it was done"
                self.delivered[offset] = self.delivered.get(offset, 0) + 1
                # A reload forgets deliveries that nobody answered, so the count may start again lower, never higher.
                assert found.delivery_count <= self.delivered[offset]
                assert found.delivery_count <= self.limit, "delivered past its limit"
                self.delivered[offset] = found.delivery_count
                self.held[offset] = (member, self.group.now_ms + 100)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), broken=st.booleans())
    def answer(self, data: st.DataObject, broken: bool) -> None:
        first = data.draw(st.sampled_from(sorted(self.held)))
        member, _ = self.held[first]
        last = first
        while self.held.get(last + 1, ("", 0))[0] == member and data.draw(st.booleans()):
            last += 1
        kinds = st.sampled_from([GAP, ACCEPT, RELEASE, REJECT, RENEW])
        if data.draw(st.booleans()):
            types = [data.draw(kinds)]
        else:
            types = [data.draw(kinds) for _ in range(first, last + 1)]
        self.group.coordinator.broken = broken
        batch = AcknowledgementBatch(first, last, types)
        codes: list[ErrorCode] = []
        try:
            acknowledgement.acknowledge(self.group.partition, member, [batch], self.group.now_ms)
        except KafkaError as error:
            codes.append(error.code)
        self.group.coordinator.broken = False
        failed = bool(codes)
        assert not failed or (broken and codes == [ErrorCode.COORDINATOR_NOT_AVAILABLE])
        each = types * (last - first + 1) if len(types) == 1 else types
        for offset, kind in zip(range(first, last + 1), each, strict=True):
            if kind == RENEW:
                self.held[offset] = (member, self.group.now_ms + 100)
            elif not failed:
                self._give_back(offset, kind)

    def _give_back(self, offset: int, kind: int) -> None:
        del self.held[offset]
        if kind != RELEASE or self.delivered[offset] >= self.limit:
            self.done.add(offset)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def answer_for_others(self, data: st.DataObject) -> None:
        offset = data.draw(st.sampled_from(sorted(self.held)))
        before = self.fates()
        with pytest.raises(KafkaError) as caught:
            acknowledgement.acknowledge(
                self.group.partition, "stranger", [AcknowledgementBatch(offset, offset, [ACCEPT])], self.group.now_ms
            )
        assert caught.value.code is ErrorCode.INVALID_RECORD_STATE
        assert before == self.fates()

    def fates(self) -> list[tuple[int, str, int, str]]:
        """State, delivery count and member of each offset."""
        start = self.group.partition.start_offset
        return [
            (offset, state, count, member)
            for first, last, state, count, member in self.group.states()
            for offset in range(max(first, start), last + 1)
        ]

    @rule(member=st.sampled_from(MEMBERS))
    def leave(self, member: str) -> None:
        acknowledgement.release(self.group.partition, member)
        for offset in [offset for offset, (holder, _) in self.held.items() if holder == member]:
            self._give_back(offset, RELEASE)

    @rule(ms=st.integers(1, 120), broken=st.booleans())
    def wait(self, ms: int, broken: bool) -> None:
        self.group.now_ms += ms
        self.group.coordinator.broken = broken
        _, error = acknowledgement.expire_locks(self.group.partition, self.group.now_ms)
        self.group.coordinator.broken = False
        assert error is None or broken
        for offset in [offset for offset, (_, until) in self.held.items() if until <= self.group.now_ms]:
            self._give_back(offset, RELEASE)
        if error is not None:
            # What a record came to by time alone is not stored: only as far as it is does a reload know of it.
            self.reload()

    @rule()
    def reload(self) -> None:
        stored = self.group.coordinator
        self.group.reload()
        self.held.clear()
        for offset in range(stored.start_offset, self.group.spans[-1][1] + 1):
            count, state = stored.offsets.get(offset, (0, AVAILABLE))
            self.delivered[offset] = count
            if state == AVAILABLE:
                self.done.discard(offset)

    @rule(up_to=st.integers(0, 20))
    def log_starts_later(self, up_to: int) -> None:
        """DeleteRecords: what nobody holds and lies before is done."""
        spans = self.group.spans
        start = min(up_to, spans[-1][1])
        self.group.partition.log_starts_at(start)
        for offset in range(start):
            if offset not in self.held:
                self.done.add(offset)
        for offset in [offset for offset in self.held if offset < self.group.partition.start_offset]:
            del self.held[offset]
            self.done.add(offset)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "group"):
            return
        partition = self.group.partition
        done = 0
        seen: dict[int, tuple[str, int]] = {}
        for piece in partition.pieces():
            for offset in range(max(piece.first_offset, partition.start_offset), piece.last_offset + 1):
                if piece.state is ACQUIRED:
                    seen[offset] = (piece.member_id, piece.deadline_ms)
                elif piece.state in (ACKNOWLEDGED, ARCHIVED):
                    done += 1
                    assert offset in self.done
                else:
                    assert offset not in self.done
        assert seen == self.held
        assert partition.delivery_complete_count == done
        assert partition.next_deadline_ms() is not None or not self.held

    def teardown(self) -> None:
        """Nothing is lost: what nobody holds and is not done comes to somebody who goes on fetching and accepting."""
        if not hasattr(self, "group"):
            return
        everything = set(range(self.group.spans[-1][1] + 1))
        copy = Group(self.group.spans, self.group.settings)
        copy.coordinator = Coordinator()
        copy.coordinator.start_offset = self.group.coordinator.start_offset
        copy.coordinator.offsets = dict(self.group.coordinator.offsets)
        copy.reload()
        copy.partition.log_starts_at(self.group.partition.start_offset)
        got: set[int] = set()
        for _ in range(3 * len(everything) + 10):
            ranges = copy.fetch("x", 5)
            for found in ranges:
                got |= set(range(found.first_offset, found.last_offset + 1))
            batches = [AcknowledgementBatch(found.first_offset, found.last_offset, [ACCEPT]) for found in ranges]
            acknowledgement.acknowledge(copy.partition, "x", batches, copy.now_ms)
        missing = {offset for offset in everything - got if offset >= self.group.partition.start_offset} - self.done
        assert not missing, f"never delivered: {missing}"


SharePartitionModel.TestCase.settings = settings(max_examples=examples(100), stateful_step_count=30, deadline=None)
TestSharePartition = SharePartitionModel.TestCase


def test_stored_batches_with_holes_are_fetched_again() -> None:
    """Records that were in flight without an answer when the leader moved come first; what was answered does not."""
    group = Group([(0, 9), (10, 19), (20, 29)])
    group.partition.load(0, [StateBatch(5, 9, ACKNOWLEDGED, 1), StateBatch(15, 16, AVAILABLE, 2)])
    assert group.partition.next_fetch_offset() == 0
    assert group.fetch("a", 100) == [(0, 4, 1), (10, 14, 1), (15, 16, 3), (17, 29, 1)]


@pytest.mark.parametrize(
    ("mode", "limits", "got"),
    [
        (
            RECORD_LIMIT,
            (3, 3, 3, 2, 1, 1, 5),
            [
                [(0, 2, 1)],
                [(3, 4, 1), (10, 10, 1)],
                [(11, 13, 1)],
                [(14, 14, 1), (15, 15, 3)],
                [(16, 16, 3)],
                [(17, 17, 1)],
                [(18, 19, 1), (20, 22, 1)],
            ],
        ),
        (0, (1, 1, 1, 1, 1), [[(0, 4, 1)], [(10, 14, 1)], [(15, 16, 3)], [(17, 19, 1)], [(20, 29, 1)]]),
    ],
)
def test_holes_between_stored_batches_are_fetched_as_far_as_a_member_wants(
    mode: int, limits: tuple[int, ...], got: list[list[tuple[int, int, int]]]
) -> None:
    group = Group([(0, 9), (10, 19), (20, 29)])
    group.partition.load(0, [StateBatch(5, 9, ACKNOWLEDGED, 1), StateBatch(15, 16, AVAILABLE, 2)])
    assert [group.fetch("a", limit, mode=mode) for limit in limits] == got
    assert group.partition.start_offset == 0
    accepted = [AcknowledgementBatch(first, last, [ACCEPT]) for ranges in got for first, last, _ in ranges]
    acknowledgement.acknowledge(group.partition, "a", accepted, group.now_ms)
    assert group.partition.start_offset == (23 if mode else 30)


def test_a_log_that_loses_records_in_flight_keeps_the_account() -> None:
    """Those that were done no longer count as completed, and those held are done when their member is."""
    group = Group([(0, 9), (10, 19), (20, 29)])
    for _ in range(3):
        group.fetch("a", 10)
    accepted, released = [(10, 14), (22, 23)], [(15, 16), (20, 21)]
    said = [AcknowledgementBatch(*span, [ACCEPT]) for span in accepted]
    said += [AcknowledgementBatch(*span, [RELEASE]) for span in released]
    acknowledgement.acknowledge(group.partition, "a", said, group.now_ms)
    assert group.partition.delivery_complete_count == 7
    group.partition.log_starts_at(16)
    assert (group.partition.start_offset, group.partition.delivery_complete_count, group.partition.in_flight) == (
        16,
        2,
        14,
    )
    assert group.partition.next_fetch_offset() == 16
    acknowledgement.acknowledge(group.partition, "a", [AcknowledgementBatch(17, 19, [ACCEPT])], group.now_ms)
    assert (group.partition.start_offset, group.partition.delivery_complete_count) == (16, 5)
    assert group.fetch("b", 1) == [(16, 16, 2)]
    acknowledgement.acknowledge(group.partition, "b", [AcknowledgementBatch(16, 16, [ACCEPT])], group.now_ms)
    assert (group.partition.start_offset, group.partition.delivery_complete_count) == (20, 2)
    group.partition.log_starts_at(10)
    assert group.partition.start_offset == 20


def test_a_log_that_starts_behind_everything_in_flight_ends_it_when_its_members_are_done() -> None:
    group = Group([(0, 9)])
    group.partition.log_starts_at(3)
    assert (group.partition.start_offset, group.partition.end_offset, group.partition.in_flight) == (3, 3, 0)
    assert group.fetch("a") == [(3, 9, 1)]
    group.partition.log_starts_at(12)
    assert (group.partition.start_offset, group.partition.end_offset) == (12, 12)
    assert group.partition.next_fetch_offset() == 12


def test_a_copy_goes_on_where_the_share_partition_was() -> None:
    group = Group([(0, 9), (10, 19), (20, 29)], ShareSettings(lock_duration_ms=100))
    group.partition.load(0, [StateBatch(5, 9, ACKNOWLEDGED, 1), StateBatch(15, 16, AVAILABLE, 2)])
    group.fetch("a", 1)
    before, copied = group.states(), group.partition.snapshot()
    group.partition = SharePartition(lambda: group.settings, group.coordinator)
    group.partition.restore(copied)
    assert group.states() == before
    assert group.partition.next_deadline_ms() == 1_100
    assert [group.fetch("b", 1) for _ in range(2)] == [[(10, 14, 1)], [(15, 16, 3)]]
    group.partition.restore(SharePartition(lambda: group.settings, group.coordinator).snapshot())
    assert (group.states(), group.fetch("c")) == ([], [(0, 29, 1)])


def test_stored_batches_begin_anywhere() -> None:
    group = Group([(0, 4), (5, 9), (10, 14)])
    group.partition.load(3, [StateBatch(5, 9, ACKNOWLEDGED, 1)])
    assert group.partition.next_fetch_offset() == 3
    assert group.fetch("a", 100) == [(3, 4, 1), (10, 14, 1)]
    whole = SharePartition(lambda: ShareSettings(), Coordinator())
    whole.load(3, [StateBatch(3, 4, AVAILABLE, 1), StateBatch(5, 9, ACKNOWLEDGED, 1)])
    assert (whole.gap_window, whole.next_fetch_offset(), whole.start_offset) == (None, 3, 3)


@pytest.mark.parametrize(
    ("queues", "topic", "state"), [(True, "q", "ARCHIVING"), (True, "", "ARCHIVED"), (False, "q", "ARCHIVED")]
)
def test_records_that_are_given_up_wait_for_their_queue_if_there_is_one(queues: bool, topic: str, state: str) -> None:
    def give_up(batch: StateBatch, *, rejected: bool) -> None:
        raise AssertionError(batch)

    settings = ShareSettings(dead_letter_topic=topic)
    partition = SharePartition(lambda: settings, Coordinator(), give_up if queues else None)
    assert partition.last_state.name == state


def test_a_hole_before_the_start_of_the_log_is_not_fetched_again() -> None:
    group = Group([(0, 4), (5, 9), (10, 11), (12, 14), (15, 19)])
    group.partition.load(0, [StateBatch(5, 9, ACKNOWLEDGED, 1), StateBatch(15, 16, AVAILABLE, 2)])
    group.partition.log_starts_at(12)
    assert group.partition.next_fetch_offset() == 12
    assert group.fetch("a", 100) == [(12, 14, 1), (15, 16, 3), (17, 19, 1)]


def test_the_count_of_done_records_is_stored_as_far_as_the_record_can_hold_it() -> None:
    """Whoever writes share states can store a batch of any size."""
    coordinator = Coordinator()
    partition = SharePartition(lambda: ShareSettings(), coordinator)
    partition.delivery_complete_count = 1 << 40
    partition.write([])
    assert [write.delivery_complete_count for write in coordinator.writes] == [(1 << 31) - 1]


def test_stored_batches_must_not_overlap() -> None:
    partition = SharePartition(lambda: ShareSettings(), Coordinator())
    with pytest.raises(ValueError, match="overlap"):
        partition.load(3, [StateBatch(2, 4, ACKNOWLEDGED, 1)])
