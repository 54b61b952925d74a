"""Fetch (key 1).

Versions 4 to 18. v5 tells the log start offset; v7 brings fetch sessions (KIP-227); v9 checks the leader epoch that
the client knows (KIP-320); v10 allows zstd; v12 is flexible and detects diverging logs (KIP-595); v13 names topics by
id (KIP-516); v15 moves the replica id; v16 names the current leader beside errors (KIP-951); v17 and v18 add fields for
replicas only.

A fetch waits until ``min_bytes`` are there or ``max_wait_ms`` have passed on the broker's clock; it is woken by what
changes its partitions and never polls. Limits are Kafka's: ``partition_max_bytes`` for each partition, ``max_bytes``
(at most ``fetch.max.bytes``) for all, but the first batch of the first partition that has any comes whole. Records are
views into the log: nothing is copied on the way to the socket.
Difference from Kafka: a response ends with a whole batch where Kafka may cut the last one at the limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from odradek.broker.api.leader_hints import leader_endpoints
from odradek.broker.partitions.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchItem,
    FetchSession,
    FetchSessionCache,
    asked_items,
    has_place,
)
from odradek.broker.partitions.waiters import Waiter
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.parked import Parked
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition

READ_COMMITTED = 1

_FIRST_VERSION_WITH_SESSIONS = 7
_FIRST_VERSION_WITH_TOPIC_ID = 13
_FIRST_VERSION_WITH_LEADER = 16
_LEADER_ERRORS = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
_EMPTY = b""

# Shared by all answers without an error: made once, never changed.
_NOT_DIVERGING = EpochEndOffset()
_NO_LEADER = LeaderIdAndEpoch()
_NO_SNAPSHOT = SnapshotId()


class _Fetch:
    """One fetch request at work. ``items`` in the order in which they are served; ``session`` None without one."""

    __slots__ = (
        "by_id",
        "committed",
        "ctx",
        "follower_id",
        "incremental",
        "items",
        "limit",
        "node_id",
        "request",
        "results",
        "session",
        "size",
        "waited",
    )

    def __init__(self, ctx: RequestContext, request: FetchRequest) -> None:
        self.ctx = ctx
        self.node_id = ctx.node.id
        self.request = request
        self.by_id = ctx.api_version >= _FIRST_VERSION_WITH_TOPIC_ID
        self.follower_id = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
        self.committed = request.isolation_level == READ_COMMITTED and self.follower_id < 0
        self.limit = min(request.max_bytes, ctx.services.config.get_int("fetch.max.bytes"))
        self.items: Iterable[FetchItem] = ()
        self.session: FetchSession | None = None
        self.incremental = False
        self.results: list[tuple[FetchItem, PartitionData, int]] = []
        self.size = 0
        self.waited = False


@handles(FetchRequest, differs="a response ends with a whole batch; one log for all replicas, so no preferred replica")
def fetch(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Parked:
    """Read now; park only when there is less than the client wants to wait for."""
    if not 0 <= request.isolation_level <= READ_COMMITTED or not has_place(request.session_id):
        return _stumble(ctx, request)
    work = _Fetch(ctx, request)
    try:
        _open(work)
    except KafkaError as error:
        return FetchResponse(error_code=error.code)
    if _read_all(work) or request.max_wait_ms <= 0:
        return _answer(work)
    return _ParkedFetch(work)


def _stumble(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
    """Kafka answers an isolation level or a session id out of its range with UNKNOWN_SERVER_ERROR, everywhere."""
    response: FetchResponse = error_response(request, ctx.api_version, ErrorCode.UNKNOWN_SERVER_ERROR)
    if ctx.api_version >= _FIRST_VERSION_WITH_SESSIONS:
        response.session_id = request.session_id
    return response


# -- sessions


def _open(work: _Fetch) -> None:
    """Find out what to read: from the request, or from the session that it continues or opens."""
    request = work.request
    epoch = request.session_epoch
    if work.ctx.api_version < _FIRST_VERSION_WITH_SESSIONS or (
        epoch == FINAL_EPOCH and request.session_id == NO_SESSION
    ):
        work.items = asked_items(request.topics, work.by_id)
        return
    cache = _sessions(work.ctx)
    now_ms = work.ctx.services.clock.now_ms()
    if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
        if request.session_id != NO_SESSION:
            cache.remove(request.session_id)
        items = asked_items(request.topics, work.by_id)
        work.items = items
        if epoch == INITIAL_EPOCH:
            work.session = cache.create(items, work.by_id, now_ms)
        return
    session = cache.resume(request.session_id, epoch, work.by_id, now_ms)
    session.update(request.topics, request.forgotten_topics_data)
    work.items = list(session.items.values())
    if not session.items:
        cache.remove(session.id)
        return
    work.session = session
    work.incremental = True


def _sessions(ctx: RequestContext) -> FetchSessionCache:
    """The node's sessions, made when its first client asks for one."""
    caches = ctx.services.fetch_sessions
    cache = caches.get(ctx.node.id)
    if cache is None:
        slots = ctx.services.config.get_int("max.incremental.fetch.session.cache.slots")
        cache = caches[ctx.node.id] = FetchSessionCache(slots)
    return cache


