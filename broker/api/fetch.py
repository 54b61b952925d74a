"""Fetch (key 1).

Versions 4 to 18; `older/fetch.py` has 0 to 3, for releases before 4.0. v5 tells the log start offset; v7 brings fetch
sessions (KIP-227); v9 checks the leader epoch that the client knows (KIP-320); v10 allows zstd; v11 reads from
followers, of which the leader names the closest (KIP-392); v12 is flexible and detects diverging logs (KIP-595); v13
names topics by id (KIP-516); v15 moves the replica id; v16 names the current leader beside errors (KIP-951); v17 and
v18 add fields for replicas only.

A fetch waits until `min_bytes` are there or `max_wait_ms` have passed on the broker's clock (`FetchWork`). Limits are
Kafka's: `partition_max_bytes` for each partition, `max_bytes` (at most `fetch.max.bytes`) for all, but the first batch
of the first partition that has any comes whole. Records are views into the log, or slices of a file: nothing is copied
on the way to the socket. Where a limit falls into a batch the answer ends there, as in Kafka; clients drop that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from odradek.broker.api.lookups import leader_endpoints, reachable
from odradek.broker.partitions.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchItem,
    FetchSession,
    FetchSessionCache,
    asked_items,
    is_session_id,
)
from odradek.broker.partitions.replicas import stable_offset
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Parked, ParkedInPartitions
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
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
    from odradek.broker.partitions.fetch_sessions import TopicKey
    from odradek.broker.partitions.partition import Partition
    from odradek.storage.partition_log import PartitionLog


# -- The replica that a consumer reads from best: one in its own rack (KIP-392, Kafka's RackAwareReplicaSelector).


def closest_replica(partition: Partition, rack: str, offset: int, racks: Mapping[int, str | None]) -> int | None:
    """The follower to which the leader sends a consumer of this rack that reads from `offset`; None: it stays.

    `racks`: those of the nodes that the consumer can reach. Only replicas in sync that have the offset are chosen, of
    several the one that has most.
    """
    if racks.get(partition.leader_id) == rack:
        return None
    log_start = partition.log.log_start_offset
    if offset < log_start:
        return None
    chosen: tuple[int, int, int] | None = None
    for node in partition.isr:
        if node == partition.leader_id or racks.get(node) != rack:
            continue
        copy = partition.copy_on(node)
        end, caught_up_ms = (partition.log.log_end_offset, 0) if copy is None else (copy.known_end, copy.caught_up_ms)
        if end >= offset:
            chosen = max(chosen or (-1, 0, 0), (end, caught_up_ms, node))
    return None if chosen is None else chosen[2]


# -- The source of a fetch: which replica a client may read, and how far. Consumers may read from followers, and
# followers may read uncommitted records.
#
# KIP-392 (reading from followers, and the closest of them), KIP-595 (diverging logs), KIP-903 (epochs of brokers).


FIRST_VERSION_WITH_FOLLOWERS = 11
_ANY_EPOCH = -1


def rack_of(ctx: RequestContext, request: FetchRequest) -> str:
    """The rack of a consumer that may be sent to a replica in it; empty for all others.

    Versions before followers could be read have no rack.
    """
    rack = request.rack_id
    return rack if rack and ctx.services.config.get("replica.selector.class") else ""


def check_source(item: FetchItem, partition: Partition, node_id: int, *, any_replica: bool) -> None:
    """Raise unless this node may be read: as the leader, or as a follower by a consumer that knows of them."""
    if any_replica and node_id in partition.replicas:
        partition.check_disk(node_id)
        partition.check_epoch(item.current_leader_epoch)
    else:
        partition.check_leader(node_id, item.current_leader_epoch)


def copy_of_follower(partition: Partition, node_id: int, offset: int) -> tuple[PartitionLog, int, int, int]:
    """The log that a follower has, up to where, its high watermark and its last stable offset."""
    copy = partition.copy_on(node_id)
    if copy is None:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if offset > copy.end:
        text = f"offset {offset} is behind the end of the copy of node {node_id}, {copy.end}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, text)
    return copy.log, copy.end, copy.high_watermark, stable_offset(copy)


def closest(ctx: RequestContext, partition: Partition, item: FetchItem, rack: str) -> PartitionData | None:
    """The closer replica that this consumer should read from, as an answer without records; None if it is this one."""
    racks = {node.id: node.rack for node, _ in reachable(ctx, ctx.services.up_nodes())}
    node = closest_replica(partition, rack, item.fetch_offset, racks)
    if node is None:
        return None
    log = partition.log
    data = PartitionData(item.index, 0, log.high_watermark, log.last_stable_offset, log.log_start_offset)
    data.aborted_transactions = None
    data.preferred_read_replica = node
    data.records = b""
    return data


def check_follower(ctx: RequestContext, partition: Partition, item: FetchItem, request: FetchRequest) -> None:
    """Raise unless who fetches as a replica names one of the partition, in its broker's present epoch."""
    node_id, epoch = follower_of(request)
    if node_id not in partition.replicas or node_id == partition.leader_id:
        unknown = item.current_leader_epoch >= 0
        raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH if unknown else ErrorCode.NOT_LEADER_OR_FOLLOWER)
    broker = ctx.services.image.brokers.get(node_id)
    if epoch != _ANY_EPOCH and broker is not None and not broker.fenced and broker.epoch > epoch:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def follower_of(request: FetchRequest) -> tuple[int, int]:
    """Node and broker epoch of the replica in whose name a request comes; less than 0 for a consumer."""
    if request.replica_id >= 0:
        return request.replica_id, _ANY_EPOCH
    return request.replica_state.replica_id, request.replica_state.replica_epoch


