"""CreateTopics (key 19), DeleteTopics (key 20) and CreatePartitions (key 37).

CreateTopics versions 2 to 7. -1 takes the broker's number of partitions and replication factor. v5: the answer holds
partitions, replicas and configs of the new topic (KIP-525). v7: its id (KIP-516). DeleteTopics versions 1 to 6. v3:
TOPIC_DELETION_DISABLED instead of INVALID_REQUEST. v5: messages. v6: topics by id. CreatePartitions versions 0 to 3.

Topics are there when the answer is: ``timeoutMs`` has nothing to wait for. Authorisation is not part of this.
"""

from __future__ import annotations

from collections import Counter

from odradek.broker.config.entries import topic_entries
from odradek.broker.controller.topics import CLUSTER_METADATA, MAX_NEW_PARTITIONS, Topic, TopicPlan
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from odradek.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from odradek.protocol.uuids import new_uuid

_FIRST_DELETE_BY_STATE = 6
_FIRST_DELETION_DISABLED = 3
_NO_SUCH_TOPIC = "This server does not host this topic-partition."
_NO_SUCH_TOPIC_ID = "This server does not host this topic ID."
_DUPLICATE = "Duplicate topic name."


@handles(CreateTopicsRequest)
def create_topics(ctx: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create each topic, or only say what would become of it; a name given twice is refused once."""
    counts = Counter(topic.name for topic in request.topics)
    single = [topic for topic in request.topics if counts[topic.name] == 1]
    single.sort(key=lambda topic: topic.name == CLUSTER_METADATA)
    if sum(_counted_partitions(topic) for topic in single) > MAX_NEW_PARTITIONS:
        too_many = KafkaError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")
        return CreateTopicsResponse(topics=[_refusal(name, too_many) for name in counts])
    results = [_create(ctx, topic, request.validate_only) for topic in single]
    for name, count in counts.items():
        if count > 1:
            results.append(_refusal(name, KafkaError(ErrorCode.INVALID_REQUEST, _DUPLICATE)))
    return CreateTopicsResponse(topics=results)


def _counted_partitions(topic: CreatableTopic) -> int:
    """How many partitions of a topic count for the limit of one request."""
    if topic.name == CLUSTER_METADATA:
        return 0
    return len(topic.assignments) or max(topic.num_partitions, 0)


def _refusal(name: str, error: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(name, error_code=error.code, error_message=error.message)


def _create(ctx: RequestContext, asked: CreatableTopic, validate_only: bool) -> CreatableTopicResult:
    registry = ctx.services.topics
    try:
        if asked.name == CLUSTER_METADATA:
            text = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        assignments: dict[int, list[int]] = {}
        twice = None
        for assignment in asked.assignments:
            if assignment.partition_index in assignments:
                twice = assignment.partition_index
                break
            assignments[assignment.partition_index] = assignment.broker_ids
        plan = registry.plan(
            asked.name,
            partitions=asked.num_partitions,
            replication_factor=asked.replication_factor,
            assignments=assignments,
            configs={config.name: config.value for config in asked.configs},
        )
        if twice is not None:
            text = f"Found multiple manual partition assignments for partition {twice}"
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    except KafkaError as error:
        return _refusal(asked.name, error)
    topic = None if validate_only else registry.carry_out(plan)
    return _created(ctx, plan, topic)


def _created(ctx: RequestContext, plan: TopicPlan, topic: Topic | None) -> CreatableTopicResult:
    entries = topic_entries(ctx.services.config, plan.config.overrides, ctx.node.id)
    return CreatableTopicResult(
        plan.name,
        # Kafka names an id that it would give even if it creates nothing.
        new_uuid() if topic is None else topic.topic_id,
        error_message=None,
        num_partitions=len(plan.assignments),
        replication_factor=len(plan.assignments[0]),
        configs=[
            CreatableTopicConfigs(entry.name, entry.value, entry.read_only, entry.source, entry.is_sensitive)
            for entry in sorted(entries, key=lambda entry: entry.name)
        ],
    )


@handles(DeleteTopicsRequest)
def delete_topics(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete topics by name or, from v6, by id; a topic given twice is refused once and stays."""
    if not ctx.services.config.get_bool("delete.topic.enable"):
        if ctx.api_version < _FIRST_DELETION_DISABLED:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Topic deletion is disabled.")
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
    if ctx.api_version >= _FIRST_DELETE_BY_STATE:
        states = request.topics
    else:
        states = [DeleteTopicState(name) for name in request.topic_names]
    counts = Counter((state.name, state.topic_id) for state in states)
    topics = [_named_topic(ctx, state) for state in states]
    named = Counter(topic.name for topic in topics if topic is not None)
    results: list[DeletableTopicResult] = []
    done: set[tuple[str | None, bytes]] = set()
    for state, topic in zip(states, topics, strict=True):
        key = (state.name, state.topic_id)
        if key in done:
            continue
        done.add(key)
        twice = counts[key] > 1 or (topic is not None and named[topic.name] > 1)
        results.append(_delete(ctx, state, topic, twice))
    return DeleteTopicsResponse(responses=results)


def _named_topic(ctx: RequestContext, state: DeleteTopicState) -> Topic | None:
    if state.name is not None:
        return ctx.services.topics.get(state.name)
    return ctx.services.topics.by_id(state.topic_id)


def _delete(ctx: RequestContext, state: DeleteTopicState, topic: Topic | None, twice: bool) -> DeletableTopicResult:
    def refused(code: ErrorCode, message: str) -> DeletableTopicResult:
        return DeletableTopicResult(state.name, state.topic_id, code, message)

    if state.name is not None and state.topic_id != ZERO_UUID:
        return refused(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
    if state.name is None and state.topic_id == ZERO_UUID:
        return refused(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
    if twice:
        return refused(ErrorCode.INVALID_REQUEST, _DUPLICATE if state.name is not None else "Duplicate topic id.")
    if topic is None:
        if state.name is None:
            return refused(ErrorCode.UNKNOWN_TOPIC_ID, _NO_SUCH_TOPIC_ID)
        return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _NO_SUCH_TOPIC)
    ctx.services.topics.delete(topic.name)
    return DeletableTopicResult(topic.name, topic.topic_id)


@handles(CreatePartitionsRequest)
def create_partitions(ctx: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Let topics grow, or only say what would become of it."""
    counts = Counter(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, _DUPLICATE)
        for name, count in counts.items()
        if count > 1
    ]
    single = {topic.name: topic for topic in request.topics if counts[topic.name] == 1}
    results += [_grow(ctx, single[name], request.validate_only) for name in java_order(single, hash_of_text)]
    return CreatePartitionsResponse(results=results)


def _grow(ctx: RequestContext, asked: CreatePartitionsTopic, validate_only: bool) -> CreatePartitionsTopicResult:
    assignments = None if asked.assignments is None else [entry.broker_ids for entry in asked.assignments]
    grow = ctx.services.topics.plan_partitions if validate_only else ctx.services.topics.add_partitions
    try:
        grow(asked.name, asked.count, assignments)
    except KafkaError as error:
        return CreatePartitionsTopicResult(asked.name, error.code, error.message)
    return CreatePartitionsTopicResult(asked.name)