# -- reading


def _read_all(work: _Fetch) -> bool:
    """Read all partitions into ``work.results``; return whether to answer now.

    That is: enough bytes, an error while reading, or nothing that could be waited for. A partition that does not exist
    does not end the wait for others and is answered behind them (as in Kafka).
    """
    left = work.limit
    min_one = True
    waitable = ended = False
    results = work.results
    results.clear()
    unknown: list[tuple[FetchItem, PartitionData, int]] = []
    work.size = 0
    for item in work.items:
        if work.incremental and item.is_idle(work.node_id):
            waitable = True
            continue
        try:
            partition = _resolve(work, item)
            if partition is None:
                unknown.append((item, _failure(item.index, item.error, aborted=[]), 0))
                continue
            waitable = True
            data, size = _read(work, item, partition, min(item.max_bytes, left), min_one)
        except (KafkaError, CorruptDataError) as error:
            results.append((item, _read_failure(work, item, error), 0))
            left = max(0, left)
            ended = True
            continue
        results.append((item, data, size))
        if size:
            min_one = False
            left = max(0, left - size)
            work.size += size
        elif data.diverging_epoch.epoch >= 0:
            ended = True
    results += unknown
    return ended or not waitable or work.size >= work.request.min_bytes


def _resolve(work: _Fetch, item: FetchItem) -> Partition | None:
    """The item's partition, looked up once while it lives; None (and ``item.error``) if there is none.

    Raises what counts as a failed read: a partition that went away while the fetch waited for it, and a topic that was
    made anew under the name that this session's topic id had.
    """
    partition = item.partition
    if partition is not None:
        if not partition.deleted:
            return partition
        item.partition = None
        if work.waited:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    topics = work.ctx.services.topics
    item.error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if work.by_id:
        topic = topics.by_id(item.topic)  # type: ignore[arg-type]
        if topic is None:
            if item.name is None:
                item.error = ErrorCode.UNKNOWN_TOPIC_ID
            elif topics.get(item.name) is not None:
                raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID)
            return None
        item.name = topic.name
    else:
        topic = topics.get(item.topic)  # type: ignore[arg-type]
    if topic is not None and 0 <= item.index < len(topic.partitions):
        item.partition = topic.partitions[item.index]
    return item.partition


def _read(
    work: _Fetch, item: FetchItem, partition: Partition, max_bytes: int, min_one: bool
) -> tuple[PartitionData, int]:
    if item.current_leader_epoch >= 0 or partition.leader_id != work.node_id:
        partition.check_leader(work.node_id, item.current_leader_epoch)
    log = partition.log
    high_watermark = log.high_watermark
    stable = log.last_stable_offset
    up_to = stable if work.committed else high_watermark
    if work.follower_id >= 0:
        if work.follower_id not in partition.replicas or work.follower_id == partition.leader_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        up_to = log.log_end_offset
    if item.last_fetched_epoch >= 0:
        diverging = _diverging(partition, item)
        if diverging is not None:
            data = PartitionData(item.index, 0, high_watermark, stable, log.log_start_offset, diverging)
            data.aborted_transactions = None
            data.records = _EMPTY
            return data, 0
    if max_bytes < 0 and log.log_start_offset <= item.fetch_offset < up_to:
        # Kafka's reader trips over a negative limit where there is something to read.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a limit of {max_bytes} bytes")
    parts, size = log.read(item.fetch_offset, max_bytes=max_bytes, up_to_offset=up_to, min_one=min_one)
    aborted: list[AbortedTransaction] | None = None
    if work.committed:
        aborted = []
        if size:
            aborted = [AbortedTransaction(*each) for each in log.aborted_in_read(item.fetch_offset, size)]
    data = PartitionData(
        item.index,
        0,
        high_watermark,
        stable,
        log.log_start_offset,
        _NOT_DIVERGING,
        _NO_LEADER,
        _NO_SNAPSHOT,
        aborted,
        -1,
        parts or _EMPTY,
    )
    return data, size


