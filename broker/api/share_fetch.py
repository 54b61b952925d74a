"""ShareFetch (key 78) and ShareAcknowledge (key 79).

Versions 1 and 2 (KIP-932). Members of a share group fetch without offsets: they are given records that nobody else
holds, each locked for them until they acknowledge it or its lock runs out. v2 knows a strict limit of records
(KIP-1206) and renews locks (KIP-1222). A fetch may carry acknowledgements, which are carried out first.

A fetch waits like `Fetch`, also for records to come back. Whether the member belongs to the group is not asked, as in
Kafka: the group coordinator alone knows the members.

An acknowledgement belongs to the member's share session with the node; the last request, with epoch -1, ends it, and
what the member still holds is available again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from odradek.broker.api.group_requests import require_read
from odradek.broker.api.lookups import leader_endpoints
from odradek.broker.api.share_groups import check_served
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.share.manager import LiveSharePartition, Stored
from odradek.broker.partitions.share.reading import ShareRead, ShareReadRequest, read_shared
from odradek.broker.partitions.share.sessions import FINAL_EPOCH, INITIAL_EPOCH, Place, SessionKey, ShareSession
from odradek.broker.partitions.share.states import RECORD_LIMIT, RENEW, AcknowledgementBatch, ShareKey
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, Parked, ParkedInPartitions
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.messages import share_acknowledge as acknowledge
from odradek.protocol.generated.messages import share_fetch as fetched
from odradek.protocol.generated.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from odradek.protocol.generated.messages.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchRequest,
    ShareFetchResponse,
)

_EMPTY = b""
_RENEWALS_FROM = 2
_LEADER_ERRORS = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
_MAX_MEMBER_ID = 36

_Answers = dict[Place, KafkaError | None]
"""The results of the acknowledgements, by partition."""
_Waiting = Sequence[tuple[Place, Stored]]
"""Acknowledgements that do not count yet."""

_TEXTS: Mapping[ErrorCode, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}


# -- ShareFetch


class _ShareFetch:
    """One request at work. `session`: the one that it goes on with, None if it begins or ends one.

    `failed`: partitions that cannot be read; `places`: those that are read; `refused`: Kafka stumbles over the request;
    `answers`: the results of the acknowledgements.
    """

    __slots__ = ("answers", "ctx", "epoch_due", "failed", "lives", "places", "read", "refused", "request", "session")

    def __init__(self, ctx: RequestContext, request: ShareFetchRequest) -> None:
        self.ctx = ctx
        self.request = request
        self.session: ShareSession | None = None
        self.epoch_due = 0
        self.answers: _Answers = {}
        self.failed: dict[Place, KafkaError] = {}
        self.refused = False
        self.places: Mapping[Place, Partition] = {}
        self.lives: list[LiveSharePartition] = []
        most = min(request.max_bytes, ctx.services.config.get_int("fetch.max.bytes"))
        self.read = ShareReadRequest(
            request.member_id or "",
            request.max_records,
            request.batch_size,
            request.share_acquire_mode,
            min(request.min_bytes, most),
            most,
        )


@handles(
    ShareFetchRequest,
    access=ByItem((Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)),
    differs="a record that is released wakes other members' waiting fetches at once",
)
def share_fetch(ctx: RequestContext, request: ShareFetchRequest) -> ShareFetchResponse | Parked | Later:
    """Acquire records now; park only when there is less than the member wants to wait for."""
    check_served(ctx)
    work = _ShareFetch(ctx, request)
    try:
        _check_member(ctx, request.group_id, request.member_id)
        _check_renewal(ctx, request)
        places = _open(work)
    except KafkaError as error:
        refusal = ShareFetchResponse(error_code=error.code)
        if error.code is ErrorCode.SHARE_SESSION_LIMIT_REACHED and request.max_wait_ms > 0:
            return _AnswerInTime(ctx, request.max_wait_ms, lambda: refusal)
        return refusal
    found = _first_look(work, places)
    if _has_acknowledgements(request):
        work.answers = _acknowledge_all(ctx, request)
        waiting = _uncommitted(ctx, request, work.answers)
        if waiting:
            return _go_on_later(work, found, waiting)
    return _go_on(work, found)


async def _go_on_later(
    work: _ShareFetch, found: Sequence[ShareRead] | None, waiting: _Waiting
) -> ShareFetchResponse | Parked:
    """Fetch when what the member acknowledged with this request counts."""
    await _committed(work.ctx, work.request, work.answers, waiting)
    return _go_on(work, found)


def _check_renewal(ctx: RequestContext, request: ShareFetchRequest) -> None:
    """A request that renews locks fetches nothing."""
    asks = request.max_bytes or request.min_bytes or request.max_records or request.max_wait_ms
    if ctx.api_version >= _RENEWALS_FROM and request.is_renew_ack and asks:
        raise KafkaError(ErrorCode.INVALID_REQUEST)


def _has_acknowledgements(request: ShareFetchRequest) -> bool:
    return any(partition.acknowledgement_batches for topic in request.topics for partition in topic.partitions)


# -- sessions


def _open(work: _ShareFetch) -> dict[Place, Partition]:
    """Find the partitions to read: from the request, or from the session that it continues."""
    ctx, request = work.ctx, work.request
    sessions = ctx.services.share_partitions().sessions(ctx.node.id)
    key = _session_key(request)
    epoch = request.share_session_epoch
    if epoch == FINAL_EPOCH:
        sessions.find(key)
        return {}
    topics = ctx.services.topics
    named: list[tuple[Place, str | None]] = []
    for topic in request.topics:
        known = topics.by_id(topic.topic_id)
        name = None if known is None else known.name
        named += [((topic.topic_id, partition.partition_index), name) for partition in topic.partitions]
    if epoch == INITIAL_EPOCH:
        if _has_acknowledgements(request):
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        limit = ctx.services.config.get_int("group.share.max.share.sessions")
        if not sessions.knows_connection(ctx.connection.id):
            closed = partial(ctx.services.share_partitions().connection_closed, ctx.node.id, ctx.connection.id)
            ctx.connection.on_closed.append(closed)
        session = sessions.open(key, named, ctx.connection.id, limit)
    else:
        session = sessions.find(key)
        session.check(epoch)
        forgotten = [(topic.topic_id, index) for topic in request.forgotten_topics_data for index in topic.partitions]
        session.change(named, forgotten)
        session.advance()
        work.session = session
        work.epoch_due = session.epoch
    return _known_places(work, session)


def _known_places(work: _ShareFetch, session: ShareSession) -> dict[Place, Partition]:
    """The partitions to read, beginning with another one in each request; those that are not there have failed.

    As in Kafka a topic of the same name stands in for one that was deleted. Then only the state cannot be read.
    """
    topics = work.ctx.services.topics
    places: list[tuple[Place, Partition]] = []
    readable = work.ctx.allowed(
        Operation.READ, Resource.TOPIC, [item.name for item in session.places.values() if item.name is not None]
    )
    for place, item in session.places.items():
        topic = None if item.name is None else topics.get(item.name)
        if item.name is None:
            work.failed[place] = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        elif item.name not in readable:
            work.failed[place] = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        elif topic is None or not 0 <= place[1] < len(topic.partitions):
            work.failed[place] = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            places.append((place, topic.partitions[place[1]]))
    turn = work.request.share_session_epoch % len(places) if places else 0
    return dict(places[turn:] + places[:turn])


# -- reading


def _first_look(work: _ShareFetch, places: Mapping[Place, Partition]) -> Sequence[ShareRead] | None:
    """Acquire what is there, None if that is not enough.

    As in Kafka it comes before what the request acknowledges counts, and before share partitions are opened.
    """
    ctx, request = work.ctx, work.request
    if ctx.api_version >= _RENEWALS_FROM and request.is_renew_ack:
        work.failed.clear()
        return ()
    if not ctx.release.knows_share_topics_by_partition and any(
        error.code is ErrorCode.UNKNOWN_TOPIC_ID for error in work.failed.values()
    ):
        # A broker before 4.4 stumbles over a topic that it has no name of, and with it over the whole session.
        work.refused = True
    if places and not 0 <= request.share_acquire_mode <= RECORD_LIMIT:
        work.refused = True
    if work.refused or not places or request.max_records == 0 or work.read.max_bytes == 0:
        return ()
    work.places = places
    shares = ctx.services.share_partitions()
    found = [shares.find(ShareKey(request.group_id or "", *place)) for place in places]
    work.lives = [live for live in found if live is not None and live.node_id == ctx.node.id]
    return _read(work, at_once=False)


def _go_on(work: _ShareFetch, found: Sequence[ShareRead] | None) -> ShareFetchResponse | Parked:
    """Open all share partitions. Answer with what was found, else wait."""
    if work.refused:
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    unreadable = _open_partitions(work)
    if found is None:
        found = _read(work, at_once=work.request.max_wait_ms <= 0 or not (work.lives or unreadable))
    if found is not None:
        return _answer(work, found)
    work.failed |= unreadable
    return _ParkedShareFetch(work)


def _open_partitions(work: _ShareFetch) -> dict[Place, KafkaError]:
    """Returns the errors of those whose state cannot be read. As in Kafka only an answer that comes later has them."""
    ctx = work.ctx
    shares = ctx.services.share_partitions()
    work.lives = []
    unreadable: dict[Place, KafkaError] = {}
    for place, partition in work.places.items():
        key = ShareKey(work.request.group_id or "", *place)
        try:
            work.lives.append(shares.open(key, partition, ctx.node.id))
        except KafkaError as error:
            failed = unreadable if error.code is ErrorCode.UNKNOWN_SERVER_ERROR else work.failed
            failed[place] = as_value(error)
    return unreadable


def _read(work: _ShareFetch, *, at_once: bool) -> list[ShareRead] | None:
    services = work.ctx.services
    return read_shared(services.share_partitions(), work.lives, work.read, services.clock.now_ms(), at_once=at_once)


class _ParkedShareFetch(ParkedInPartitions):
    """A share fetch that waits for records to come, or to come back. It misses nothing from when it is made."""

    __slots__ = ("_work",)

    def __init__(self, work: _ShareFetch) -> None:
        super().__init__(work.ctx.services.clock, work.request.max_wait_ms)
        self._work = work
        self._register()

    def look(self, due: bool) -> ShareFetchResponse | None:
        found = _read(self._work, at_once=due)
        if found is not None:
            return _answer(self._work, found)
        self._register()
        return None

    def _register(self) -> None:
        lives = self._work.lives
        self.wait_in([each for live in lives for each in (live.waiters, live.partition.waiters)], missing_bytes=1)


class _AnswerInTime(Parked):
    """An answer that would only make the member ask again at once, so it comes when its fetch would have ended."""

    __slots__ = ("_answer", "_clock")

    def __init__(self, ctx: RequestContext, max_wait_ms: int, answer: Callable[[], ShareFetchResponse]) -> None:
        super().__init__(ctx.services.clock.now_ms() + max_wait_ms)
        self._clock = ctx.services.clock
        self._answer = answer

    def resume(self) -> ShareFetchResponse | None:
        """The answer, when its time has come."""
        return self._answer() if self._clock.now_ms() >= self.deadline_ms else None

    def abandon(self) -> None:
        """There is nothing to leave behind."""


# -- answering


def _answer(work: _ShareFetch, found: Sequence[ShareRead]) -> ShareFetchResponse:
    session = work.session
    if session is not None and session.epoch != work.epoch_due:
        return ShareFetchResponse(error_code=ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    rows = {
        place: PartitionData(partition_index=place[1], error_code=error.code, records=_EMPTY)
        for place, error in work.failed.items()
    }
    rows |= {(read.live.key.topic_id, read.live.key.partition): _row(read) for read in found}
    if session is not None:
        rows = {place: row for place, row in rows.items() if _must_answer(session, place, row)}
    for place, error in work.answers.items():
        row = rows.setdefault(place, PartitionData(partition_index=place[1], records=_EMPTY))
        if error is not None:
            row.acknowledge_error_code, row.acknowledge_error_message = error.code, error.message
    if work.request.share_session_epoch == FINAL_EPOCH:
        _end_session(work.ctx, work.request)
    answer: ShareFetchResponse = _told(
        work.ctx, work.request.group_id, rows, ShareFetchResponse(), fetched.ShareFetchableTopicResponse, fetched
    )
    return answer


def _row(read: ShareRead) -> PartitionData:
    row = PartitionData(partition_index=read.live.key.partition, records=list(read.records) or _EMPTY)
    row.acquired_records = [AcquiredRecords(*taken) for taken in read.ranges]
    if read.error is not None:
        row.error_code = read.error.code
    return row


def _must_answer(session: ShareSession, place: Place, row: PartitionData) -> bool:
    """Whether the answer to a request that continues a session must have a partition."""
    item = session.places.get(place)
    if item is None:
        return True
    must = item.must_answer or bool(row.records) or row.error_code != ErrorCode.NONE
    item.must_answer = row.error_code != ErrorCode.NONE
    if row.records:
        session.served(place)
    return must


# -- ShareAcknowledge, and the acknowledgements that come with ShareFetch


@handles(
    ShareAcknowledgeRequest,
    access=ByItem((Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)),
)
def share_acknowledge(ctx: RequestContext, request: ShareAcknowledgeRequest) -> ShareAcknowledgeResponse | Later:
    """The acknowledgements of a member for its acquired records."""
    check_served(ctx)
    try:
        _check_member(ctx, request.group_id, request.member_id)
        _take_turn(ctx, request)
    except KafkaError as error:
        return ShareAcknowledgeResponse(error_code=error.code)
    answers = _acknowledge_all(ctx, request)
    waiting = _uncommitted(ctx, request, answers)
    if request.share_session_epoch == FINAL_EPOCH:
        _end_session(ctx, request)
    return _respond_later(ctx, request, answers, waiting) if waiting else _acknowledged(ctx, request, answers)


async def _respond_later(
    ctx: RequestContext, request: ShareAcknowledgeRequest, answers: _Answers, waiting: _Waiting
) -> ShareAcknowledgeResponse:
    await _committed(ctx, request, answers, waiting)
    return _acknowledged(ctx, request, answers)


def _uncommitted(ctx: RequestContext, request: Any, answers: _Answers) -> _Waiting:
    """The acknowledgements whose states followers of the share coordinator lack."""
    if len(ctx.services.nodes) < 2:
        return ()
    shares = ctx.services.share_partitions()
    stored = [
        (place, shares.uncommitted(ShareKey(request.group_id, *place)))
        for place, error in answers.items()
        if error is None
    ]
    return [(place, slot) for place, slot in stored if slot is not None]


async def _committed(ctx: RequestContext, request: Any, answers: _Answers, waiting: _Waiting) -> None:
    """Wait for them, and answer those that may be lost with why."""
    for place, slot in waiting:
        try:
            await slot.wait()
        except KafkaError as error:
            shares = ctx.services.share_partitions()
            answers[place] = shares.not_stored(ShareKey(request.group_id, *place), error)


def _check_member(ctx: RequestContext, group_id: str | None, member_id: str | None) -> None:
    """INVALID_REQUEST without a group, and for a member id that no client may have; the client may read the group."""
    if group_id is not None:
        require_read(ctx, group_id)
    if group_id is None or not member_id or len(member_id) > _MAX_MEMBER_ID:
        raise KafkaError(ErrorCode.INVALID_REQUEST)


def _take_turn(ctx: RequestContext, request: ShareAcknowledgeRequest) -> None:
    """The request is the next one of the member's session."""
    epoch = request.share_session_epoch
    if epoch == INITIAL_EPOCH:
        raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    session = ctx.services.share_partitions().sessions(ctx.node.id).find(_session_key(request))
    if epoch != FINAL_EPOCH:
        session.check(epoch)
        session.advance()


