"""What every group is to the machine that owns the groups of a partition, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
    from odradek.broker.coordinator.group.group_type import GroupType
    from odradek.broker.coordinator.group.offset_records import CommittedOffset
    from odradek.broker.runtime.machine import Effect, NewRecord

ExpiryBasis = Callable[["CommittedOffset"], int]
"""From when the retention of an offset counts: milliseconds since the epoch."""


class Group(Protocol):
    """One group, of whatever kind. The `check_` methods raise the `KafkaError` that the asker gets."""

    group_id: str

    @property
    def group_type(self) -> GroupType:
        """Its kind."""

    @property
    def state_name(self) -> str:
        """Kafka's name of its state, such as `Stable`."""

    @property
    def protocol_type(self) -> str | None:
        """The protocol type that ListGroups shows; None for a group of offsets only."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def expires(self) -> bool:
        """Whether it is deleted when it is empty and its last offset has expired."""

    def is_in_state(self, names: Collection[str]) -> bool:
        """Whether its state is one of these, given in lower case."""

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic: its offsets are then neither deleted nor expired."""

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """OffsetCommit; returns what the commit causes besides, such as a session that goes on."""

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """TxnOffsetCommit."""

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """OffsetFetch by a member; None and -1 from version 9 on, where it names none, and in older versions."""

    def check_delete_offsets(self) -> None:
        """OffsetDelete, before each topic is checked by `is_subscribed_to`."""

    def check_delete(self) -> None:
        """DeleteGroups."""

    def expiry_basis(self) -> ExpiryBasis | None:
        """From when the retention of its offsets counts; None while they do not expire."""

    def tombstones(self) -> list[NewRecord]:
        """The records that delete the group itself, without its offsets."""

    def on_removed(self) -> Sequence[Effect]:
        """What happens besides when it is deleted or replaced: its timers are cancelled, who waits is answered."""
