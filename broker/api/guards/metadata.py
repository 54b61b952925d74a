"""Rights of Metadata: DESCRIBE on each topic, CREATE on the cluster or the topic where one is created on the way.

A topic that was asked for is TOPIC_AUTHORIZATION_FAILED without them, whether it exists or not; in a list of all topics
it is left out. Ids are no secret: one that exists is TOPIC_AUTHORIZATION_FAILED, with the id and without the name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from odradek.broker.api import metadata as plain
from odradek.broker.metadata.topic_name_rules import INTERNAL_TOPICS
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.response import EncodedBody
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from odradek.protocol.message import ZERO_UUID

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_DESCRIBE, _CREATE, _TOPIC = Operation.DESCRIBE, Operation.CREATE, Resource.TOPIC
_CLUSTER_OPERATIONS_IN = range(8, 11)


def metadata(ctx: RequestContext, request: MetadataRequest) -> MetadataResponse | EncodedBody:
    """The part of the answer that the client may see. Where that is everything asked for, the plain handler's kept
    answers serve.
    """
    everything = plain.asks_for_all(request, ctx.api_version)
    if not everything and plain.is_refused(request, ctx.api_version):
        return plain.metadata(ctx, request)
    wants_bits = request.include_topic_authorized_operations or request.include_cluster_authorized_operations
    if everything:
        topics = ctx.services.image.topics
        visible = ctx.allowed(_DESCRIBE, _TOPIC, topics, tell=False)
        if len(visible) == len(topics) and not wants_bits:
            return plain.metadata(ctx, request)
        shown = [plain.topic_answer(ctx, topic, request) for topic in topics.values() if topic.name in visible]
        return _response(ctx, request, [], shown, [])
    ids = list({t.topic_id: None for t in request.topics or () if t.topic_id != ZERO_UUID})
    if ids:
        return _by_id(ctx, request, ids)
    return _by_name(ctx, request, list({cast(str, t.name): None for t in request.topics or ()}), wants_bits)


def _by_id(ctx: RequestContext, request: MetadataRequest, ids: list[bytes]) -> MetadataResponse:
    known = ctx.services.image.topics_by_id
    names = {topic_id: known[topic_id].name for topic_id in ids if topic_id in known}
    allowed = ctx.allowed(_DESCRIBE, _TOPIC, names.values())
    unknown = plain.topics_by_id(ctx, request, [topic_id for topic_id in ids if topic_id not in known])
    shown = plain.topics_by_id(ctx, request, [topic_id for topic_id, name in names.items() if name in allowed])
    denied = [MetadataResponseTopic(_DENIED, None, topic_id) for topic_id, name in names.items() if name not in allowed]
    return _response(ctx, request, unknown, shown, denied)


def _by_name(
    ctx: RequestContext, request: MetadataRequest, names: list[str], wants_bits: bool
) -> MetadataResponse | EncodedBody:
    allowed = ctx.allowed(_DESCRIBE, _TOPIC, names)
    uncreatable = _uncreatable(ctx, request, [name for name in names if name in allowed])
    if len(allowed) == len(names) and not uncreatable and not wants_bits:
        return plain.metadata(ctx, request)
    shown = plain.topics_by_name(ctx, request, [name for name in names if name in allowed and name not in uncreatable])
    denied = [
        MetadataResponseTopic(_DENIED, name, is_internal=name in INTERNAL_TOPICS)
        for name in names
        if name in uncreatable
    ]
    denied += [MetadataResponseTopic(_DENIED, name) for name in names if name not in allowed]
    return _response(ctx, request, [], shown, denied)


def _uncreatable(ctx: RequestContext, request: MetadataRequest, names: list[str]) -> frozenset[str]:
    """The missing topics that would be created if the client might."""
    if not plain.may_create(ctx, request):
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
    response = plain.response_of(ctx, plain.nodes_seen(ctx), [*unknown, *shown, *denied])
    if request.include_cluster_authorized_operations and ctx.api_version in _CLUSTER_OPERATIONS_IN:
        response.cluster_authorized_operations = plain.authorized_on_cluster(ctx)
    return response


def _with_operations(ctx: RequestContext, topic: MetadataResponseTopic) -> MetadataResponseTopic:
    """A copy: the plain handler keeps its answers."""
    name = cast(str, topic.name)
    return MetadataResponseTopic(
        topic.error_code, name, topic.topic_id, topic.is_internal, topic.partitions, ctx.operations(_TOPIC, name)
    )
