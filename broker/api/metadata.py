"""Metadata (key 3) and DescribeTopicPartitions (key 75).

Metadata versions 0 to 13. v0: an empty list of topics means all of them; from v1 null does and an empty list means
none. v4: the client says whether missing topics may be created. v5: offline replicas. v7: leader epochs (KIP-320). v8
to v10: authorised operations of the cluster. v10: topic ids in the answer, v12 also in the request (KIP-516). v13: an
error for the whole answer.

As on Kafka a topic that is created on the way is first answered with UNKNOWN_TOPIC_OR_PARTITION; the client asks again.
Topics that exist come first, in the order asked for, then those that do not.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Coroutine, Hashable, Iterable
from typing import Any, cast

import trio

from odradek.broker.api.lookups import reachable, told_controller
from odradek.broker.controller import topic_control
from odradek.broker.controller.topic_control import CreatedTopic, NewTopic, check_new_partitions
from odradek.broker.metadata.image import (
    CLUSTER_METADATA,
    INTERNAL_TOPICS,
    NO_LEADER,
    PartitionRegistration,
    TopicImage,
    check_topic_name,
)
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import EncodedBody
from odradek.broker.requests.quota_switch import mutations_of
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource, all_operations
from odradek.broker.worker import in_thread
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from odradek.protocol.generated.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.message_codec import codec

NOT_ASKED = -(1 << 31)

_log = logging.getLogger("odradek.broker.api")

_FIRST_VERSION_WITH_NULL_FOR_ALL = 1
_FIRST_VERSION_BY_ID = 12
_BYTES_OF_A_NAME = 150
"""What a name takes in the key of a kept answer."""
_LISTENERS_FROM = 6


Answer = MetadataResponse | EncodedBody

_AT_ONCE = 400
"""Topics and partitions that are described before other clients get their turn: some milliseconds of work."""


# Rights: DESCRIBE on each topic, CREATE on the cluster or the topic where one is created on the way. A topic that was
# asked for is TOPIC_AUTHORIZATION_FAILED without them, whether it exists or not; in a list of all topics it is left
# out. Ids are no secret: one that exists is TOPIC_AUTHORIZATION_FAILED, with the id and no name.

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_DESCRIBE, _CREATE, _TOPIC = Operation.DESCRIBE, Operation.CREATE, Resource.TOPIC
_Visible = frozenset[str] | None
"""The topics that a client may see; None for all that it asks about."""


@handles(
    MetadataRequest,
    access=ByItem((_DESCRIBE, _TOPIC), (_CREATE, Resource.CLUSTER), (_CREATE, _TOPIC)),
)
def metadata(ctx: RequestContext, request: MetadataRequest) -> Answer | Coroutine[Any, Any, Answer]:
    """Nodes, controller and topics; creates missing topics where client and broker allow it.

    The encoded answer is kept until topics, leaders or nodes change: clients of large clusters ask for the same again
    and again. It serves those who may see all of it. Other clients are served while many topics are described.
    """
    asked = request.topics
    version = ctx.api_version
    nodes = nodes_seen(ctx)
    image = ctx.services.image
    visible = None if ctx.authorizer is None else _visible(ctx, request)
    cached = ctx.services.answers.of("Metadata", image.topics_version)
    key = (
        version,
        None if asked is None else tuple([(topic.name, topic.topic_id) for topic in asked]),
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
        nodes,
    )
    encoded = cached.get(key) if visible is None else None
    if encoded is not None:
        return cast(EncodedBody, encoded)
    if asked is None or _asks_for_all(request, version):
        shown = [topic for topic in image.topics.values() if visible is None or topic.name in visible]
        if len(shown) > _AT_ONCE:
            return _of_many(ctx, request, nodes, shown, key if visible is None else None)
        live = live_nodes(ctx)
        topics = [topic_answer(ctx, topic, request, live) for topic in shown]
    else:
        refusal = _refusal(request, version)
        if refusal is not None:
            return _refused(request, refusal)
        by_id = {t.topic_id: None for t in asked if t.topic_id != ZERO_UUID}
        if by_id:
            topics = _topics_by_id(ctx, request, by_id, visible)
        else:
            topics = _topics_by_name(ctx, request, {cast(str, t.name): None for t in asked}, visible)
    response = _response_of(ctx, request, nodes, topics)
    if visible is not None or any(topic.error_code != ErrorCode.NONE for topic in topics):
        # A missing topic may be created by the next request for it.
        return response
    encoded = EncodedBody(codec(MetadataResponse, version).encode(response))
    size = len(encoded.body) + _BYTES_OF_A_NAME * (0 if asked is None else len(asked))
    ctx.services.answers.keep("Metadata", key, encoded, size)
    return encoded


def _visible(ctx: RequestContext, request: MetadataRequest) -> _Visible:
    """What a client may see, or None where the answer is the same as for one that may see everything."""
    image, asked = ctx.services.image, request.topics or ()
    everything = _asks_for_all(request, ctx.api_version)
    if not everything and _refusal(request, ctx.api_version) is not None:
        return None
    names: Collection[str] = image.topics
    if not everything:
        ids = [t.topic_id for t in asked if t.topic_id != ZERO_UUID]
        known = [image.topics_by_id[topic_id].name for topic_id in ids if topic_id in image.topics_by_id]
        names = dict.fromkeys(known if ids else [cast(str, t.name) for t in asked])
    visible = ctx.allowed(_DESCRIBE, _TOPIC, names, tell=not everything)
    with_rights = request.include_topic_authorized_operations or request.include_cluster_authorized_operations
    return None if len(visible) == len(names) and not with_rights else visible


async def _of_many(
    ctx: RequestContext,
    request: MetadataRequest,
    nodes: tuple[NodeSeen, ...],
    shown: list[TopicImage],
    key: Hashable | None,
) -> EncodedBody:
    """The answer about many topics, which is kept under its key unless they change meanwhile."""
    image, kept = ctx.services.image, ctx.services.answers
    version = image.topics_version
    live = live_nodes(ctx)
    topics = []
    left = _AT_ONCE
    for topic in shown:
        topics.append(topic_answer(ctx, topic, request, live))
        left -= 1 + len(topic.partitions)
        if left <= 0:
            await trio.lowlevel.checkpoint()
            left = _AT_ONCE
    response = _response_of(ctx, request, nodes, topics)
    encoded = EncodedBody(await in_thread(codec(MetadataResponse, ctx.api_version).encode, response))
    if key is not None and image.topics_version == version:
        kept.of("Metadata", version)
        kept.keep("Metadata", key, encoded, len(encoded.body))
    return encoded


def _asks_for_all(request: MetadataRequest, version: int) -> bool:
    return request.topics is None or (not request.topics and version < _FIRST_VERSION_WITH_NULL_FOR_ALL)


def _refusal(request: MetadataRequest, version: int) -> ErrorCode | None:
    """The error of a request for some topics that has ids in a version without them, or a topic without a name."""
    asked = request.topics or ()
    if version < _FIRST_VERSION_BY_ID and any(t.name is None or t.topic_id != ZERO_UUID for t in asked):
        return ErrorCode.INVALID_REQUEST
    nameless = any(t.name is None for t in asked) and all(t.topic_id == ZERO_UUID for t in asked)
    return ErrorCode.UNKNOWN_SERVER_ERROR if nameless else None


def authorized_on_cluster(ctx: RequestContext) -> int:
    """The field of what the client may do with the cluster: 0 if it may not even describe it."""
    if not ctx.allows(Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME):
        return 0
    return ctx.operations(Resource.CLUSTER, CLUSTER_NAME)


NodeSeen = tuple[int, str, int, str | None]


def nodes_seen(ctx: RequestContext) -> tuple[NodeSeen, ...]:
    """Id, host, port and rack of each node that is up, as the client reaches them."""
    return tuple((node.id, *address, node.rack) for node, address in reachable(ctx, ctx.services.up_nodes()))


def _response_of(
    ctx: RequestContext, request: MetadataRequest, nodes: Iterable[NodeSeen], topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    """The response with nodes, topics and what is known of the cluster."""
    if request.include_topic_authorized_operations and ctx.authorizer is not None:
        topics = [_with_operations(ctx, topic) for topic in topics]
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in nodes],
        cluster_id=ctx.services.cluster_id,
        controller_id=told_controller(ctx),
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized_on_cluster(ctx)
    return response


def _with_operations(ctx: RequestContext, topic: MetadataResponseTopic) -> MetadataResponseTopic:
    """A copy, as parts of answers are kept; of a topic that is not shown nothing is told."""
    if topic.name is None or topic.error_code == _DENIED:
        return topic
    return topic.replace(topic_authorized_operations=ctx.operations(_TOPIC, topic.name))


def _topics_by_id(
    ctx: RequestContext, request: MetadataRequest, ids: Iterable[bytes], visible: _Visible
) -> list[MetadataResponseTopic]:
    known = ctx.services.image.topics_by_id
    live = live_nodes(ctx)
    unknown: list[MetadataResponseTopic] = []
    shown: list[MetadataResponseTopic] = []
    denied: list[MetadataResponseTopic] = []
    for topic_id in ids:
        topic = known.get(topic_id)
        if topic is None:
            unknown.append(MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id))
        elif visible is None or topic.name in visible:
            shown.append(topic_answer(ctx, topic, request, live))
        else:
            denied.append(MetadataResponseTopic(_DENIED, None, topic_id))
    return unknown + shown + denied


def _topics_by_name(
    ctx: RequestContext, request: MetadataRequest, names: Iterable[str], visible: _Visible
) -> list[MetadataResponseTopic]:
    """Topics that exist come first, then those that do not, then what the client may not create, or see."""
    topics = ctx.services.image.topics
    live = live_nodes(ctx)
    found: list[MetadataResponseTopic] = []
    absent: list[str] = []
    hidden: list[MetadataResponseTopic] = []
    for name in names:
        topic = topics.get(name)
        if visible is not None and name not in visible:
            hidden.append(MetadataResponseTopic(_DENIED, name))
        elif topic is not None:
            found.append(topic_answer(ctx, topic, request, live))
        else:
            absent.append(name)
    if not absent:
        return found + hidden
    creates = request.allow_auto_topic_creation and ctx.services.config.get_bool(
        "auto.create.topics.enable", ctx.node.id
    )
    creatable = frozenset(absent)
    if creates and not ctx.allows(_CREATE, Resource.CLUSTER, CLUSTER_NAME, tell=False):
        creatable = ctx.allowed(_CREATE, _TOPIC, absent)
    early = ctx.release.tells_leader_not_available
    code_when_created = ErrorCode.LEADER_NOT_AVAILABLE if early else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    missing: list[MetadataResponseTopic] = []
    uncreatable: list[MetadataResponseTopic] = []
    wanted: list[str] = []
    for name in absent:
        code, operations = _code_of_missing(name), _topic_operations(request)
        if name not in creatable:
            code, operations = _DENIED, NOT_ASKED
        elif creates and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            wanted.append(name)
            code = code_when_created
        row = MetadataResponseTopic(
            code, name, is_internal=name in INTERNAL_TOPICS, topic_authorized_operations=operations
        )
        (missing if name in creatable else uncreatable).append(row)
    if wanted:
        _create_missing(ctx, wanted)
    return found + missing + uncreatable + hidden


def _code_of_missing(name: str) -> ErrorCode:
    try:
        check_topic_name(name)
    except KafkaError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _create_missing(ctx: RequestContext, names: list[str]) -> None:
    """Kafka creates in the background, all with one request: this client learns of neither success nor failure."""
    given = ctx.services.config.static_of(ctx.node.id)
    # What this broker was not given, the controller chooses.
    partitions, factor = (int(given.get(key, -1)) for key in ("num.partitions", "default.replication.factor"))
    new = []
    try:
        for name in names:
            if name in INTERNAL_TOPICS:
                ctx.services.controller.ensure_topic(name)
            elif name != CLUSTER_METADATA:
                new.append(NewTopic(name, partitions, factor))
        default = ctx.services.config.get_int("num.partitions", ctx.services.controller.controller_id)
        check_new_partitions(len(new) * (partitions if partitions > 0 else default))
        for topic, result in zip(new, _created(ctx, new), strict=True):
            if isinstance(result, KafkaError):
                _log.warning("topic %s was asked for and could not be created: %s", topic.name, result)
            else:
                ctx.services.auto_created[topic.name] = ctx.client_id
    except KafkaError as error:
        _log.warning("topics were asked for and could not be created: %s", error)


def _created(ctx: RequestContext, new: list[NewTopic]) -> list[CreatedTopic | KafkaError]:
    quota = mutations_of(ctx, 0, told=False)
    return ctx.services.controller.ask(topic_control.create_topics, new, quota=quota) if new else []


def _topic_operations(request: MetadataRequest) -> int:
    """Those that are asked for, without an authorizer: see `_with_operations`."""
    return all_operations(_TOPIC) if request.include_topic_authorized_operations else NOT_ASKED


def live_nodes(ctx: RequestContext) -> tuple[int, ...]:
    """The nodes that are up and have the client's listener."""
    return tuple(node.id for node, _ in reachable(ctx, ctx.services.up_nodes()))


