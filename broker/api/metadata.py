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
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
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

# Bit n set = operation n of Kafka's AclOperation allowed; without an authorizer that is every operation that the
# resource knows.
ALL_TOPIC_OPERATIONS = 3576
ALL_CLUSTER_OPERATIONS = 8096
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


@handles(
    MetadataRequest,
    access=ByItem(
        (Operation.DESCRIBE, Resource.TOPIC),
        (Operation.CREATE, Resource.CLUSTER),
        (Operation.CREATE, Resource.TOPIC),
        guard="guarded_metadata",
    ),
)
def metadata(ctx: RequestContext, request: MetadataRequest) -> Answer | Coroutine[Any, Any, Answer]:
    """Nodes, controller and topics; creates missing topics where client and broker allow it.

    The encoded answer is kept until topics, leaders or nodes change: clients of large clusters ask for the same again
    and again. Other clients are served while many topics are described.
    """
    asked = request.topics
    version = ctx.api_version
    nodes = nodes_seen(ctx)
    image = ctx.services.image
    cached = ctx.services.answers.of("Metadata", image.topics_version)
    key = (
        version,
        None if asked is None else tuple([(topic.name, topic.topic_id) for topic in asked]),
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
        nodes,
    )
    encoded = cached.get(key)
    if encoded is not None:
        return cast(EncodedBody, encoded)
    if asked is None or asks_for_all(request, version):
        if len(image.topics) > _AT_ONCE:
            return _of_many(ctx, request, nodes, key)
        live = live_nodes(ctx)
        topics = [topic_answer(ctx, topic, request, live) for topic in image.topics.values()]
    else:
        if _is_ahead_of(request, version):
            return _refused(request, ErrorCode.INVALID_REQUEST)
        by_id = {t.topic_id: None for t in asked if t.topic_id != ZERO_UUID}
        if by_id:
            topics = topics_by_id(ctx, request, list(by_id))
        elif _is_nameless(request):
            return _refused(request, ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            topics = topics_by_name(ctx, request, list({cast(str, t.name): None for t in asked}))
    response = _whole(ctx, request, nodes, topics)
    if any(topic.error_code != ErrorCode.NONE for topic in topics):
        # A missing topic may be created by the next request for it.
        return response
    encoded = EncodedBody(codec(MetadataResponse, version).encode(response))
    size = len(encoded.body) + _BYTES_OF_A_NAME * (0 if asked is None else len(asked))
    ctx.services.answers.keep("Metadata", key, encoded, size)
    return encoded


def _whole(
    ctx: RequestContext, request: MetadataRequest, nodes: Iterable[NodeSeen], topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    response = response_of(ctx, nodes, topics)
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ALL_CLUSTER_OPERATIONS
    return response


async def _of_many(
    ctx: RequestContext, request: MetadataRequest, nodes: tuple[NodeSeen, ...], key: Hashable
) -> EncodedBody:
    """The answer about all of many topics, which is kept unless they change meanwhile."""
    image, kept = ctx.services.image, ctx.services.answers
    version = image.topics_version
    live = live_nodes(ctx)
    topics = []
    left = _AT_ONCE
    for topic in list(image.topics.values()):
        topics.append(topic_answer(ctx, topic, request, live))
        left -= 1 + len(topic.partitions)
        if left <= 0:
            await trio.lowlevel.checkpoint()
            left = _AT_ONCE
    response = _whole(ctx, request, nodes, topics)
    encoded = EncodedBody(await in_thread(codec(MetadataResponse, ctx.api_version).encode, response))
    if image.topics_version == version:
        kept.of("Metadata", version)
        kept.keep("Metadata", key, encoded, len(encoded.body))
    return encoded


def asks_for_all(request: MetadataRequest, version: int) -> bool:
    """Whether all topics are asked for."""
    return request.topics is None or (not request.topics and version < _FIRST_VERSION_WITH_NULL_FOR_ALL)


def is_refused(request: MetadataRequest, version: int) -> bool:
    """Whether a request for some topics is refused as a whole."""
    return _is_ahead_of(request, version) or _is_nameless(request)


def _is_ahead_of(request: MetadataRequest, version: int) -> bool:
    """Whether it asks by id in a version that has no ids."""
    asked = request.topics or ()
    return version < _FIRST_VERSION_BY_ID and any(t.name is None or t.topic_id != ZERO_UUID for t in asked)


def _is_nameless(request: MetadataRequest) -> bool:
    """Whether it asks by name and one is missing."""
    asked = request.topics or ()
    return any(t.name is None for t in asked) and all(t.topic_id == ZERO_UUID for t in asked)


def may_create(ctx: RequestContext, request: MetadataRequest) -> bool:
    """Whether client and broker want missing topics to be created."""
    return request.allow_auto_topic_creation and ctx.services.config.get_bool("auto.create.topics.enable", ctx.node.id)


def authorized_on_cluster(ctx: RequestContext) -> int:
    """The field of what the client may do with the cluster: 0 if it may not even describe it."""
    if not ctx.allows(Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME):
        return 0
    return ctx.operations(Resource.CLUSTER, CLUSTER_NAME)


NodeSeen = tuple[int, str, int, str | None]


def nodes_seen(ctx: RequestContext) -> tuple[NodeSeen, ...]:
    """Id, host, port and rack of each node that is up, as the client reaches them."""
    return tuple((node.id, *address, node.rack) for node, address in reachable(ctx, ctx.services.up_nodes()))


def response_of(
    ctx: RequestContext, nodes: Iterable[NodeSeen], topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    """The response with nodes, topics and what is known of the cluster."""
    return MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in nodes],
        cluster_id=ctx.services.cluster_id,
        controller_id=told_controller(ctx),
        topics=topics,
    )


def topics_by_id(ctx: RequestContext, request: MetadataRequest, ids: list[bytes]) -> list[MetadataResponseTopic]:
    known = ctx.services.image.topics_by_id
    unknown = [
        MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id) for topic_id in ids if topic_id not in known
    ]
    found = [known[topic_id] for topic_id in ids if topic_id in known]
    live = live_nodes(ctx)
    return unknown + [topic_answer(ctx, topic, request, live) for topic in found]


