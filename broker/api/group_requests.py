"""What requests about groups and transactions have in common: checks, and the order of topics in their answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from odradek.broker.coordinator.group.groups import CommitOffsets, OffsetToCommit, Sender, Visible
from odradek.broker.partitions.partition import Topic
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order

_READ: Final = Operation.READ  # compiled code that reads an attribute of an Enum class looks it up each time
_GROUP: Final = Resource.GROUP
_TOPIC: Final = Resource.TOPIC
_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_UNKNOWN_ID: Final = ErrorCode.UNKNOWN_TOPIC_ID
_REFUSED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


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


class PartitionAnswers:
    """The response topics of a request whose partitions the group coordinator decides on, but for those refused here.

    `taken`: topics and partitions of the request that exist and that the client may read. The coordinator has a code
    for each.
    """

    def __init__(
        self, ctx: RequestContext, topics: Sequence[Any], new_topic: Any, new_partition: Any, *, by_id: bool = False
    ) -> None:
        """`by_id`: topics are named by their ids. `new_topic` and `new_partition` make the rows of the response."""
        taken: list[tuple[Topic, Any]] = []
        self.taken = taken
        self._slots: list[Any] = []
        refused: list[tuple[Hashable, Any]] = []
        accepted: list[tuple[Hashable, Any]] = []
        found = [topic_of(ctx, asked.topic_id if by_id else asked.name) for asked in topics]
        readable = ctx.allowed(_READ, _TOPIC, [name for name, _ in found if name is not None])
        for asked, (name, topic) in zip(topics, found, strict=True):
            refusal = _UNKNOWN_ID if name is None else _UNKNOWN if name in readable else _REFUSED
            end = 0 if topic is None or name not in readable else len(topic.partitions)
            known: list[Any] = []
            unknown: list[Any] = []
            for each in asked.partitions:
                index: int = each.partition_index
                row = new_partition(index)
                if topic is not None and 0 <= index < end:
                    known.append(row)
                    taken.append((topic, each))
                else:
                    row.error_code = refusal
                    unknown.append(row)
            self._slots += known
            key = asked.topic_id if by_id else asked.name
            if unknown or not end:
                refused.append((key, _named(new_topic, asked, unknown, by_id)))
            if known:
                accepted.append((key, _named(new_topic, asked, known, by_id)))
        self.topics = merged(refused, accepted)

    def offsets(self) -> list[OffsetToCommit]:
        """What is to be stored, of an OffsetCommit or a TxnOffsetCommit."""
        return [
            OffsetToCommit(
                topic.name,
                topic.topic_id,
                each.partition_index,
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata,
            )
            for topic, each in self.taken
        ]

    def decided(self, response: T, codes: Sequence[ErrorCode]) -> T:
        """The response, with the codes of the coordinator."""
        for slot, code in zip(self._slots, codes, strict=True):
            slot.error_code = code
        return response

    def refused(self, response: T, error: KafkaError) -> T:
        """The response, if the coordinator refuses all of them."""
        return self.decided(response, [error.code] * len(self._slots))

    def commit(self, ctx: RequestContext, command: CommitOffsets, response: T) -> T | Later:
        """Have the coordinator store the offsets."""
        try:
            codes = ctx.services.groups().begin(command.group_id, command, ctx.node)
        except KafkaError as error:
            return self.refused(response, error)
        if isinstance(codes, ReplySlot):
            return later(codes, partial(self.decided, response), partial(self.refused, response))
        return self.decided(response, codes)


def _named(new_topic: Any, asked: Any, rows: list[Any], by_id: bool) -> Any:
    """The answer to a topic of the request, by its name or its id."""
    if by_id:
        return new_topic(name=asked.name, topic_id=asked.topic_id, partitions=rows)
    return new_topic(name=asked.name, partitions=rows)


def topic_of(ctx: RequestContext, asked: str | bytes) -> tuple[str | None, Topic | None]:
    """The name of a topic if it is known, and the topic if it exists."""
    if isinstance(asked, str):
        return asked, ctx.services.topics.get(asked)
    topic = ctx.services.topics.by_id(asked)
    return (None if topic is None else topic.name), topic


def together(partitions: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Partitions (topic, number) in their order, those of a topic together; the topics as in a Java map."""
    by_topic: dict[str, list[tuple[str, int]]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    return [partition for topic in java_order(by_topic, hash_of_text) for partition in by_topic[topic]]