def topic_answer(
    ctx: RequestContext, topic: TopicImage, request: MetadataRequest, live: tuple[int, ...]
) -> MetadataResponseTopic:
    """The topic as Metadata shows it, kept until the topic or the set of live nodes changes."""
    unreachable = ErrorCode.LISTENER_NOT_FOUND if ctx.api_version >= _LISTENERS_FROM else ErrorCode.LEADER_NOT_AVAILABLE
    kept = ctx.services.answers.topics
    key = (topic.topic_id, request.include_topic_authorized_operations)
    only_live = ctx.api_version == 0
    made_of = (topic.version, live, unreachable, only_live)
    known = kept.get(key)
    if known is not None and known[0] == made_of:
        return cast(MetadataResponseTopic, known[1])
    if len(kept) > 2 * len(ctx.services.image.topics):
        kept.clear()
    answer = MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[
            _partition(index, partition, live, unreachable, only_live=only_live)
            for index, partition in enumerate(topic.partitions)
        ],
        topic_authorized_operations=_topic_operations(request),
    )
    kept[key] = (made_of, answer)
    return answer


def _partition(
    index: int, partition: PartitionRegistration, live: Collection[int], unreachable: ErrorCode, *, only_live: bool
) -> MetadataResponsePartition:
    """`only_live`: v0 leaves out replicas that are down, and says so with an error."""
    leader, code = partition.leader, ErrorCode.NONE
    replicas, isr = list(partition.replicas), list(partition.isr)
    if only_live and not set(replicas) <= set(live):
        replicas, isr = [[node for node in nodes if node in live] for nodes in (replicas, isr)]
        code = ErrorCode.REPLICA_NOT_AVAILABLE
    if leader < 0:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif leader not in live:
        leader, code = NO_LEADER, unreachable
    return MetadataResponsePartition(
        code,
        index,
        leader,
        partition.leader_epoch,
        replicas,
        isr,
        [node for node in partition.replicas if node not in live or partition.is_lost(node)],
    )