def note_follower(ctx: RequestContext, partition: Partition, node_id: int, offset: int) -> None:
    """The leader takes where a replica fetches for the end of its log, whoever has sent the request."""
    if partition.replica_set is not None and partition.replicator is not None:
        partition.replica_set.fetched_as(node_id, offset, ctx.services.clock.now_ms())
        partition.replicator.replicate(partition)


def diverging(log: PartitionLog, end: int, item: FetchItem) -> EpochEndOffset | None:
    """The offset where the client's log diverges from this one, if it does before the fetch offset. `end`: of this
    replica.
    """
    epoch, end_offset = log.end_offset_for_epoch(item.last_fetched_epoch)
    if epoch < 0 or end_offset < 0 or item.fetch_offset < log.log_start_offset:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    end_offset = min(end_offset, end)
    if epoch < item.last_fetched_epoch or end_offset < item.fetch_offset:
        return EpochEndOffset(epoch, end_offset)
    return None


# -- Reading for Fetch: which partitions, from the request or its session, and what they have.


READ_COMMITTED: Final = 1

_FIRST_VERSION_WITH_SESSIONS: Final = 7
FIRST_VERSION_WITH_TOPIC_ID: Final = 13
_FIRST_VERSION_WITH_LEADER: Final = 16
_LEADER_ERRORS: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
_EMPTY: Final = b""
_UNKNOWN_PARTITION: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION  # read with each partition

# Shared by all answers without an error: made once, never changed.
_NOT_DIVERGING: Final = EpochEndOffset()
_NO_LEADER: Final = LeaderIdAndEpoch()
_NO_SNAPSHOT: Final = SnapshotId()