def _session_key(request: Any) -> SessionKey:
    """The owner of a request's session."""
    return SessionKey(request.group_id, request.member_id)


def _end_session(ctx: RequestContext, request: Any) -> None:
    """The member has said that its session is over."""
    ctx.services.share_partitions().end_session(ctx.node.id, _session_key(request))


def _acknowledge_all(ctx: RequestContext, request: Any) -> _Answers:
    """Carry out all acknowledgements of a ShareAcknowledge or ShareFetch request.

    As in Kafka, a partition without any is answered only beside one with some, and of a partition that is named twice
    the last entry counts.
    """
    refused: _Answers = {}
    empty: _Answers = {}
    taken: _Answers = {}
    topics = ctx.services.topics
    renewals = ctx.api_version >= _RENEWALS_FROM
    asked = {
        (topic.topic_id, partition.partition_index): partition.acknowledgement_batches
        for topic in request.topics
        for partition in topic.partitions
    }
    for place, batches in asked.items():
        known = topics.by_id(place[0])
        if known is None:
            refused[place] = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        elif not _well_formed(batches, renewals=renewals, is_renew=request.is_renew_ack):
            refused[place] = KafkaError(ErrorCode.INVALID_REQUEST)
        elif not ctx.allows(Operation.READ, Resource.TOPIC, known.name):
            refused[place] = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        elif not 0 <= place[1] < len(known.partitions):
            refused[place] = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif not batches:
            empty[place] = None
        else:
            taken[place] = _acknowledge(ctx, request, place, batches)
    return {**taken, **refused, **empty} if taken else refused


