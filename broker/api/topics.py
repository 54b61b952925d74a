"""CreateTopics (key 19), DeleteTopics (key 20) and CreatePartitions (key 37).

CreateTopics versions 2 to 7. -1 takes the broker's number of partitions and replication factor. v5: the answer holds
partitions, replicas and configs of the new topic (KIP-525). v7: its id (KIP-516). DeleteTopics versions 1 to 6. v3:
TOPIC_DELETION_DISABLED instead of INVALID_REQUEST. v5: messages. v6: topics by id. CreatePartitions versions 0 to 3.

Topics are there when the answer is: `timeoutMs` has nothing to wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from odradek.broker.api.lookups import check_forwards, check_in_time
from odradek.broker.config.entries import topic_entries
from odradek.broker.controller import topic_control
from odradek.broker.controller.topic_control import (
    MAX_NEW_PARTITIONS,
    CreatedTopic,
    NewPartitions,
    NewTopic,
    check_new_partitions,
)
from odradek.broker.metadata.image import CLUSTER_METADATA, TopicImage
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.quota_switch import mutations_of
from odradek.broker.security.acl import CLUSTER_NAME, REFUSAL_TEXTS, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError, code_and_text
from odradek.protocol.generated.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from odradek.protocol.generated.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.protocol.generated.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.message import ZERO_UUID

_FIRST_DELETE_BY_STATE = 6
_FIRST_DELETION_DISABLED = 3
_NO_SUCH_TOPIC = "This server does not host this topic-partition."
_NO_SUCH_TOPIC_ID = "This server does not host this topic ID."
_DUPLICATE = "Duplicate topic name."
_ID_IS_THERE = "The provided topic name maps to an ID that was already supplied."
# KIP-599: clients of these versions are refused what exceeds their quota; the others only have to wait.
_FIRST_STRICT_CREATION, _FIRST_STRICT_DELETION, _FIRST_STRICT_GROWTH = 6, 5, 3


@handles(
    CreateTopicsRequest,
    access=ByItem(
        (Operation.CREATE, Resource.CLUSTER),
        (Operation.CREATE, Resource.TOPIC),
        (Operation.DESCRIBE_CONFIGS, Resource.TOPIC),
    ),
)
def create_topics(ctx: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create each topic, or only validate it; a name given twice is refused once."""
    check_forwards(ctx, "")
    counts = Counter(topic.name for topic in request.topics)
    names = [name for name, count in counts.items() if count == 1]
    allowed = [name for name in names if name != CLUSTER_METADATA]
    shown = ctx.allowed(Operation.DESCRIBE_CONFIGS, Resource.TOPIC, allowed, tell=False)
    creatable = frozenset(allowed)
    if not ctx.allows(Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME, tell=False):
        creatable = ctx.allowed(Operation.CREATE, Resource.TOPIC, allowed)
    single = [topic for topic in request.topics if topic.name in creatable]
    default = ctx.services.config.get_int("num.partitions", ctx.services.controller.controller_id)
    try:
        check_new_partitions(sum(_counted_partitions(topic, default) for topic in single))
    except KafkaError as too_many:
        return CreateTopicsResponse(topics=[_refusal(topic.name, too_many) for topic in request.topics])
    results = _create(ctx, request, single, shown) if single else []
    for name, count in counts.items():
        if count > 1:
            results.append(_refusal(name, KafkaError(ErrorCode.INVALID_REQUEST, _DUPLICATE)))
    results += [_refusal(name, _why_not(name)) for name in java_order(names, hash_of_text) if name not in creatable]
    return CreateTopicsResponse(topics=results)


def _why_not(name: str) -> KafkaError:
    """Why a topic is not given to the controller."""
    if name == CLUSTER_METADATA:
        return KafkaError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {CLUSTER_METADATA} is prohibited.")
    return KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")


def _counted_partitions(topic: CreatableTopic, default: int) -> int:
    """How many partitions of a topic count for the limit of one request; `default`: those of a topic that says -1."""
    return len(topic.assignments) or (default if topic.num_partitions == -1 else max(topic.num_partitions, 0))


def _refusal(name: str, error: KafkaError) -> CreatableTopicResult:
    return CreatableTopicResult(name, error_code=error.code, error_message=error.message)