class FetchWork(ParkedInPartitions):
    """One fetch: reads what its request asks for, waits for more data and reads again, and makes the answer.

    `items`: the partitions, in the order in which they are read. `session`: None without one. `results`: what the
    last `read` found. `min_bytes`: what to wait for, at most `limit`. `waited`: whether the request has been parked.
    `rack`: of a consumer that may be sent to a replica there. `passes_idle`: whether partitions with nothing new are
    passed over. `at_ends`: whether all partitions that were read last are read to the end, as a consumer's usually are.
    """

    __slots__ = (
        "_awaited",
        "_partitions",
        "_plain",
        "_read_items",
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
                left = max(0, left)
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
            left = max(0, left - size)  # a negative limit is the first partition's alone
            if size:
                min_one = False
                self.size += size
            elif data.diverging_epoch.epoch >= 0 or data.preferred_read_replica >= 0:
                ended = True
        if unknown and self.follower_id < 0:  # as in Kafka, which looks at ids before it asks for rights
            unknown.sort(key=lambda each: each[0].error != ErrorCode.UNKNOWN_TOPIC_ID)
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
        item.error = _UNKNOWN_PARTITION
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
        if self.committed and (size or max_bytes <= 0 or item.fetch_offset >= up_to):
            # A first batch that does not fit is left out, and in Kafka this list with it.
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

    # -- waiting
    #
    # A fetch waits for `min_bytes`, at most `max_wait_ms`, and is woken by what changes its partitions; it never polls.
    # As in Kafka it does not read again before its end: it compares where it reads with where the log ends. The wait is
    # over
    #
    # - where its offset is in an older segment than the end: the read would end with the segment, whatever comes;
    # - where its offset is behind the end: beyond the last stable offset, or of a log that was cut off;
    # - when a partition is deleted, has another leader or leader epoch, or diverges from the epoch that the client
    #   knows;
    # - when the partitions together have `min_bytes`, of each at most its `partition_max_bytes`.
    #
    # What DeleteRecords or retention removes ends no wait.

    def begin_to_wait(self) -> bool:
        """Wait for more data in any of the partitions; False if there is an answer at once."""
        ParkedInPartitions.__init__(self, self.ctx.services.clock, self.request.max_wait_ms)  # no cost for the others
        self.waited = True
        self._read_items = [item for item in self.items if item.partition is not None]
        self._partitions: list[Partition] = [item.partition for item in self._read_items]  # type: ignore[misc]
        # The usual fetch takes any byte behind the ends of its partitions: it reads, and compares only what is odd.
        self._plain = self.min_bytes <= 1 and self.at_ends
        self._awaited: list[_Awaited] | None = None
        return not self._is_over()

    def look(self, due: bool) -> FetchResponse | None:
        if self._plain and not due:
            self.read()
            if self.size:
                return self.answer()
        if due or self._is_over():
            self.read()
            return self.answer()
        return None

    def _is_over(self) -> bool:
        """Whether there is an answer before the time is over. If not, this waits for what is missing."""
        missing_bytes = self.min_bytes
        if not (self._plain and self.at_ends):
            try:
                if self._awaited is None:
                    self._awaited = list(map(_Awaited, self._read_items, self._partitions))
                for awaited in self._awaited:
                    size = awaited.available(self)
                    if size < 0:
                        return True
                    missing_bytes -= size
            except (KafkaError, CorruptDataError):
                return True
            if missing_bytes <= 0:
                return True
        sets = [partition.waiters for partition in self._partitions]
        self.wait_in(sets, missing_bytes, committed=self.committed, uncommitted=self.follower_id >= 0)
        return False

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


class _Awaited:
    """One partition of a fetch: where it reads, as it was when the wait began.

    It may be made later where the wait began at the end of what can be read, which may not be there any more.
    """

    __slots__ = ("item", "offset", "partition", "position", "segment")

    def __init__(self, item: FetchItem, partition: Partition) -> None:
        self.item = item
        self.partition = partition
        log = partition.log
        self.offset, self.segment, self.position = log.place_of(item.fetch_offset)
        if item.fetch_offset >= log.log_end_offset:
            self.offset = item.fetch_offset

    def available(self, work: FetchWork) -> int:
        """The bytes that can be read now; -1 if the wait is over. Raises if reading would fail."""
        item, partition = self.item, self.partition
        if partition.deleted:
            return -1
        log, end, high_watermark, stable = work.ends(item, partition)
        up_to = end if work.follower_id >= 0 else stable if work.committed else high_watermark
        size = 0
        if self.offset != up_to:
            if self.offset > up_to:
                return -1
            _, segment, position = log.place_of(up_to)
            if self.segment < segment:
                return -1
            if self.segment == segment:
                size = min(position - self.position, item.max_bytes)
        if item.last_fetched_epoch >= 0 and diverging(log, end, item) is not None:
            return -1
        return size


# -- The handler, and its guard: READ on each topic for consumers, CLUSTER_ACTION on the cluster for followers.
#
# Rights are asked for when the request comes, not again while it waits. Denied partitions are not read. They are
# answered after the others, like unknown ones.


@handles(
    FetchRequest,
    access=ByItem(
        (Operation.READ, Resource.TOPIC), (Operation.CLUSTER_ACTION, Resource.CLUSTER), guard="guarded_fetch"
    ),
    older="fetch.older",
)
def fetch(ctx: RequestContext, request: FetchRequest, new_work: type[FetchWork] = FetchWork) -> FetchResponse | Parked:
    """Read now; park only when there is less than the client wants to wait for."""
    if not is_session_id(request.session_id):
        return _refuse_everywhere(ctx, request)
    work = new_work(ctx, request)
    try:
        work.open()
    except KafkaError as error:
        return FetchResponse(error_code=error.code)
    if not 0 <= request.isolation_level <= READ_COMMITTED and work.finds_any():
        return _refuse_everywhere(ctx, request)
    if work.read() or request.max_wait_ms <= 0 or not work.begin_to_wait():
        return work.answer()
    return work


def _refuse_everywhere(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
    """Kafka answers a session id out of its range with UNKNOWN_SERVER_ERROR, everywhere.

    So it does with an isolation level, which it looks at when there is something to read.
    """
    response: FetchResponse = error_response(request, ctx.api_version, ErrorCode.UNKNOWN_SERVER_ERROR)
    if ctx.api_version >= _FIRST_VERSION_WITH_SESSIONS:
        response.session_id = request.session_id
    return response


def guarded_fetch(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Parked:
    """Read what the client may read."""
    return fetch(ctx, request, GuardedFetch)


class GuardedFetch(FetchWork):
    """A fetch that leaves out what its client may not read. `_denied`: the topics, as the request names them."""

    __slots__ = ("_denied",)

    def __init__(self, ctx: RequestContext, request: FetchRequest) -> None:
        super().__init__(ctx, request)
        self._denied: frozenset[TopicKey] = frozenset()

    def open(self) -> None:
        super().open()
        self._denied = self._denied_topics()
        if self._denied:
            for item in self.items:
                if item.topic in self._denied:
                    item.partition = None

    def _denied_topics(self) -> frozenset[TopicKey]:
        if self.follower_id >= 0:
            if self.ctx.allows(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME):
                return frozenset()
            return frozenset(item.topic for item in self.items)
        names = {item.topic: self._name_of(item) for item in self.items}
        allowed = self.ctx.allowed(
            Operation.READ, Resource.TOPIC, (name for name in names.values() if name is not None)
        )
        return frozenset(topic for topic, name in names.items() if name is not None and name not in allowed)

    def _name_of(self, item: FetchItem) -> str | None:
        """None for an id that nobody knows: it needs no right to be unknown."""
        if not self.by_id:
            return item.topic  # type: ignore[return-value]
        topic = self.ctx.services.topics.by_id(item.topic)  # type: ignore[arg-type]
        return item.name if topic is None else topic.name

    def _resolve(self, item: FetchItem) -> Partition | None:
        if item.topic in self._denied:
            item.error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return None
        return super()._resolve(item)
