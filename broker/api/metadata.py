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
from collections.abc import Collection
from typing import cast

from odradek.broker.controller.commands import NewTopic
from odradek.broker.metadata.image import TopicImage
from odradek.broker.metadata.registrations import PartitionRegistration
from odradek.broker.metadata.topic_names import CLUSTER_METADATA, INTERNAL_TOPICS, check_topic_name
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.broker.requests.response import EncodedBody
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)
from odradek.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from odradek.protocol.schema import codec

# Bit n set = operation n of Kafka's AclOperation allowed; without an authorizer that is every operation that the
# resource knows.
ALL_TOPIC_OPERATIONS = 3576
ALL_CLUSTER_OPERATIONS = 8096
NOT_ASKED = -(1 << 31)

_log = logging.getLogger("odradek.broker.api")

_FIRST_VERSION_WITH_NULL_FOR_ALL = 1
_FIRST_VERSION_BY_ID = 12


@handles(MetadataRequest)
def metadata(ctx: RequestContext, request: MetadataRequest) -> MetadataResponse | EncodedBody:
    """Nodes, controller and topics; creates missing topics where client and broker allow it.

    The encoded answer is kept until topics, leaders or nodes change: clients of large clusters ask for the same again
    and again.
    """
    asked = request.topics
    version = ctx.api_version
    nodes = tuple((node.id, *node.address_for(ctx.connection.host), node.rack) for node in ctx.services.up_nodes())
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
    if asked is None or (not asked and version < _FIRST_VERSION_WITH_NULL_FOR_ALL):
        topics = [_answer(ctx, topic, request) for topic in image.topics.values()]
    else:
        if version < _FIRST_VERSION_BY_ID and any(t.name is None or t.topic_id != ZERO_UUID for t in asked):
            return _refused(request, ErrorCode.INVALID_REQUEST)
        by_id = {t.topic_id: None for t in asked if t.topic_id != ZERO_UUID}
        if by_id:
            topics = _topics_by_id(ctx, request, list(by_id))
        elif any(t.name is None for t in asked):
            return _refused(request, ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            topics = _topics_by_name(ctx, request, list({cast(str, t.name): None for t in asked}))
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in nodes],
        cluster_id=ctx.services.cluster_id,
        controller_id=ctx.services.controller.controller_id,
        topics=topics,
        cluster_authorized_operations=(
            ALL_CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
    if any(topic.error_code != ErrorCode.NONE for topic in topics):
        # A missing topic may be created by the next request for it.
        return response
    encoded = cached[key] = EncodedBody(codec(MetadataResponse, version).encode(response))
    return encoded


def _topics_by_id(ctx: RequestContext, request: MetadataRequest, ids: list[bytes]) -> list[MetadataResponseTopic]:
    known = ctx.services.image.topics_by_id
    unknown = [
        MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id) for topic_id in ids if topic_id not in known
    ]
    found = [known[topic_id] for topic_id in ids if topic_id in known]
    return unknown + [_answer(ctx, topic, request) for topic in found]


def _topics_by_name(ctx: RequestContext, request: MetadataRequest, names: list[str]) -> list[MetadataResponseTopic]:
    topics = ctx.services.image.topics
    found: list[MetadataResponseTopic] = []
    missing: list[MetadataResponseTopic] = []
    may_create = request.allow_auto_topic_creation and ctx.services.config.get_bool("auto.create.topics.enable")
    for name in names:
        topic = topics.get(name)
        if topic is not None:
            found.append(_answer(ctx, topic, request))
        else:
            code = _code_of_missing(name)
            if may_create and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                _create_missing(ctx, name)
            missing.append(
                MetadataResponseTopic(
                    code,
                    name,
                    is_internal=name in INTERNAL_TOPICS,
                    topic_authorized_operations=_topic_operations(request),
                )
            )
    return found + missing


