"""The waits of Produce: before it for room in memory, and after it with acks=all for the replicas in sync."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from odradek.broker.requests.parked_request import Parked, ParkedInPartitions
from odradek.broker.requests.response import is_coroutine
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)

if TYPE_CHECKING:
    from odradek.broker.partitions.back_pressure import BackPressure
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.requests.context import RequestContext


_FIRST_VERSION_WITH_LEADER = 10


async def when_there_is_room(
    room: BackPressure, serve: Callable[[], Parked | ProduceResponse | Coroutine[Any, Any, Any] | None]
) -> Any:
    """Serve a request when records leave memory fast enough again. It has not been examined before."""
    await room.wait()
    served = serve()
    return await served if is_coroutine(served) else served


class Uncommitted:
    """A batch that a leader took in this epoch, up to this offset, and its answer so far."""

    __slots__ = ("answer", "last_offset", "leader_epoch", "partition")

    def __init__(
        self, partition: Partition, leader_epoch: int, last_offset: int, answer: PartitionProduceResponse
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.last_offset = last_offset
        self.answer = answer

    def settle(self, api_version: int) -> bool:
        """Put the outcome into the answer; False while there is none."""
        partition = self.partition
        if partition.deleted:
            self.answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.leader_epoch != self.leader_epoch:
            # The record may live on: only the new leader knows.
            self.answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            if api_version >= _FIRST_VERSION_WITH_LEADER:
                self.answer.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
        elif partition.log.high_watermark > self.last_offset:
            if partition.under_min_isr:
                self.answer.error_code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        else:
            return False
        return True

    def time_out(self) -> None:
        """The client does not wait any longer; the record stays in the log."""
        self.answer.error_code = ErrorCode.REQUEST_TIMED_OUT


class ReplicationWait(ParkedInPartitions):
    """Waits until every batch is committed, or its leader has changed, or the client's time-out has passed.

    `finish` completes the response then.
    """

    __slots__ = ("_context", "_finish", "_response", "_waiting")

    def __init__(
        self,
        context: RequestContext,
        request: ProduceRequest,
        response: ProduceResponse,
        waiting: list[Uncommitted],
        finish: Callable[[RequestContext, ProduceResponse], ProduceResponse],
    ) -> None:
        super().__init__(context.services.clock, max(0, request.timeout_ms))
        self._context = context
        self._finish = finish
        self._response = response
        self._waiting = waiting
        self._register()

    def look(self, due: bool) -> ProduceResponse | None:
        version = self._context.api_version
        self._waiting = [uncommitted for uncommitted in self._waiting if not uncommitted.settle(version)]
        if self._waiting and due:
            for uncommitted in self._waiting:
                uncommitted.time_out()
            self._waiting = []
        if not self._waiting:
            return self._finish(self._context, self._response)
        self._register()
        return None

    def _register(self) -> None:
        self.wait_in([uncommitted.partition.waiters for uncommitted in self._waiting])
