"""The common checks of requests about groups: the right to a group, and texts that must not be empty."""

from __future__ import annotations

from typing import Final

from odradek.broker.requests.context import RequestContext
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError

_READ: Final = Operation.READ  # compiled code that reads an attribute of an Enum class looks it up each time
_GROUP: Final = Resource.GROUP


def may_read(ctx: RequestContext, group_id: str) -> bool:
    """Whether the client may take part in the group."""
    return ctx.allows(_READ, _GROUP, group_id)


def require_read(ctx: RequestContext, group_id: str) -> None:
    """GROUP_AUTHORIZATION_FAILED unless the client may take part in the group."""
    ctx.require(_READ, _GROUP, group_id)


def is_offered(ctx: RequestContext, protocol: str) -> bool:
    """Whether `group.coordinator.rebalance.protocols` has a protocol."""
    offered = ctx.services.config.get("group.coordinator.rebalance.protocols")
    assert isinstance(offered, tuple)
    return protocol in offered


def invalid(text: str) -> KafkaError:
    """INVALID_REQUEST, with Kafka's words."""
    return KafkaError(ErrorCode.INVALID_REQUEST, text)


def check_text(text: str | None, what: str) -> None:
    """INVALID_REQUEST for a text that is there and has nothing but blanks in it. `what`: the field's name."""
    if text is not None and not text.strip():
        raise invalid(f"{what} can't be empty.")