def _create(
    ctx: RequestContext, request: CreateTopicsRequest, asked: Sequence[CreatableTopic], shown: frozenset[str]
) -> list[CreatableTopicResult]:
    """Results of topics that are named once each; only those in `shown` come with their details."""
    quota = mutations_of(ctx, _FIRST_STRICT_CREATION)
    new = [_new_topic(topic) for topic in asked]
    check_in_time(request.timeout_ms)
    create, dry = topic_control.create_topics, request.validate_only
    outcomes = ctx.services.controller.ask(create, new, validate_only=dry, quota=quota)
    results = []
    for topic, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, KafkaError):
            results.append(_refusal(topic.name, outcome))
        elif topic.name in shown:
            results.append(_created(ctx, outcome))
        else:
            secret = CreatableTopicResult(outcome.name, outcome.topic_id, error_message=None)
            secret.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            results.append(secret)
    return results


def _new_topic(asked: CreatableTopic) -> NewTopic:
    return NewTopic(
        asked.name,
        asked.num_partitions,
        asked.replication_factor,
        [(assignment.partition_index, assignment.broker_ids) for assignment in asked.assignments],
        {config.name: config.value for config in asked.configs},
    )


def _created(ctx: RequestContext, topic: CreatedTopic) -> CreatableTopicResult:
    entries = topic_entries(
        ctx.services.config.seen_by(ctx.release), topic.configs, ctx.services.controller.controller_id
    )
    return CreatableTopicResult(
        topic.name,
        topic.topic_id,
        error_message=None,
        num_partitions=len(topic.assignments),
        replication_factor=len(topic.assignments[0]),
        configs=[
            CreatableTopicConfigs(entry.name, entry.value, entry.read_only, entry.source, entry.is_sensitive)
            for entry in sorted(entries, key=lambda entry: entry.name)
        ],
    )


