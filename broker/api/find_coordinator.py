"""FindCoordinator (key 10).

Versions 0 to 6. v1 asks for groups or transactional ids and explains errors (KIP-98); v4 asks for several keys at once
(KIP-699); v6 also takes share group keys `group:topicId:partition` (KIP-932).

The coordinator of a key is the leader of the key's partition of `__consumer_offsets`, `__transaction_state` or
`__share_group_state`; the topic is created on first use. An empty key is as good as any.
Difference from Kafka: the topic is there at once, so nobody is told COORDINATOR_NOT_AVAILABLE first.
"""

from __future__ import annotations

import re
from typing import Any

from odradek.broker.coordinator.service import CoordinatorService
from odradek.broker.metadata.node import Node
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import CLUSTER_REFUSED, GROUP_REFUSED, TRANSACTIONAL_ID_REFUSED, ByItem, handles
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.protocol.uuids import uuid_from_text

GROUP = 0
TRANSACTION = 1
SHARE = 2

_BATCHED_FROM = 4
_SHARE_FROM = 6
_NO_NODE = -1
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_UNKNOWN_TYPE = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)

_REFUSED = {
    GROUP: (Resource.GROUP, GROUP_REFUSED),
    TRANSACTION: (Resource.TRANSACTIONAL_ID, TRANSACTIONAL_ID_REFUSED),
}


@handles(
    FindCoordinatorRequest,
    access=ByItem(
        (Operation.DESCRIBE, Resource.GROUP),
        (Operation.DESCRIBE, Resource.TRANSACTIONAL_ID),
        (Operation.CLUSTER_ACTION, Resource.CLUSTER),
    ),
    differs="the coordinator topic is created at once: no COORDINATOR_NOT_AVAILABLE first",
    in_parts=True,
)
def find_coordinator(ctx: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """Which node coordinates a group, a transactional id or a share partition."""
    if request.key_type == SHARE and ctx.api_version >= _SHARE_FROM and request.coordinator_keys:
        ctx.require(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME, CLUSTER_REFUSED)
    if ctx.api_version >= _BATCHED_FROM:
        found = [_find(ctx, request.key_type, key) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=found)
    one = _find(ctx, request.key_type, request.key)
    if one.error_code == ErrorCode.NONE:
        one.error_message = "NONE"
    elif one.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
        one.error_message = "The coordinator is not available."
    return FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=one.error_message,
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


def _find(ctx: RequestContext, key_type: int, key: str) -> Coordinator:
    try:
        node = _node(ctx, _service(ctx, key_type, key), key)
        address = node.address_for(ctx.connection.listener, ctx.connection.host)
        if address is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except KafkaError as error:
        return Coordinator(
            key=key, node_id=_NO_NODE, host="", port=_NO_NODE, error_code=error.code, error_message=error.message or ""
        )
    host, port = address
    return Coordinator(key=key, node_id=node.id, host=host, port=port, error_message="")


def _node(ctx: RequestContext, service: CoordinatorService[Any], key: str) -> Node:
    """The node that coordinates a key, if it is up."""
    node = ctx.services.nodes.get(service.leader_for(key))
    if node is None or not node.up:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return node


def _service(ctx: RequestContext, key_type: int, key: str) -> CoordinatorService[Any]:
    if key_type in _REFUSED:
        resource, message = _REFUSED[key_type]
        ctx.require(Operation.DESCRIBE, resource, key, message if ctx.api_version < _BATCHED_FROM else None)
    if key_type == GROUP:
        return ctx.services.groups()
    if key_type == TRANSACTION:
        return ctx.services.transactions()
    if key_type != SHARE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, _UNKNOWN_TYPE)
    release = ctx.release
    if ctx.api_version < _SHARE_FROM or not release.finds_share_coordinators or not _is_share_key(key):
        text = _UNKNOWN_TYPE if ctx.api_version < _BATCHED_FROM else release.text("coordinator type", "")
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    return ctx.services.share_states()


def _is_share_key(key: str) -> bool:
    """`group:topicId:partition`, where the group may hold colons itself."""
    parts = key.rsplit(":", 2)
    if len(parts) != 3 or not parts[0].strip() or not _NUMBER.fullmatch(parts[2]):
        return False
    try:
        uuid_from_text(parts[1])
    except ValueError:
        return False
    return True