def _acknowledge(ctx: RequestContext, request: Any, place: Place, batches: Iterable[Any]) -> KafkaError | None:
    said = [AcknowledgementBatch(batch.first_offset, batch.last_offset, batch.acknowledge_types) for batch in batches]
    try:
        ctx.services.share_partitions().acknowledge(ShareKey(request.group_id, *place), request.member_id, said)
    except KafkaError as error:
        return KafkaError(error.code, error.message or _TEXTS.get(error.code))
    return None


def _well_formed(batches: Iterable[Any], *, renewals: bool, is_renew: bool) -> bool:
    """Whether batches are in order, and say one thing of all their offsets or one of each."""
    end = -1
    largest = RENEW if renewals else RENEW - 1
    for batch in batches:
        first, last, types = batch.first_offset, batch.last_offset, batch.acknowledge_types
        if first > last or first < end or not types:
            return False
        if len(types) > 1 and last - first != len(types) - 1:
            return False
        if min(types) < 0 or max(types) > largest or (not is_renew and max(types) == RENEW):
            return False
        end = last
    return True


def _acknowledged(ctx: RequestContext, request: ShareAcknowledgeRequest, answers: _Answers) -> ShareAcknowledgeResponse:
    rows: dict[Place, Any] = {}
    for place, error in answers.items():
        row = rows[place] = acknowledge.PartitionData(partition_index=place[1])
        if error is not None:
            row.error_code, row.error_message = error.code, error.message
    answer: ShareAcknowledgeResponse = _told(
        ctx,
        request.group_id,
        rows,
        ShareAcknowledgeResponse(),
        acknowledge.ShareAcknowledgeTopicResponse,
        acknowledge,
    )
    return answer