def topics_by_name(ctx: RequestContext, request: MetadataRequest, names: list[str]) -> list[MetadataResponseTopic]:
    topics = ctx.services.image.topics
    found: list[MetadataResponseTopic] = []
    missing: list[MetadataResponseTopic] = []
    wanted: list[str] = []
    live = live_nodes(ctx)
    creates = may_create(ctx, request)
    early = ctx.release.tells_leader_not_available
    code_when_created = ErrorCode.LEADER_NOT_AVAILABLE if early else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for name in names:
        topic = topics.get(name)
        if topic is not None:
            found.append(topic_answer(ctx, topic, request, live))
        else:
            code = _code_of_missing(name)
            created = creates and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if created:
                wanted.append(name)
            missing.append(
                MetadataResponseTopic(
                    code_when_created if created else code,
                    name,
                    is_internal=name in INTERNAL_TOPICS,
                    topic_authorized_operations=_topic_operations(request),
                )
            )
    if wanted:
        _create_missing(ctx, wanted)
    return found + missing


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
    return ALL_TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED


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
    made_of = (topic.version, live, unreachable)
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
            _partition(index, partition, live, unreachable) for index, partition in enumerate(topic.partitions)
        ],
        topic_authorized_operations=_topic_operations(request),
    )
    kept[key] = (made_of, answer)
    return answer