def _diverging(partition: Partition, item: FetchItem) -> EpochEndOffset | None:
    """KIP-595: where the client's log and ours part ways, if they do before its fetch offset."""
    epoch, end_offset = partition.log.end_offset_for_epoch(item.last_fetched_epoch)
    if epoch < 0 or end_offset < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < item.last_fetched_epoch or end_offset < item.fetch_offset:
        return EpochEndOffset(epoch, end_offset)
    return None


def _failure(index: int, code: ErrorCode, aborted: list[AbortedTransaction] | None) -> PartitionData:
    return PartitionData(index, code, -1, -1, -1, aborted_transactions=aborted, records=_EMPTY)


def _read_failure(work: _Fetch, item: FetchItem, error: KafkaError | CorruptDataError) -> PartitionData:
    data = _failure(item.index, error.code, None)
    partition = item.partition
    if error.code in _LEADER_ERRORS and partition is not None and work.ctx.api_version >= _FIRST_VERSION_WITH_LEADER:
        data.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
    return data


# -- waiting


class _ParkedFetch(Parked):
    """A fetch that waits for more data in any of its partitions. It misses nothing from the moment it is made."""

    __slots__ = ("_partitions", "_waiter", "_work")

    def __init__(self, work: _Fetch) -> None:
        super().__init__(work.ctx.services.clock.now_ms() + work.request.max_wait_ms)
        work.waited = True
        self._work = work
        self._register()

    def resume(self) -> FetchResponse | None:
        """Read again. What was seen before is not kept."""
        waiter, work = self._waiter, self._work
        if not waiter.woken and work.ctx.services.clock.now_ms() < self.deadline_ms:
            return None
        self.abandon()
        if _read_all(work) or waiter.over or work.ctx.services.clock.now_ms() >= self.deadline_ms:
            return _answer(work)
        self._register()
        return None

    def abandon(self) -> None:
        for partition in self._partitions:
            partition.waiters.discard(self._waiter)

    def _register(self) -> None:
        work = self._work
        missing_bytes = max(1, work.request.min_bytes - work.size)
        self._waiter = Waiter(missing_bytes, self._wake, committed=work.committed)
        self._partitions = [item.partition for item in work.items if item.partition is not None]
        for partition in self._partitions:
            partition.waiters.add(self._waiter)

    def _wake(self) -> None:
        self.wake()


# -- answering


def _answer(work: _Fetch) -> FetchResponse:
    session = work.session
    response = FetchResponse(session_id=NO_SESSION if session is None else session.id)
    topics = response.responses
    last: FetchableTopicResponse | None = None
    last_key: object = None
    leaders: list[int] = []
    for item, data, size in work.results:
        if session is not None:
            changed = item.note_answer(data, size)
            if work.incremental:
                if not changed:
                    continue
                if size:
                    session.served_records(item)
        if last is None or item.topic != last_key:
            last_key = item.topic
            if work.by_id:
                last = FetchableTopicResponse(topic_id=item.topic)  # type: ignore[arg-type]
            else:
                last = FetchableTopicResponse(topic=item.topic)  # type: ignore[arg-type]
            topics.append(last)
        last.partitions.append(data)
        if data.current_leader.leader_id >= 0:
            leaders.append(data.current_leader.leader_id)
    if leaders and work.follower_id < 0:
        response.node_endpoints = leader_endpoints(work.ctx, leaders, NodeEndpoint)
    return response