def _code_of_missing(name: str) -> ErrorCode:
    try:
        check_topic_name(name)
    except KafkaError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _create_missing(ctx: RequestContext, name: str) -> None:
    """Kafka creates in the background: this client learns of neither success nor failure."""
    try:
        if name in INTERNAL_TOPICS:
            ctx.services.controller.ensure_topic(name)
        elif name != CLUSTER_METADATA:
            ctx.services.controller.create_topic(NewTopic(name))
    except KafkaError as error:
        _log.warning("topic %s was asked for and could not be created: %s", name, error)


def _topic_operations(request: MetadataRequest) -> int:
    return ALL_TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED


def _answer(ctx: RequestContext, topic: TopicImage, request: MetadataRequest) -> MetadataResponseTopic:
    """The topic as Metadata shows it, kept until the topic or the set of live nodes changes."""
    live = tuple(node.id for node in ctx.services.up_nodes())
    kept = ctx.services.topic_answers
    key = (topic.topic_id, request.include_topic_authorized_operations)
    made_of = (topic.version, live)
    known = kept.get(key)
    if known is not None and known[0] == made_of:
        return cast(MetadataResponseTopic, known[1])
    if len(kept) > 2 * len(ctx.services.image.topics):
        kept.clear()
    answer = MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[_partition(index, partition, live) for index, partition in enumerate(topic.partitions)],
        topic_authorized_operations=_topic_operations(request),
    )
    kept[key] = (made_of, answer)
    return answer


def _partition(index: int, partition: PartitionRegistration, live: Collection[int]) -> MetadataResponsePartition:
    return MetadataResponsePartition(
        ErrorCode.LEADER_NOT_AVAILABLE if partition.leader < 0 else ErrorCode.NONE,
        index,
        partition.leader,
        partition.leader_epoch,
        list(partition.replicas),
        list(partition.isr),
        [node for node in partition.replicas if node not in live],
    )


def _refused(request: MetadataRequest, code: ErrorCode) -> MetadataResponse:
    """An error beside each topic and nothing of the cluster: ids, or a missing name, before v12; neither of them."""
    return MetadataResponse(
        topics=[MetadataResponseTopic(code, t.name or "", t.topic_id) for t in request.topics or []],
        error_code=code,
    )


@handles(DescribeTopicPartitionsRequest)
def describe_topic_partitions(
    ctx: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Partitions of topics in the order of their names, from a cursor on, up to a number of partitions (KIP-966)."""
    cursor = request.cursor
    topics = ctx.services.image.topics
    asked = {topic.name for topic in request.topics}
    if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
        code = ErrorCode.INVALID_REQUEST
        refused = [DescribeTopicPartitionsResponseTopic(code, topic.name) for topic in request.topics]
        return DescribeTopicPartitionsResponse(topics=refused)
    names = asked or set(topics)
    start = "" if cursor is None else cursor.topic_name
    if "" in asked and start == "":
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    limit = min(ctx.services.config.get_int("max.request.partition.size.limit"), request.response_partition_limit)
    remaining = max(limit, 1)
    response = DescribeTopicPartitionsResponse(topics=[])
    for name in sorted(name for name in names if name >= start):
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
                    topic_authorized_operations=ALL_TOPIC_OPERATIONS,
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
    return response


def _describe(ctx: RequestContext, topic: TopicImage, first: int, end: int) -> DescribeTopicPartitionsResponseTopic:
    live = {node.id for node in ctx.services.up_nodes()}
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                ErrorCode.LEADER_NOT_AVAILABLE if partition.leader < 0 else ErrorCode.NONE,
                index,
                partition.leader,
                partition.leader_epoch,
                list(partition.replicas),
                list(partition.isr),
                list(partition.elr),
                list(partition.last_known_elr),
                [node for node in partition.replicas if node not in live],
            )
            for index, partition in enumerate(topic.partitions[first:end], first)
        ],
        topic_authorized_operations=ALL_TOPIC_OPERATIONS,
    )
