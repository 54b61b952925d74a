"""The share coordinator as leaders of partitions in the same process ask it (Kafka's "persister")."""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.coordinator.share_state.commands import ReadState, WriteState
from odradek.broker.coordinator.share_state.service import ShareStateService
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import ShareKey, StoredState
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError

_AS_MEMBERS_GET_THEM = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""What members hear of the share coordinator's errors; of all others they hear UNKNOWN_SERVER_ERROR."""


class ShareStateClient:
    """`StateClient` of the leaders; the service is made with the first question."""

    def __init__(self, service: Callable[[], ShareStateService]) -> None:
        self._service = service

    def read(self, key: ShareKey, leader_epoch: int) -> StoredState:
        """See `StateClient`."""
        try:
            return self._service().ask_about(ReadState(key, leader_epoch))
        except KafkaError as error:
            raise _for_members(error) from error

    def write(self, key: ShareKey, state_epoch: int, leader_epoch: int, write: StateWrite) -> None:
        """See `StateClient`."""
        command = WriteState(
            key,
            state_epoch=state_epoch,
            leader_epoch=leader_epoch,
            start_offset=write.start_offset,
            delivery_complete_count=write.delivery_complete_count,
            batches=write.batches,
        )
        try:
            self._service().ask_about(command)
        except KafkaError as error:
            raise _for_members(error) from error

    def uncommitted(self, key: ShareKey) -> ReplySlot[None] | None:
        """See `StateClient`."""
        try:
            return self._service().shard_for(key.text).settled()
        except KafkaError:
            return None  # what was written before is in the log of whoever coordinates next

    def as_members_get_it(self, error: KafkaError) -> KafkaError:
        """See `StateClient`."""
        return _for_members(error)


def _for_members(error: KafkaError) -> KafkaError:
    return KafkaError(_AS_MEMBERS_GET_THEM.get(error.code, ErrorCode.UNKNOWN_SERVER_ERROR), error.message)