# -- what both tell


def _told(
    ctx: RequestContext, group_id: str | None, rows: Mapping[Place, Any], response: Any, topic_class: Any, messages: Any
) -> Any:
    """The response with a row for each partition, by topic, and with the leaders that partitions have now.

    `topic_class`, `messages`: the class of its topics, and the module of all its classes.
    """
    topics: dict[bytes, Any] = {}
    leaders: list[int] = []
    for place, row in rows.items():
        if row.error_code in _LEADER_ERRORS:
            leader = _leader_of(ctx, place)
            row.current_leader = messages.LeaderIdAndEpoch(*leader)
            leaders.append(leader[0])
        topics.setdefault(place[0], topic_class(topic_id=place[0])).partitions.append(row)
    response.responses = list(topics.values())
    response.acquisition_lock_timeout_ms = ctx.services.share_partitions().settings_of(group_id or "").lock_duration_ms
    if leaders:
        response.node_endpoints = leader_endpoints(ctx, leaders, messages.NodeEndpoint)
    return response


def _leader_of(ctx: RequestContext, place: Place) -> tuple[int, int]:
    """Leader and leader epoch of a partition, -1 without a leader."""
    topic = ctx.services.topics.by_id(place[0])
    if topic is None or not 0 <= place[1] < len(topic.partitions):
        return -1, -1
    partition = topic.partitions[place[1]]
    return partition.leader_id, partition.leader_epoch