@handles(
    DeleteTopicsRequest,
    access=ByItem(
        (Operation.DELETE, Resource.CLUSTER), (Operation.DESCRIBE, Resource.TOPIC), (Operation.DELETE, Resource.TOPIC)
    ),
)
def delete_topics(ctx: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete topics by name or, from v6, by id; a topic given twice is refused once and stays."""
    check_forwards(ctx)
    if not ctx.services.config.get_bool("delete.topic.enable", ctx.services.controller.controller_id):
        if ctx.api_version < _FIRST_DELETION_DISABLED:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "This version does not support topic deletion.")
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED)
    if ctx.api_version >= _FIRST_DELETE_BY_STATE:
        states = request.topics
    else:
        states = [DeleteTopicState(name) for name in request.topic_names]
    results, named = _without_malformed(states)
    if not named:
        return DeleteTopicsResponse(responses=results)
    deleted: dict[bytes, DeletableTopicResult] = {}
    rights = _rights_to_delete(ctx, named)
    for state in sorted(named, key=lambda state: state.name is not None):  # those by id come first
        result = _checked_deletion(ctx, state, rights)
        if result.error_code == ErrorCode.NONE and deleted.pop(result.topic_id, None) is not None:
            result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, _ID_IS_THERE
        if result.error_code == ErrorCode.NONE:
            deleted[result.topic_id] = result
        else:
            results.append(result)
    quota = mutations_of(ctx, _FIRST_STRICT_DELETION)
    check_in_time(request.timeout_ms)
    errors = ctx.services.controller.ask(topic_control.delete_topics, list(deleted), quota=quota)
    for result, error in zip(deleted.values(), errors, strict=True):
        if error is not None:
            result.error_code, result.error_message = error.code, error.message
    return DeleteTopicsResponse(responses=results + list(deleted.values()))


def _without_malformed(
    states: Sequence[DeleteTopicState],
) -> tuple[list[DeletableTopicResult], list[DeleteTopicState]]:
    """Refusals of what names no topic, or one twice, and the rest."""
    results = []
    named: dict[tuple[str | None, bytes], DeleteTopicState] = {}
    counts = Counter((state.name, state.topic_id) for state in states)
    for state in states:
        key = (state.name, state.topic_id)
        if state.name is not None and state.topic_id != ZERO_UUID:
            text = "You may not specify both topic name and topic id."
        elif state.name is None and state.topic_id == ZERO_UUID:
            text = "Neither topic name nor id were specified."
        elif key not in named:
            named[key] = state
            if counts[key] == 1:
                continue
            text = _DUPLICATE if state.name is not None else "Duplicate topic id."
        else:
            continue
        results.append(DeletableTopicResult(state.name, state.topic_id, ErrorCode.INVALID_REQUEST, text))
    return results, [state for key, state in named.items() if counts[key] == 1]


def _named_topic(ctx: RequestContext, state: DeleteTopicState) -> TopicImage | None:
    if state.name is not None:
        return ctx.services.image.topics.get(state.name)
    return ctx.services.image.topics_by_id.get(state.topic_id)


class _DeletionRights(NamedTuple):
    """The topics that the client may delete, and those that it may see."""

    deletable: frozenset[str]
    describable: frozenset[str]


def _rights_to_delete(ctx: RequestContext, states: Sequence[DeleteTopicState]) -> _DeletionRights:
    named = [(state.name, _named_topic(ctx, state)) for state in states]
    names = (name if topic is None else topic.name for name, topic in named)
    known = frozenset(name for name in names if name is not None)
    if ctx.allows(Operation.DELETE, Resource.CLUSTER, CLUSTER_NAME, tell=False):
        return _DeletionRights(known, known)
    describable = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, known)
    return _DeletionRights(ctx.allowed(Operation.DELETE, Resource.TOPIC, known), describable)


def _denied_deletion(
    ctx: RequestContext, state: DeleteTopicState, rights: _DeletionRights
) -> str | Literal[False] | None:
    """False if the client may delete the topic; otherwise the name that it may know of it."""
    topic = _named_topic(ctx, state)
    if state.name is not None:
        hidden = state.name not in rights.describable or (topic is not None and state.name not in rights.deletable)
        return state.name if hidden else False
    if topic is None or topic.name in rights.deletable:
        return False
    return topic.name if topic.name in rights.describable else None


def _checked_deletion(ctx: RequestContext, state: DeleteTopicState, rights: _DeletionRights) -> DeletableTopicResult:
    topic = _named_topic(ctx, state)
    told = _denied_deletion(ctx, state, rights)
    if told is not False:
        return DeletableTopicResult(
            told, state.topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED, REFUSAL_TEXTS[Resource.TOPIC]
        )
    if topic is None:
        if state.name is None:
            return DeletableTopicResult(None, state.topic_id, ErrorCode.UNKNOWN_TOPIC_ID, _NO_SUCH_TOPIC_ID)
        return DeletableTopicResult(state.name, state.topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _NO_SUCH_TOPIC)
    return DeletableTopicResult(topic.name, topic.topic_id)


@handles(CreatePartitionsRequest, access=ByItem((Operation.ALTER, Resource.TOPIC)))
def create_partitions(ctx: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Add partitions to topics, or only validate it."""
    check_forwards(ctx)
    counts = Counter(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, _DUPLICATE)
        for name, count in counts.items()
        if count > 1
    ]
    single = {topic.name: topic for topic in request.topics if counts[topic.name] == 1}
    allowed = ctx.allowed(Operation.ALTER, Resource.TOPIC, single)
    names = java_order(single, hash_of_text)
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    results += [CreatePartitionsTopicResult(name, denied) for name in names if name not in allowed]
    asked = [single[name] for name in names if name in allowed]
    if ctx.release.limits_added_partitions:
        known = ctx.services.image.topics
        added = (max(0, each.count - len(known[each.name].partitions)) for each in asked if each.name in known)
        if sum(added) > MAX_NEW_PARTITIONS:
            text = "Excessively large number of additional partitions per request."
            raise KafkaError(ErrorCode.POLICY_VIOLATION, text)
    quota = mutations_of(ctx, _FIRST_STRICT_GROWTH)
    changes = [
        NewPartitions(
            each.name, each.count, None if each.assignments is None else [a.broker_ids for a in each.assignments]
        )
        for each in asked
    ]
    errors: list[KafkaError | None] = []
    if asked:
        check_in_time(request.timeout_ms)
        grow, dry = topic_control.create_partitions, request.validate_only
        errors = ctx.services.controller.ask(grow, changes, validate_only=dry, quota=quota)
    for topic, error in zip(asked, errors, strict=True):
        results.append(CreatePartitionsTopicResult(topic.name, *code_and_text(error)))
    return CreatePartitionsResponse(results=results)
