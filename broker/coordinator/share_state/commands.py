"""The commands of the share coordinator. Errors are `KafkaError`s with Kafka's texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from odradek.broker.partitions.share.states import ShareKey, StateBatch, StoredState
from odradek.protocol.native import mypyc_attr


class StateSummary(NamedTuple):
    """The reply to `ReadSummary`; -1 as start offset and count where nothing has been stored."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


@mypyc_attr(allow_interpreted_subclasses=True)
class ShareCommand:
    """An order about one share partition. `RPC`: the name by which Kafka's persister tells that it failed."""

    __slots__ = ("key",)
    RPC: ClassVar[str]

    def __init__(self, key: ShareKey) -> None:
        self.key = key


@mypyc_attr(allow_interpreted_subclasses=True)
class InitializeState(ShareCommand):
    """Create the state of a share partition, or reset it in a later state epoch. Start offset -1: not known yet."""

    RPC: ClassVar[str] = "initialize state"
    reply: None

    def __init__(self, key: ShareKey, state_epoch: int, start_offset: int) -> None:
        super().__init__(key)
        self.state_epoch = state_epoch
        self.start_offset = start_offset


@mypyc_attr(allow_interpreted_subclasses=True)
class ReadState(ShareCommand):
    """Read the state for a new leader. A `leader_epoch` other than -1 fences earlier leaders."""

    RPC: ClassVar[str] = "read state"
    reply: StoredState

    def __init__(self, key: ShareKey, leader_epoch: int = -1) -> None:
        super().__init__(key)
        self.leader_epoch = leader_epoch


@mypyc_attr(allow_interpreted_subclasses=True)
class WriteState(ShareCommand):
    """Store the decisions of members. -1 keeps the start offset, and leaves an epoch unchecked."""

    __slots__ = ("batches", "delivery_complete_count", "leader_epoch", "start_offset", "state_epoch")
    RPC: ClassVar[str] = "write state"
    reply: None

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


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteState(ShareCommand):
    """Delete the state of a share partition. Succeeds if there is none."""

    RPC: ClassVar[str] = "delete state"
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ReadSummary(ShareCommand):
    """Read the progress of a share partition."""

    RPC: ClassVar[str] = "read state summary"
    reply: StateSummary


@mypyc_attr(allow_interpreted_subclasses=True)
class Prune:
    """Delete the records before the oldest snapshot that still counts."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class SnapshotIdle:
    """Write a snapshot of each share partition whose last one is old, so that the log can be pruned."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ForgetDeletedTopics:
    """Topics were deleted: delete the states of their share partitions."""

    reply: None
