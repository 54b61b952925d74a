"""Committed and pending offsets of the groups of one partition: durable state, changed by replay only."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.broker.coordinator.group.offset_records import (
    CommittedOffset,
    decode_offset_key,
    decode_offset_value,
)
from odradek.broker.runtime.machine import LogRecord

TopicPartition = tuple[str, int]
Offsets = dict[TopicPartition, CommittedOffset]


class StoredOffsets:
    """Committed offsets, and offsets pending in open transactions, by group.

    Owner: the group machine. Everything here can be rebuilt from the log, also from a compacted one: of two records for
    one offset the later one in the log wins, whether it is transactional or not.
    """

    def __init__(self) -> None:
        self.offsets: dict[str, Offsets] = {}
        self.pending: dict[int, dict[str, Offsets]] = {}

    # -- reading

    def offset(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The committed offset, None if there is none."""
        offsets = self.offsets.get(group_id)
        return None if offsets is None else offsets.get((topic, partition))

    def group_ids(self) -> list[str]:
        """Every group that has a committed or a pending offset."""
        ids = dict.fromkeys(self.offsets)
        for groups in self.pending.values():
            ids.update(dict.fromkeys(groups))
        return list(ids)

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction is about to commit this offset."""
        place = (topic, partition)
        return any(place in groups.get(group_id, ()) for groups in self.pending.values())

    def has_pending(self, group_id: str) -> bool:
        """Whether an open transaction is about to commit any offset of the group."""
        return any(group_id in groups for groups in self.pending.values())

    def pending_places(self, group_id: str) -> Iterator[TopicPartition]:
        """The topic partitions that open transactions are about to commit offsets of."""
        seen: dict[TopicPartition, None] = {}
        for groups in self.pending.values():
            seen.update(dict.fromkeys(groups.get(group_id, ())))
        yield from seen

    # -- changing

    def replay(self, record: LogRecord) -> None:
        """Apply a record of a committed offset."""
        group_id, topic, partition = decode_offset_key(record.key)
        place = (topic, partition)
        if record.value is None:
            self._remove_offset(group_id, place)
            return
        decoded = record.decoded
        if decoded is None:
            offset = decode_offset_value(record.value, record.offset)
        else:
            offset = CommittedOffset._make((*decoded, record.offset))
        if record.producer_id < 0:
            offsets = self.offsets.get(group_id)
            if offsets is None:
                offsets = self.offsets[group_id] = {}
            offsets[place] = offset
        else:
            self.pending.setdefault(record.producer_id, {}).setdefault(group_id, {})[place] = offset

    def replay_marker(self, producer_id: int, commit: bool) -> None:
        """A transaction ends: its pending offsets become committed, or vanish."""
        groups = self.pending.pop(producer_id, None)
        if groups is None or not commit:
            return
        for group_id, places in groups.items():
            offsets = self.offsets.setdefault(group_id, {})
            for place, offset in places.items():
                present = offsets.get(place)
                if present is None or present.record_offset < offset.record_offset:
                    offsets[place] = offset

    def _remove_offset(self, group_id: str, place: TopicPartition) -> None:
        offsets = self.offsets.get(group_id)
        if offsets is not None:
            offsets.pop(place, None)
            if not offsets:
                del self.offsets[group_id]
        for producer_id, groups in list(self.pending.items()):
            places = groups.get(group_id)
            if places is None or places.pop(place, None) is None:
                continue
            if not places:
                del groups[group_id]
            if not groups:
                del self.pending[producer_id]
