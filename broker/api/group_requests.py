"""What requests about groups and transactions have in common: checks, and the order of topics in their answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, TypeVar

from odradek.broker.coordinator.group.groups import Sender, Visible
from odradek.broker.requests.context import RequestContext
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order

_READ: Final = Operation.READ  # compiled code that reads an attribute of an Enum class looks it up each time
_GROUP: Final = Resource.GROUP


def may_read(ctx: RequestContext, group_id: str) -> bool:
    """Whether the client may take part in the group."""
    return ctx.allows(_READ, _GROUP, group_id)


def require_read(ctx: RequestContext, group_id: str) -> None:
    """GROUP_AUTHORIZATION_FAILED unless the client may take part in the group."""
    ctx.require(_READ, _GROUP, group_id)


def sender_of(ctx: RequestContext) -> Sender:
    """The client of a request, as the group coordinator knows it."""
    return Sender(ctx.client_id or "", f"/{ctx.connection.peer_host}", ctx.api_version, visible_topics(ctx))


def visible_topics(ctx: RequestContext) -> Visible | None:
    """The check which topics the client may see; None without an authorizer."""
    if ctx.authorizer is None:
        return None
    return lambda names: ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, names, tell=False)


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


# -- How the answers of a request's parts become one list of topics, in Kafka's order.


T = TypeVar("T", bound=Any)


def merged(refused: Iterable[tuple[Hashable, T]], accepted: list[tuple[Hashable, T]]) -> list[T]:
    """Response topics (with `partitions`) under their keys, as Kafka's response builders put them together.

    First what was refused without asking the coordinator, a topic once; the coordinator's answers join these, or stand
    as they are if nothing was refused.
    """
    known: dict[Hashable, T] = {}
    for key, topic in refused:
        _join(known, key, topic)
    if not known:
        return [topic for _, topic in accepted]
    for key, topic in accepted:
        _join(known, key, topic)
    return list(known.values())


def _join(known: dict[Hashable, T], key: Hashable, topic: T) -> None:
    there = known.setdefault(key, topic)
    if there is not topic:
        there.partitions += topic.partitions


def together(partitions: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Partitions (topic, number) in their order, those of a topic together; the topics as in a Java map."""
    by_topic: dict[str, list[tuple[str, int]]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    return [partition for topic in java_order(by_topic, hash_of_text) for partition in by_topic[topic]]
