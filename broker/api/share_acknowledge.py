"""ShareAcknowledge (key 79), and the acknowledgements that come with ShareFetch.

Versions 1 and 2 (KIP-932); v2 renews locks (KIP-1222). A request belongs to the member's share session with the node;
the last one, with epoch -1, ends it, and what the member still holds is available again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from odradek.broker.api.group_requests import require_read
from odradek.broker.api.lookups import leader_endpoints
from odradek.broker.api.share_groups import check_served
from odradek.broker.partitions.share.manager import Stored
from odradek.broker.partitions.share.sessions import FINAL_EPOCH, INITIAL_EPOCH, Place, SessionKey
from odradek.broker.partitions.share.states import RENEW, AcknowledgementBatch, ShareKey
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

RENEWALS_FROM = 2
LEADER_ERRORS = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
_MAX_MEMBER_ID = 36

Answers = dict[Place, KafkaError | None]
"""The results of the acknowledgements, by partition."""
Waiting = Sequence[tuple[Place, Stored]]
"""Acknowledgements that do not count yet."""

_TEXTS: Mapping[ErrorCode, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}


@handles(ShareAcknowledgeRequest, access=ByItem((Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)))
def share_acknowledge(ctx: RequestContext, request: ShareAcknowledgeRequest) -> ShareAcknowledgeResponse | Later:
    """The acknowledgements of a member for its acquired records."""
    check_served(ctx)
    try:
        check_member(ctx, request.group_id, request.member_id)
        _take_turn(ctx, request)
    except KafkaError as error:
        return ShareAcknowledgeResponse(error_code=error.code)
    answers = acknowledge_all(ctx, request)
    waiting = uncommitted(ctx, request, answers)
    if request.share_session_epoch == FINAL_EPOCH:
        end_session(ctx, request)
    return _respond_later(ctx, request, answers, waiting) if waiting else _response(ctx, request, answers)


async def _respond_later(
    ctx: RequestContext, request: ShareAcknowledgeRequest, answers: Answers, waiting: Waiting
) -> ShareAcknowledgeResponse:
    await committed(ctx, request, answers, waiting)
    return _response(ctx, request, answers)


def uncommitted(ctx: RequestContext, request: Any, answers: Answers) -> Waiting:
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


async def committed(ctx: RequestContext, request: Any, answers: Answers, waiting: Waiting) -> None:
    """Wait for them, and answer those that may be lost with why."""
    for place, slot in waiting:
        try:
            await slot.wait()
        except KafkaError as error:
            shares = ctx.services.share_partitions()
            answers[place] = shares.not_stored(ShareKey(request.group_id, *place), error)


def check_member(ctx: RequestContext, group_id: str | None, member_id: str | None) -> None:
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
    session = ctx.services.share_partitions().sessions(ctx.node.id).find(session_key(request))
    if epoch != FINAL_EPOCH:
        session.check(epoch)
        session.advance()


def session_key(request: Any) -> SessionKey:
    """The owner of a request's session."""
    return SessionKey(request.group_id, request.member_id)


def end_session(ctx: RequestContext, request: Any) -> None:
    """The member has said that its session is over."""
    ctx.services.share_partitions().end_session(ctx.node.id, session_key(request))


def acknowledge_all(ctx: RequestContext, request: Any) -> Answers:
    """Carry out all acknowledgements of a ShareAcknowledge or ShareFetch request.

    A partition without any is answered only beside one with some, as in Kafka.
    """
    refused: Answers = {}
    empty: Answers = {}
    taken: Answers = {}
    topics = ctx.services.topics
    renewals = ctx.api_version >= RENEWALS_FROM
    for topic in request.topics:
        known = topics.by_id(topic.topic_id)
        readable = known is not None and ctx.allows(Operation.READ, Resource.TOPIC, known.name)
        for partition in topic.partitions:
            place = (topic.topic_id, partition.partition_index)
            batches = partition.acknowledgement_batches
            if known is None:
                refused[place] = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
            elif not _well_formed(batches, renewals=renewals, is_renew=request.is_renew_ack):
                refused[place] = KafkaError(ErrorCode.INVALID_REQUEST)
            elif not readable:
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


def _response(ctx: RequestContext, request: ShareAcknowledgeRequest, answers: Answers) -> ShareAcknowledgeResponse:
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    leaders: list[int] = []
    for (topic_id, index), error in answers.items():
        row = PartitionData(partition_index=index)
        if error is not None:
            row.error_code, row.error_message = error.code, error.message
            if error.code in LEADER_ERRORS:
                leader = leader_of(ctx, (topic_id, index))
                row.current_leader = LeaderIdAndEpoch(*leader)
                leaders.append(leader[0])
        topics.setdefault(topic_id, ShareAcknowledgeTopicResponse(topic_id=topic_id)).partitions.append(row)
    return ShareAcknowledgeResponse(
        responses=list(topics.values()),
        acquisition_lock_timeout_ms=lock_duration_ms(ctx, request.group_id),
        node_endpoints=leader_endpoints(ctx, leaders, NodeEndpoint) if leaders else [],
    )


def leader_of(ctx: RequestContext, place: Place) -> tuple[int, int]:
    """Leader and leader epoch of a partition, -1 without a leader."""
    topic = ctx.services.topics.by_id(place[0])
    if topic is None or not 0 <= place[1] < len(topic.partitions):
        return -1, -1
    partition = topic.partitions[place[1]]
    return partition.leader_id, partition.leader_epoch


def lock_duration_ms(ctx: RequestContext, group_id: str | None) -> int:
    """How long members of the group hold what they acquire now."""
    return ctx.services.share_partitions().settings_of(group_id or "").lock_duration_ms