def _partition(
    index: int, partition: PartitionRegistration, live: Collection[int], unreachable: ErrorCode
) -> MetadataResponsePartition:
    leader, code = partition.leader, ErrorCode.NONE
    if leader < 0:
        code = ErrorCode.LEADER_NOT_AVAILABLE
    elif leader not in live:
        leader, code = NO_LEADER, unreachable
    return MetadataResponsePartition(
        code,
        index,
        leader,
        partition.leader_epoch,
        list(partition.replicas),
        list(partition.isr),
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


# -- Rights of Metadata: DESCRIBE on each topic, CREATE on the cluster or the topic where one is created on the way.
#
# A topic that was asked for is TOPIC_AUTHORIZATION_FAILED without them, whether it exists or not; in a list of all
# topics it is left out. Ids are no secret: one that exists is TOPIC_AUTHORIZATION_FAILED, with the id and no name.

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_DESCRIBE, _CREATE, _TOPIC = Operation.DESCRIBE, Operation.CREATE, Resource.TOPIC
_CLUSTER_OPERATIONS_IN = range(8, 11)


def guarded_metadata(ctx: RequestContext, request: MetadataRequest) -> Answer | Coroutine[Any, Any, Answer]:
    """The part of the answer that the client may see. Where that is everything asked for, the plain handler's kept
    answers serve.
    """
    everything = asks_for_all(request, ctx.api_version)
    if not everything and is_refused(request, ctx.api_version):
        return metadata(ctx, request)
    wants_bits = request.include_topic_authorized_operations or request.include_cluster_authorized_operations
    if everything:
        topics = ctx.services.image.topics
        visible = ctx.allowed(_DESCRIBE, _TOPIC, topics, tell=False)
        if len(visible) == len(topics) and not wants_bits:
            return metadata(ctx, request)
        live = live_nodes(ctx)
        shown = [topic_answer(ctx, topic, request, live) for topic in topics.values() if topic.name in visible]
        return _response(ctx, request, [], shown, [])
    ids = list({t.topic_id: None for t in request.topics or () if t.topic_id != ZERO_UUID})
    if ids:
        return _by_id(ctx, request, ids)
    return _by_name(ctx, request, list({cast(str, t.name): None for t in request.topics or ()}), wants_bits)


def _by_id(ctx: RequestContext, request: MetadataRequest, ids: list[bytes]) -> MetadataResponse:
    known = ctx.services.image.topics_by_id
    names = {topic_id: known[topic_id].name for topic_id in ids if topic_id in known}
    allowed = ctx.allowed(_DESCRIBE, _TOPIC, names.values())
    unknown = topics_by_id(ctx, request, [topic_id for topic_id in ids if topic_id not in known])
    shown = topics_by_id(ctx, request, [topic_id for topic_id, name in names.items() if name in allowed])
    denied = [MetadataResponseTopic(_DENIED, None, topic_id) for topic_id, name in names.items() if name not in allowed]
    return _response(ctx, request, unknown, shown, denied)


def _by_name(
    ctx: RequestContext, request: MetadataRequest, names: list[str], wants_bits: bool
) -> Answer | Coroutine[Any, Any, Answer]:
    allowed = ctx.allowed(_DESCRIBE, _TOPIC, names)
    uncreatable = _uncreatable(ctx, request, [name for name in names if name in allowed])
    if len(allowed) == len(names) and not uncreatable and not wants_bits:
        return metadata(ctx, request)
    shown = topics_by_name(ctx, request, [name for name in names if name in allowed and name not in uncreatable])
    denied = [
        MetadataResponseTopic(_DENIED, name, is_internal=name in INTERNAL_TOPICS)
        for name in names
        if name in uncreatable
    ]
    denied += [MetadataResponseTopic(_DENIED, name) for name in names if name not in allowed]
    return _response(ctx, request, [], shown, denied)


def _uncreatable(ctx: RequestContext, request: MetadataRequest, names: list[str]) -> frozenset[str]:
    """The missing topics that would be created if the client might."""
    if not may_create(ctx, request):
        return frozenset()
    missing = [name for name in names if name not in ctx.services.image.topics]
    if not missing or ctx.allows(_CREATE, Resource.CLUSTER, CLUSTER_NAME, tell=False):
        return frozenset()
    return frozenset(missing) - ctx.allowed(_CREATE, _TOPIC, missing)


def _response(
    ctx: RequestContext,
    request: MetadataRequest,
    unknown: Iterable[MetadataResponseTopic],
    shown: Iterable[MetadataResponseTopic],
    denied: Iterable[MetadataResponseTopic],
) -> MetadataResponse:
    if request.include_topic_authorized_operations:
        shown = [_with_operations(ctx, topic) for topic in shown]
    response = response_of(ctx, nodes_seen(ctx), [*unknown, *shown, *denied])
    if request.include_cluster_authorized_operations and ctx.api_version in _CLUSTER_OPERATIONS_IN:
        response.cluster_authorized_operations = authorized_on_cluster(ctx)
    return response


def _with_operations(ctx: RequestContext, topic: MetadataResponseTopic) -> MetadataResponseTopic:
    """A copy: the plain handler keeps its answers."""
    name = cast(str, topic.name)
    return MetadataResponseTopic(
        topic.error_code, name, topic.topic_id, topic.is_internal, topic.partitions, ctx.operations(_TOPIC, name)
    )