def _refused(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    """An error beside each topic and nothing of the cluster: ids, or a missing name, before v12; neither of them."""
    return MetadataResponse(
        topics=[MetadataResponseTopic(code, t.name or "", t.topic_id) for t in request.topics or []],
        error_code=code,
    )


@handles(DescribeTopicPartitionsRequest, access=ByItem((Operation.DESCRIBE, Resource.TOPIC)))
def describe_topic_partitions(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Partitions of topics in the order of their names, from a cursor on, up to a number of partitions (KIP-966)."""
    cursor = request.cursor
    topics = ctx.services.image.topics
    asked = dict.fromkeys(topic.name for topic in request.topics)
    if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
        code = ErrorCode.INVALID_REQUEST
        refused = [DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in request.topics]
        return DescribeTopicPartitionsResponse(topics=refused)
    start = "" if cursor is None else cursor.topic_name
    wanted = [name for name in asked or topics if name >= start]
    names = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, wanted)
    if "" in asked and "" in names:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    limit = min(ctx.services.config.get_int("max.request.partition.size.limit"), request.response_partition_limit)
    remaining = max(limit, 1)
    response = DescribeTopicPartitionsResponse(topics=[])
    for name in sorted(names):
        if remaining == 0:
            response.next_cursor = ResponseCursor(name, 0)
            break
        topic = topics.get(name)
        if topic is None:
            if asked:
                code = _code_of_missing(name)
                unknown = DescribeTopicPartitionsResponseTopic(
                    code,
                    name,
                    is_internal=name in INTERNAL_TOPICS,
                    topic_authorized_operations=ctx.operations(Resource.TOPIC, name),
                )
                response.topics.append(unknown)
            continue
        first = cursor.partition_index if cursor is not None and name == start else 0
        if first + remaining >= 1 << 31:
            # The sum is one of 32 bits, and so the next cursor.
            response.topics.append(_describe(ctx, topic, first, first))
            response.next_cursor = ResponseCursor(name, first + remaining - (1 << 32))
            break
        described = _describe(ctx, topic, first, first + remaining)
        response.topics.append(described)
        remaining -= len(described.partitions)
        if first + len(described.partitions) < len(topic.partitions):
            response.next_cursor = ResponseCursor(name, first + len(described.partitions))
            break
    if asked:
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        response.topics += [DescribeTopicPartitionsResponseTopic(denied, name) for name in wanted if name not in names]
    return response


def _describe(ctx: RequestContext, topic: TopicImage, first: int, end: int) -> DescribeTopicPartitionsResponseTopic:
    live = live_nodes(ctx)
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                ErrorCode.NONE,
                index,
                partition.leader if partition.leader in live else NO_LEADER,
                partition.leader_epoch,
                list(partition.replicas),
                list(partition.isr),
                list(partition.elr),
                list(partition.last_known_elr),
                [node for node in partition.replicas if node not in live or partition.is_lost(node)],
            )
            for index, partition in enumerate(topic.partitions[first:end], first)
        ],
        topic_authorized_operations=ctx.operations(Resource.TOPIC, topic.name),
    )
