"""What the log of one partition of `__share_group_state` says; changed by replay only."""

from __future__ import annotations

from odradek.broker.coordinator.share_state.batches import combine
from odradek.broker.coordinator.share_state.records import (
    SNAPSHOT,
    UPDATE,
    ShareDelta,
    ShareState,
    decode_key,
    decode_snapshot,
    decode_update,
)
from odradek.broker.partitions.share.states import ShareKey
from odradek.broker.runtime.machine import LogRecord

_NO_EPOCH = -1


class StoredStates:
    """The state of each share partition. Owner: the machine.

    The highest epochs are kept beside the states, as a state may be begun anew with lower ones. `_updates`: how many
    there were since the last snapshot, as far as they count. `_snapshots`: where the last one stands.
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
        """The highest leader epoch that was stored, -1 if there is no state."""
        return self._leader_epochs.get(key, _NO_EPOCH)

    def highest_state_epoch(self, key: ShareKey) -> int:
        """The highest state epoch that was stored, -1 if there is no state."""
        return self._state_epochs.get(key, _NO_EPOCH)

    def updates_of(self, key: ShareKey) -> int:
        """How many updates came since the last snapshot that there were enough of them for."""
        return self._updates.get(key, 0)

    @property
    def oldest_snapshot(self) -> int:
        """The lowest offset among the last snapshots, 0 without any: nobody needs what stands before it."""
        return min(self._snapshots.values(), default=0)

    # -- changing

    def replay(self, record: LogRecord, updates_per_snapshot: int) -> None:
        """Apply a record. With so many updates a snapshot follows, and counting begins anew."""
        key = decode_key(record.key)
        if record.key.startswith(UPDATE):
            if record.value is not None:
                self._update(key, record.decoded or decode_update(record.value))
        elif record.key.startswith(SNAPSHOT):
            self._snapshot(key, record, updates_per_snapshot)

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
