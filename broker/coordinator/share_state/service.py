"""The share coordinator of a cluster, and the clients by which groups and leaders of share partitions use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.service import CoordinatorService, InternalTopic, Surroundings
from odradek.broker.coordinator.share_state.commands import (
    ForgetDeletedTopics,
    ReadState,
    ReadSummary,
    ShareCommand,
    StateSummary,
    WriteState,
)
from odradek.broker.coordinator.share_state.machine import UNINITIALIZED, PruneLog, ShareStateMachine
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import ShareKey, StoredState
from odradek.broker.runtime.machine import Command, Effect, R
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError

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


class ShareStateService(CoordinatorService[ShareStateMachine]):
    """The share coordinators: each has the stored states of the share partitions with its keys. Owner: the cluster.

    `partition_count(topic_id)`: the topic's present number of partitions, 0 if it does not exist.
    """

    def __init__(
        self,
        topic: InternalTopic,
        surroundings: Surroundings,
        config: BrokerConfig,
        partition_count: Callable[[bytes], int],
    ) -> None:
        super().__init__(
            topic,
            surroundings,
            lambda partition: ShareStateMachine(config, partition_count),
            handle_effect=self._prune,
            base_sequence=0,
            keyed=False,
        )

    def ask_about(self, command: Command[R]) -> R:
        """Carry out a `ShareCommand`, wherever its coordinator is.

        The topic is created if need be. Callers in the process cannot try again later, so a coordinator that loads
        finishes loading now. Raises the coordinator's `KafkaError`, which says what failed.
        """
        assert isinstance(command, ShareCommand)
        self.topic.ensure()
        shard = self.shard_for(command.key.text)
        shard.finish_loading()
        try:
            return shard.ask_now(command)
        except KafkaError as error:
            text = error.message and f"Error in {command.RPC} RPC. {error.message}"
            raise KafkaError(error.code, text) from error

    def uncommitted(self, key: ShareKey) -> ReplySlot[None] | None:
        try:
            settled: ReplySlot[None] | None = self.shard_for(key.text).settled()
        except KafkaError:
            return None  # the next coordinator finds in the log what was written before
        return settled

    def topic_deleted(self, name: str, partitions: int) -> None:
        """Delete the states of a topic that was deleted."""
        super().topic_deleted(name, partitions)
        for shard in list(self.shards()):
            shard.post(ForgetDeletedTopics())

    def _prune(self, shard: Shard[ShareStateMachine], effect: Effect) -> None:
        if not isinstance(effect, PruneLog):
            raise TypeError(f"{effect!r} is not an effect of the share coordinator")
        partitions = self.topic.partitions
        if partitions is not None:
            partitions[shard.partition].delete_records(effect.offset)


_AS_MEMBERS_GET_THEM = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""The share coordinator's errors that members get as they are; all others become UNKNOWN_SERVER_ERROR."""


class ShareStateClient:
    """`StateClient` of the leaders; the `Persister` is made with the first question.

    Its type is `Any`, because a compiled class would refuse a test double.
    """

    def __init__(self, persister: Callable[[], Any]) -> None:
        self._persister = persister

    def read(self, key: ShareKey, leader_epoch: int) -> StoredState:
        try:
            state: StoredState = self._persister().ask_about(ReadState(key, leader_epoch))
        except KafkaError as error:
            raise _for_members(error) from error
        return state

    def write(self, key: ShareKey, state_epoch: int, leader_epoch: int, write: StateWrite) -> None:
        command = WriteState(
            key,
            state_epoch=state_epoch,
            leader_epoch=leader_epoch,
            start_offset=write.start_offset,
            delivery_complete_count=write.delivery_complete_count,
            batches=write.batches,
        )
        try:
            self._persister().ask_about(command)
        except KafkaError as error:
            raise _for_members(error) from error

    def uncommitted(self, key: ShareKey) -> ReplySlot[None] | None:
        uncommitted: ReplySlot[None] | None = self._persister().uncommitted(key)
        return uncommitted

    def as_members_get_it(self, error: KafkaError) -> KafkaError:
        return _for_members(error)


def _for_members(error: KafkaError) -> KafkaError:
    return KafkaError(_AS_MEMBERS_GET_THEM.get(error.code, ErrorCode.UNKNOWN_SERVER_ERROR), error.message)
