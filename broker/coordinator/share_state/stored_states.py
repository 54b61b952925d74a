"""The stored states of share partitions, and the records of `__share_group_state`. Only replay changes them.

A ShareSnapshot has the whole state; a ShareUpdate has what one write added. So the last record of a key is not enough
to rebuild the state: the topic is not compacted, but pruned before its oldest snapshot in use.

If two batches disagree on an offset, the one with the higher delivery count wins, then the one with the higher state:
more deliveries are newer, and a record never returns to an earlier state.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from operator import attrgetter
from struct import Struct
from typing import NamedTuple

from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored import share_snapshot, share_update
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from odradek.protocol.generated.stored.share_update import ShareUpdateKey, ShareUpdateValue
from odradek.protocol.message_codec import codec
from odradek.protocol.stored import UnknownRecordTypeError
from odradek.protocol.text_cache import text_cache

SNAPSHOT = b"\0\0"
UPDATE = b"\0\1"
"""The first bytes of the keys of the two record types."""

UNINITIALIZED = -1
"""The start offset of a share partition without fetches so far, and its count of completed records."""

_INT16 = Struct(">h")
_VERSION = b"\0\0"


class ShareState(NamedTuple):
    """The stored state of a share partition.

    `batches` are in order, without overlaps, none before `start_offset`. `delivery_complete_count`: how many records
    from `start_offset` on are completed. Times in milliseconds.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]
    create_ms: int
    write_ms: int


class ShareDelta(NamedTuple):
    """The content of one write. -1 as start offset or leader epoch keeps the stored one."""

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]


@text_cache(1 << 12)
def encode_key(kind: bytes, key: ShareKey) -> bytes:
    """The key of a snapshot or an update, behind its record type."""
    group = key.group_id.encode()
    return b"".join((kind, _INT16.pack(len(group)), group, key.topic_id, key.partition.to_bytes(4, "big", signed=True)))


@text_cache(1 << 12)
def decode_key(key: bytes) -> ShareKey:
    """The share partition that a key is about."""
    message: type[ShareSnapshotKey | ShareUpdateKey] = ShareSnapshotKey if key.startswith(SNAPSHOT) else ShareUpdateKey
    decoded = codec(message, 0).decode(key, 2)[0]
    return ShareKey(decoded.group_id, decoded.topic_id, decoded.partition)


def encode_snapshot(state: ShareState) -> bytes:
    """ShareSnapshotValue, behind its version."""
    value = ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
        create_timestamp=state.create_ms,
        write_timestamp=state.write_ms,
        state_batches=[share_snapshot.StateBatch(*batch) for batch in state.batches],
    )
    return _VERSION + codec(ShareSnapshotValue, 0).encode(value)


def decode_snapshot(value: bytes) -> ShareState:
    """The reverse of `encode_snapshot`."""
    _check_version(value)
    decoded = codec(ShareSnapshotValue, 0).decode(value, 2)[0]
    return ShareState(
        decoded.snapshot_epoch,
        decoded.state_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
        decoded.create_timestamp,
        decoded.write_timestamp,
    )


def encode_update(delta: ShareDelta) -> bytes:
    """ShareUpdateValue, behind its version."""
    value = ShareUpdateValue(
        snapshot_epoch=delta.snapshot_epoch,
        leader_epoch=delta.leader_epoch,
        start_offset=delta.start_offset,
        delivery_complete_count=delta.delivery_complete_count,
        state_batches=[share_update.StateBatch(*batch) for batch in delta.batches],
    )
    return _VERSION + codec(ShareUpdateValue, 0).encode(value)


def decode_update(value: bytes) -> ShareDelta:
    """The reverse of `encode_update`."""
    _check_version(value)
    decoded = codec(ShareUpdateValue, 0).decode(value, 2)[0]
    return ShareDelta(
        decoded.snapshot_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
    )


def _batches(stored: Iterable[share_snapshot.StateBatch | share_update.StateBatch]) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in stored
    )


def _check_version(value: bytes) -> None:
    if value[:2] != _VERSION:
        raise ProtocolError(f"not version 0 of a value of __share_group_state: {value[:16]!r}")


_FIRST = attrgetter("first_offset")
_LAST = attrgetter("last_offset")

Ranked = tuple[int, int, int, int]
"""First offset, last offset, delivery count, state: in the order in which batches are merged."""


