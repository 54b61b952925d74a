"""Who keeps the states of share partitions for their leaders: the share coordinator, or nobody.

`group.share.persister.class.name` decides. With the no-op persister a share group begins anew with each leader, as on
Kafka, which takes these two and no class of a user's.
"""

from __future__ import annotations

from typing import Any, Protocol

from odradek.broker.coordinator.share_state.commands import ReadState, ReadSummary, StateSummary
from odradek.broker.coordinator.share_state.stored_states import UNINITIALIZED
from odradek.broker.partitions.share.states import ShareKey, StoredState
from odradek.broker.runtime.machine import Command, R
from odradek.broker.runtime.replies import ReplySlot

_NOT_STORED = -1


class Persister(Protocol):
    """The store of states for leaders of share partitions and for the groups' coordinator."""

    def ask_about(self, command: Command[R]) -> R:
        """Carry out a `ShareCommand`; the coordinator's `KafkaError`."""

    def uncommitted(self, key: ShareKey) -> ReplySlot[None] | None:
        """An object to wait for until everything stored is on the replicas; None if it is."""


class NoOpPersister:
    """Kafka's `NoOpStatePersister`: accepts every state, and stores none."""

    def ask_about(self, command: Any) -> Any:
        if isinstance(command, ReadState):
            return StoredState(0, UNINITIALIZED, [])
        if isinstance(command, ReadSummary):
            return StateSummary(0, 0, UNINITIALIZED, _NOT_STORED)
        return None

    def uncommitted(self, key: ShareKey) -> ReplySlot[None] | None:
        return None
