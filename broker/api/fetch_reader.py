"""Reading for Fetch: which partitions, from the request or its session, and what they have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from odradek.broker.api.fetch_sources import (
    FIRST_VERSION_WITH_FOLLOWERS,
    check_follower,
    check_source,
    closest,
    copy_of_follower,
    diverging,
    note_follower,
    rack_of,
)
from odradek.broker.api.leader_hints import leader_endpoints
from odradek.broker.partitions.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchItem,
    FetchSession,
    FetchSessionCache,
    asked_items,
)
from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.generated.messages.fetch import (
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
    from odradek.storage.partition_log import PartitionLog

READ_COMMITTED: Final = 1

_FIRST_VERSION_WITH_SESSIONS: Final = 7
FIRST_VERSION_WITH_TOPIC_ID: Final = 13
_FIRST_VERSION_WITH_LEADER: Final = 16
_LEADER_ERRORS: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
_EMPTY: Final = b""

# Shared by all answers without an error: made once, never changed.
_NOT_DIVERGING: Final = EpochEndOffset()
_NO_LEADER: Final = LeaderIdAndEpoch()
_NO_SNAPSHOT: Final = SnapshotId()


class FetchReader:
    """Reads what one fetch request asks for, again and again while it waits, and makes the answer.

    `items`: the partitions, in the order in which they are read. `session`: None without one. `results`: what the
    last `read` found. `min_bytes`: what to wait for, at most `limit`. `waited`: whether the request has been parked.
    `rack`: of a consumer that may be sent to a replica there. `passes_idle`: whether partitions with nothing new are
    passed over. `at_ends`: whether all partitions that were read last are read to the end, as a consumer's usually are.
    """

    __slots__ = (
        "at_ends",
        "by_id",
        "committed",
        "ctx",
        "follower_id",
        "incremental",
        "items",
        "limit",
        "min_bytes",
        "node_id",
        "passes_idle",
        "rack",
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
        self.by_id = ctx.api_version >= FIRST_VERSION_WITH_TOPIC_ID
        self.follower_id = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
        self.rack = rack_of(ctx, request) if request.rack_id and self.follower_id < 0 else ""
        self.committed = request.isolation_level == READ_COMMITTED and self.follower_id < 0
        self.limit = min(request.max_bytes, ctx.services.config.get_int("fetch.max.bytes"))
        self.min_bytes = min(request.min_bytes, self.limit)
        self.items: Iterable[FetchItem] = ()
        self.session: FetchSession | None = None
        self.incremental = self.passes_idle = self.at_ends = False
        self.results: list[tuple[FetchItem, PartitionData, int]] = []
        self.size = 0
        self.waited = False

    def open(self) -> None:
        """Find out what to read: from the request, or from the session that it continues or opens."""
        request = self.request
        epoch = request.session_epoch
        if self.ctx.api_version < _FIRST_VERSION_WITH_SESSIONS or (
            epoch == FINAL_EPOCH and request.session_id == NO_SESSION
        ):
            self.items = asked_items(request.topics, self.by_id)
            return
        cache = sessions_of(self.ctx)
        now_ms = self.ctx.services.clock.now_ms()
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            if request.session_id != NO_SESSION:
                cache.remove(request.session_id)
            items = asked_items(request.topics, self.by_id)
            self.items = items
            if epoch == INITIAL_EPOCH:
                self.session = cache.create(items, self.by_id, now_ms)
            return
        session = cache.resume(request.session_id, epoch, self.by_id, now_ms)
        session.update(request.topics, request.forgotten_topics_data)
        self.items = list(session.items.values())
        if not session.items:
            cache.remove(session.id)
            return
        self.session = session
        self.incremental = True
        self.passes_idle = self.follower_id < 0 and not self.rack

    # -- reading

    def finds_any(self) -> bool:
        """Whether any of the partitions exists."""
        try:
            return any(self._resolve(item) is not None for item in self.items)
        except KafkaError:  # counts as a failed read
            return True

    def read(self) -> bool:
        """Read all partitions into `self.results`; return whether to answer now.

        That is: enough bytes, an error while reading, or nothing that could be waited for. A partition that does not
        exist does not end the wait for others and is answered behind them (as in Kafka).
        """
        left = self.limit
        min_one = True
        waitable = ended = False
        results = self.results
        results.clear()
        unknown: list[tuple[FetchItem, PartitionData, int]] = []
        self.size = 0
        self.at_ends = True
        for item in self.items:
            if self.passes_idle and item.is_idle(self.node_id):
                waitable = True
                if self.committed or item.max_bytes <= 0:
                    self.at_ends = False  # nobody has looked at its last stable offset
                continue
            try:
                partition = self._resolve(item)
                if partition is None:
                    unknown.append((item, _failure(item.index, item.error, aborted=[]), 0))
                    continue
                waitable = True
                data, size = self._read(item, partition, min(item.max_bytes, left), min_one)
            except (KafkaError, CorruptDataError) as error:
                results.append((item, self._read_failure(item, error), 0))
                left = max(0, left)
                ended = True
                self.at_ends = False
                continue
            results.append((item, data, size))
            if size:
                min_one = False
                left = max(0, left - size)
                self.size += size
            elif data.diverging_epoch.epoch >= 0 or data.preferred_read_replica >= 0:
                ended = True
        results += unknown
        return ended or not waitable or self.size >= self.min_bytes

    def _resolve(self, item: FetchItem) -> Partition | None:
        """The item's partition, looked up once while it lives; None (and `item.error`) if there is none.

        Raises what counts as a failed read: a partition that went away while the fetch waited for it, and a topic that
        was made anew under the name that this session's topic id had.
        """
        partition = item.partition
        if partition is not None:
            if not partition.deleted:
                return partition
            if self.waited:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            item.partition = None
        elif self.waited:
            return None
        topics = self.ctx.services.topics
        item.error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self.by_id:
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

    def _read(self, item: FetchItem, partition: Partition, max_bytes: int, min_one: bool) -> tuple[PartitionData, int]:
        log, end, high_watermark, stable = self.ends(item, partition)
        if self.rack and partition.leader_id == self.node_id:
            elsewhere = closest(self.ctx, partition, item, self.rack)
            if elsewhere is not None:
                self.at_ends = False
                return elsewhere, 0
        up_to = stable if self.committed else high_watermark
        if self.follower_id >= 0:
            check_follower(self.ctx, partition, item, self.request)
            up_to = end
        if item.fetch_offset != up_to or max_bytes <= 0:
            self.at_ends = False
        if item.last_fetched_epoch >= 0:
            self.at_ends = False
            if end == 0 and partition.leader_id != self.node_id:
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)  # a follower without records knows no epoch
            parting = diverging(log, end, item)
            if parting is not None:
                data = PartitionData(item.index, 0, high_watermark, stable, log.log_start_offset, parting)
                data.aborted_transactions = None
                data.records = _EMPTY
                return data, 0
        if max_bytes < 0 and log.log_start_offset <= item.fetch_offset < up_to:
            # Kafka's reader trips over a negative limit where there is something to read.
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a limit of {max_bytes} bytes")
        parts, size = log.read_to_send(item.fetch_offset, max_bytes=max_bytes, up_to_offset=up_to, min_one=min_one)
        if self.follower_id >= 0 and not self.waited:
            note_follower(self.ctx, partition, self.follower_id, item.fetch_offset)
        aborted: list[AbortedTransaction] | None = None
        if self.committed:
            aborted = []
            if size:
                aborted = [AbortedTransaction(*entry) for entry in log.aborted_in_read(item.fetch_offset, size)]
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

    def ends(self, item: FetchItem, partition: Partition) -> tuple[PartitionLog, int, int, int]:
        """The log that this node has, its end, its high watermark and its last stable offset.

        Raises unless this node may be read from, in the epoch that the client knows.
        """
        leads = partition.leader_id == self.node_id
        if not leads or 0 <= item.current_leader_epoch != partition.leader_epoch:
            any_replica = self.follower_id < 0 and self.ctx.api_version >= FIRST_VERSION_WITH_FOLLOWERS
            check_source(item, partition, self.node_id, any_replica=any_replica)
        if not leads and partition.replica_set is not None:
            return copy_of_follower(partition, self.node_id, item.fetch_offset)
        log = partition.log
        return log, log.log_end_offset, log.high_watermark, log.last_stable_offset

    def _read_failure(self, item: FetchItem, error: KafkaError | CorruptDataError) -> PartitionData:
        data = _failure(item.index, error.code, None)
        partition = item.partition
        if (
            error.code in _LEADER_ERRORS
            and partition is not None
            and self.ctx.api_version >= _FIRST_VERSION_WITH_LEADER
        ):
            data.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
        return data

    # -- answering

    def answer(self) -> FetchResponse:
        session = self.session
        response = FetchResponse(session_id=NO_SESSION if session is None else session.id)
        topics = response.responses
        last: FetchableTopicResponse | None = None
        last_key: object = None
        leaders: list[int] = []
        for item, data, size in self.results:
            if session is not None:
                changed = item.note_answer(data, size)
                if self.incremental:
                    if not changed:
                        continue
                    if size:
                        session.served_records(item)
            if last is None or item.topic != last_key:
                last_key = item.topic
                if self.by_id:
                    last = FetchableTopicResponse(topic_id=item.topic)  # type: ignore[arg-type]
                else:
                    last = FetchableTopicResponse(topic=item.topic)  # type: ignore[arg-type]
                topics.append(last)
            last.partitions.append(data)
            if data.current_leader.leader_id >= 0:
                leaders.append(data.current_leader.leader_id)
        if leaders and self.follower_id < 0:
            response.node_endpoints = leader_endpoints(self.ctx, leaders, NodeEndpoint)
        return response


def sessions_of(ctx: RequestContext) -> FetchSessionCache:
    """The node's sessions, made when its first client asks for one."""
    caches = ctx.services.fetch_sessions
    cache = caches.get(ctx.node.id)
    if cache is None:
        slots = ctx.services.config.get_int("max.incremental.fetch.session.cache.slots")
        cache = caches[ctx.node.id] = FetchSessionCache(slots)
    return cache


def _failure(index: int, code: ErrorCode, aborted: list[AbortedTransaction] | None) -> PartitionData:
    return PartitionData(index, code, -1, -1, -1, aborted_transactions=aborted, records=_EMPTY)
