"""What share partitions are tested with: a log that is only spans of batches, and a share coordinator in memory."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire
from odradek.broker.partitions.share.share_partition import SharePartition, StateWrite
from odradek.broker.partitions.share.states import AcquiredRange, ShareSettings, StateBatch
from odradek.protocol.errors import ErrorCode, KafkaError


class Spans:
    """Batches of a log, by first and last offset; some of them of aborted transactions."""

    def __init__(self, spans: Sequence[tuple[int, int]], aborted: Sequence[tuple[int, int]] = ()) -> None:
        self._spans = spans
        self._aborted = aborted
        self._seen = 0

    def reach(self, offset: int) -> int:
        while self._seen < len(self._spans) and (not self._seen or self._spans[self._seen - 1][1] < offset):
            self._seen += 1
        return self._spans[self._seen - 1][1] if self._seen else -1

    @property
    def base_offset(self) -> int:
        return self._spans[0][0]

    def bases(self) -> list[int]:
        return [first for first, _ in self._spans[: self._seen]]

    def last_offset_with(self, offset: int) -> int:
        self.reach(offset)
        return next((last for first, last in self._spans if first <= offset <= last), offset)

    def aborted(self) -> list[tuple[int, int]]:
        return [span for span in self._aborted if span in self._spans[: self._seen]]


class Coordinator:
    """Stores per offset what a share partition writes; ``broken`` refuses."""

    def __init__(self) -> None:
        self.start_offset = 0
        self.offsets: dict[int, tuple[int, int]] = {}
        self.writes: list[StateWrite] = []
        self.broken = False

    def __call__(self, write: StateWrite) -> None:
        if self.broken:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self.writes.append(write)
        self.start_offset = write.start_offset
        for first, last, state, count in write.batches:
            for offset in range(first, last + 1):
                self.offsets[offset] = max(self.offsets.get(offset, (0, 0)), (count, state))

    def batches(self) -> list[StateBatch]:
        """What a reload reads."""
        rows = sorted((offset, *found) for offset, found in self.offsets.items() if offset >= self.start_offset)
        return [StateBatch(offset, offset, state, count) for offset, count, state in rows]


class Group:
    """A share partition with its log and its coordinator, and the time."""

    def __init__(self, spans: Sequence[tuple[int, int]] = (), settings: ShareSettings | None = None) -> None:
        self.spans = list(spans)
        self.aborted: list[tuple[int, int]] = []
        self.settings = settings or ShareSettings()
        self.coordinator = Coordinator()
        self.now_ms = 1_000
        self.partition = SharePartition(lambda: self.settings, self.coordinator)

    def fetch(
        self, member: str, max_records: int = 500, *, mode: int = 0, batch_size: int = 500
    ) -> list[AcquiredRange]:
        """What a member acquires of all that the log has from the next fetch offset on."""
        partition = self.partition
        if not partition.can_acquire():
            return []
        offset = partition.next_fetch_offset()
        spans = [span for span in self.spans if span[1] >= offset]
        request = AcquireRequest(member, max_records, batch_size, mode, offset)
        return acquire(partition, request, Spans(spans, self.aborted), self.now_ms)

    def reload(self) -> None:
        """The leader moves: only what was stored is left."""
        self.partition = SharePartition(lambda: self.settings, self.coordinator)
        self.partition.load(self.coordinator.start_offset, self.coordinator.batches())

    def states(self) -> list[tuple[int, int, str, int, str]]:
        """What is in flight: first and last offset, state, delivery count, member."""
        return [
            (piece.first_offset, piece.last_offset, piece.state.name, piece.delivery_count, piece.member_id)
            for piece in self.partition.pieces()
        ]
