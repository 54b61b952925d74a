"""A DeleteRecords whose records are not deleted at all live replicas yet (KIP-107)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.partitions.waiters import Waiter
from odradek.broker.requests.parked_request import Parked
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.delete_records import DeleteRecordsPartitionResult, DeleteRecordsResponse

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.requests.context import RequestContext


class Deleted(NamedTuple):
    """A partition whose leader, in this epoch, has deleted what lies before `offset`, and its answer so far."""

    partition: Partition
    leader_epoch: int
    offset: int
    answer: DeleteRecordsPartitionResult

    def settle(self, ctx: RequestContext) -> bool:
        """Put the outcome into the answer; False while there is none. Until then the answer has the first low
        watermark.
        """
        partition = self.partition
        if partition.deleted:
            self.answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.leader_epoch != self.leader_epoch:
            self.answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        else:
            brokers = ctx.services.image.brokers
            low = partition.low_watermark(lambda node: node in brokers and not brokers[node].fenced)
            if low < self.offset:
                self.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
                if self.answer.low_watermark < 0:
                    self.answer.low_watermark = low
                return False
            self.answer.error_code, self.answer.low_watermark = ErrorCode.NONE, low
            return True
        self.answer.low_watermark = -1
        return True


class DeletionWait(Parked):
    """Waits until every deletion has reached all live replicas, or its leader has changed, or the client's time-out
    has passed."""

    __slots__ = ("_context", "_response", "_waiter", "_waiting")

    def __init__(
        self, context: RequestContext, timeout_ms: int, response: DeleteRecordsResponse, waiting: list[Deleted]
    ) -> None:
        super().__init__(context.services.clock.now_ms() + max(0, timeout_ms))
        self._context = context
        self._response = response
        self._waiting = waiting
        self._register()

    def resume(self) -> DeleteRecordsResponse | None:
        over = self._context.services.clock.now_ms() >= self.deadline_ms or self._waiter.over
        if not self._waiter.woken and not over:
            return None
        self.abandon()
        self._waiting = [deleted for deleted in self._waiting if not deleted.settle(self._context)]
        if not self._waiting or over:
            return self._response
        self._register()
        return None

    def abandon(self) -> None:
        self._waiter.leave()

    def _register(self) -> None:
        self._waiter = Waiter(1 << 62, self._wake)
        self._waiter.wait_in([deleted.partition.waiters for deleted in self._waiting])

    def _wake(self) -> None:
        self.wake()