def combine(stored: Sequence[StateBatch], new: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """Merge batches, from `start_offset` on (-1.

    All offsets). `stored` is in order and without overlaps, `new` need not be. Only stored batches near new ones are
    examined.
    """
    kept = list(stored[bisect_left(stored, start_offset, key=_LAST) :])
    kept[:1] = _from(kept[:1], start_offset)
    added = list(_from(new, start_offset))
    if not added:
        return kept
    low = bisect_left(kept, min(batch.first_offset for batch in added) - 1, key=_LAST)
    high = bisect_right(kept, max(batch.last_offset for batch in added) + 1, key=_FIRST)
    kept[low:high] = _merged([*kept[low:high], *added])
    return kept


def _from(batches: Iterable[StateBatch], start_offset: int) -> Iterator[StateBatch]:
    for batch in batches:
        if batch.first_offset >= start_offset:
            yield batch
        elif batch.last_offset >= start_offset:
            yield batch._replace(first_offset=start_offset)


def _merged(batches: Sequence[StateBatch]) -> list[StateBatch]:
    waiting: list[Ranked] = [(first, last, count, state) for first, last, state, count in batches]
    heapify(waiting)
    done: list[Ranked] = []
    one = heappop(waiting)
    while waiting:
        other = waiting[0]
        if not _touch(one, other):
            done.append(one)
            one = heappop(waiting)
            continue
        heappop(waiting)
        for piece in _pieces(one, other):
            heappush(waiting, piece)
        one = heappop(waiting)
    done.append(one)
    return [StateBatch(first, last, state, count) for first, last, count, state in done]


def _touch(one: Ranked, other: Ranked) -> bool:
    """Whether two batches, of which `one` comes first, overlap, or are adjacent with the same content."""
    return other[0] <= one[1] or (other[0] == one[1] + 1 and one[2:] == other[2:])


def _pieces(one: Ranked, other: Ranked) -> Iterator[Ranked]:
    """Combine two batches that overlap or are adjacent, into batches without overlaps."""
    first, last, count, state = one
    other_first, other_last, other_count, other_state = other
    if one[2:] == other[2:]:
        yield first, max(last, other_last), count, state
    elif other[2:] < one[2:]:
        yield one
        if other_last > last:
            yield last + 1, other_last, other_count, other_state
    else:
        if other_first > first:
            yield first, other_first - 1, count, state
        yield other
        if other_last < last:
            yield other_last + 1, last, count, state


_NO_EPOCH = -1


class StoredStates:
    """The state of each share partition. Owner: the machine.

    The highest epochs are kept beside the states, because a state may be created again with lower ones. `_updates`: the
    number of updates since the last snapshot. `_snapshots`: the offset of the last snapshot.
    """

    __slots__ = ("_leader_epochs", "_snapshots", "_state_epochs", "_updates", "states")

    def __init__(self) -> None:
        self.states: dict[ShareKey, ShareState] = {}
        self._leader_epochs: dict[ShareKey, int] = {}
        self._state_epochs: dict[ShareKey, int] = {}
        self._updates: dict[ShareKey, int] = {}
        self._snapshots: dict[ShareKey, int] = {}

    # -- reading

    def highest_leader_epoch(self, key: ShareKey) -> int:
        """The highest leader epoch stored, -1 without a state."""
        return self._leader_epochs.get(key, _NO_EPOCH)

    def highest_state_epoch(self, key: ShareKey) -> int:
        """The highest state epoch stored, -1 without a state."""
        return self._state_epochs.get(key, _NO_EPOCH)

    def updates_of(self, key: ShareKey) -> int:
        """The number of updates since the last snapshot."""
        return self._updates.get(key, 0)

    @property
    def oldest_snapshot(self) -> int:
        """The lowest offset among the last snapshots, 0 without any. Records before it are no longer needed."""
        return min(self._snapshots.values(), default=0)

    # -- changing

    def replay(self, record: LogRecord, updates_per_snapshot: int) -> None:
        """Apply a record. A snapshot restarts the count of updates."""
        key = decode_key(record.key)
        if record.key.startswith(UPDATE):
            if record.value is not None:
                self._update(key, record.decoded or decode_update(record.value))
        elif record.key.startswith(SNAPSHOT):
            self._snapshot(key, record, updates_per_snapshot)
        else:
            raise UnknownRecordTypeError(f"{record.key[:2].hex()} begins no key of the share coordinator")

    def _snapshot(self, key: ShareKey, record: LogRecord, updates_per_snapshot: int) -> None:
        if record.value is None:
            self.states.pop(key, None)
            for table in (self._leader_epochs, self._state_epochs, self._updates, self._snapshots):
                table.pop(key, None)
            return
        state: ShareState = record.decoded or decode_snapshot(record.value)
        self._note_epochs(key, state.leader_epoch, state.state_epoch)
        self.states[key] = state
        self._snapshots[key] = record.offset
        if self.updates_of(key) >= updates_per_snapshot:
            self._updates[key] = 0

    def _update(self, key: ShareKey, delta: ShareDelta) -> None:
        state = self.states.get(key)
        self._note_epochs(key, delta.leader_epoch, _NO_EPOCH)
        self._updates[key] = self.updates_of(key) + 1
        if state is None:
            # Its snapshot has been pruned away with a share partition that was deleted.
            self.states[key] = ShareState(
                delta.snapshot_epoch,
                0,
                delta.leader_epoch,
                delta.start_offset,
                delta.delivery_complete_count,
                delta.batches,
                0,
                0,
            )
            return
        start_offset = state.start_offset if delta.start_offset == -1 else delta.start_offset
        self.states[key] = state._replace(
            leader_epoch=state.leader_epoch if delta.leader_epoch == -1 else delta.leader_epoch,
            start_offset=start_offset,
            delivery_complete_count=delta.delivery_complete_count,
            batches=tuple(combine(state.batches, delta.batches, start_offset)),
        )

    def _note_epochs(self, key: ShareKey, leader_epoch: int, state_epoch: int) -> None:
        self._leader_epochs[key] = max(leader_epoch, self._leader_epochs.get(key, leader_epoch))
        if state_epoch >= 0:
            self._state_epochs[key] = max(state_epoch, self._state_epochs.get(key, state_epoch))
