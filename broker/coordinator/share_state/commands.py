"""What the share coordinator can be told to do. Errors come as `KafkaError`, with the text that Kafka gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.broker.partitions.share.states import ShareKey, StateBatch, StoredState
from odradek.broker.runtime.command import Command, R


class StateSummary(NamedTuple):
    """The reply to `ReadSummary`; -1 as start offset and count where nothing has been stored."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


class ShareCommand(Command[R]):
    """An order about one share partition."""

    __slots__ = ("key",)

    def __init__(self, key: ShareKey) -> None:
        self.key = key


class InitializeState(ShareCommand[None]):
    """Begin to store a share partition, or begin anew in a later state epoch. A start offset of -1 is open yet."""

    __slots__ = ("start_offset", "state_epoch")

    def __init__(self, key: ShareKey, state_epoch: int, start_offset: int) -> None:
        super().__init__(key)
        self.state_epoch = state_epoch
        self.start_offset = start_offset


class ReadState(ShareCommand[StoredState]):
    """What a new leader begins with; a `leader_epoch` other than -1 fences the leaders before it."""

    __slots__ = ("leader_epoch",)

    def __init__(self, key: ShareKey, leader_epoch: int = -1) -> None:
        super().__init__(key)
        self.leader_epoch = leader_epoch


class WriteState(ShareCommand[None]):
    """Store what members have decided. -1: a start offset that stays, epochs that are not checked."""

    __slots__ = ("batches", "delivery_complete_count", "leader_epoch", "start_offset", "state_epoch")

    def __init__(
        self,
        key: ShareKey,
        *,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
    ) -> None:
        super().__init__(key)
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.batches = batches


class DeleteState(ShareCommand[None]):
    """Forget a share partition; fine if there is nothing stored."""

    __slots__ = ()


class ReadSummary(ShareCommand[StateSummary]):
    """Where a share partition stands."""

    __slots__ = ()


class Prune(Command[None]):
    """Delete the records before the oldest snapshot that still counts."""

    __slots__ = ()


class SnapshotIdle(Command[None]):
    """Write a snapshot of each share partition that has not got one for long, so that the log can be pruned."""

    __slots__ = ()


class ForgetDeletedTopics(Command[None]):
    """Topics were deleted: forget their share partitions."""

    __slots__ = ()
