"""What messages are about: topics with their partitions, groups, transactional ids; and the errors in an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from odradek.protocol.errors import ErrorCode
from odradek.protocol.message import ZERO_UUID, Message

# -- The names of topics that a request has by id (KIP-516), for those who look at requests by name.

_FIELDS = ("name", "topic", "topic_name")


class HasName(Protocol):
    """A topic, as far as this module sees it."""

    @property
    def name(self) -> str: ...


class TopicsById(Protocol):
    """The topics of a cluster by id."""

    def by_id(self, topic_id: bytes, /) -> HasName | None:
        """The topic, or None if there is none."""


@contextmanager
def topic_names_filled(request: Message, topics: TopicsById) -> Iterator[None]:
    """Inside the `with` block the request has names where its client sent ids; behind it, it is as it came."""
    filled: list[tuple[Any, str, Any]] = []
    try:
        _fill(request, topics, filled)
        yield
    finally:
        for item, field, value in filled:
            setattr(item, field, value)


def _fill(item: Message, topics: TopicsById, filled: list[tuple[Any, str, Any]]) -> None:
    topic_id = getattr(item, "topic_id", None)
    if isinstance(topic_id, bytes) and topic_id != ZERO_UUID:
        topic = topics.by_id(topic_id)
        for field in _FIELDS:
            if topic is not None and hasattr(item, field) and not getattr(item, field):
                filled.append((item, field, getattr(item, field)))
                setattr(item, field, topic.name)
    for _, value in item._values():
        if isinstance(value, list):
            for inner in value:
                if isinstance(inner, Message):
                    _fill(inner, topics, filled)


# -- All items that a request names.


_GROUP_FIELDS = frozenset({"group_id", "group_ids", "groups", "groups_names"})
_TRANSACTION_FIELDS = frozenset({"transactional_id", "transactional_ids", "v3_and_below_transactional_id"})
_PARTITION_FIELDS = frozenset({"index", "partition", "partition_index", "partition_indexes", "partitions"})
_LEFT_OUT = frozenset({"forgotten_topics_data"})
_KINDS_OF_KEYS = {0: "groups", 1: "transactional_ids"}
_TOPIC_RESOURCE = 2


class Subjects(NamedTuple):
    """`topics`: name -> the partitions that are named, none where the whole topic is meant."""

    topics: dict[str, set[int]]
    groups: set[str]
    transactional_ids: set[str]

    def concern(self, topic: str | None, partition: int | None) -> bool:
        """Whether a topic (None: any) is meant, and this partition of it or the whole topic (None: any)."""
        named = self.topics if topic is None else {topic: self.topics[topic]} if topic in self.topics else {}
        if partition is None:
            return bool(named)
        return any(not partitions or partition in partitions for partitions in named.values())


def subjects_of(request: Message, topics: TopicsById, session: Iterable[tuple[str, int]] = ()) -> Subjects:
    """All items that a request names. `topics` has the names of topic ids.

    `session`: (topic, partition) of the fetch session that the request goes on with.
    """
    found = Subjects({}, set(), set())
    for name, partition in session:
        found.topics.setdefault(name, set()).add(partition)
    _look_into(request, None, "", topics, found)
    return found


def _look_into(item: Message, topic: str | None, field_of_item: str, topics: TopicsById, found: Subjects) -> None:
    """`topic`: the one that encloses the item."""
    values = dict(item._values())
    topic = _own_topic(values, field_of_item, topics) or topic
    if topic is not None:
        found.topics.setdefault(topic, set()).update(_partitions(values))
    kind = _KINDS_OF_KEYS.get(values.get("key_type", -1))
    for field, value in values.items():
        if field in _LEFT_OUT:
            continue
        if field in _GROUP_FIELDS or (kind == "groups" and field in ("key", "coordinator_keys")):
            found.groups.update(_texts(value))
        elif field in _TRANSACTION_FIELDS or (kind == "transactional_ids" and field in ("key", "coordinator_keys")):
            found.transactional_ids.update(_texts(value))
        elif "topic" in field and not field.endswith("regex"):
            for name in _texts(value):
                found.topics.setdefault(name, set())
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, Message):
                _look_into(inner, topic, field, topics, found)


def _own_topic(values: dict[str, Any], field_of_item: str, topics: TopicsById) -> str | None:
    """The topic that an item names: by `topic` or `topic_name`, by `name` if it is one of topics, or by id."""
    name = values.get("topic") or values.get("topic_name")
    if not name and "topic" in field_of_item:
        name = values.get("name")
    if not name and values.get("resource_type") == _TOPIC_RESOURCE:
        name = values.get("resource_name")
    if isinstance(name, str) and name:
        return name
    topic_id = values.get("topic_id")
    if isinstance(topic_id, bytes) and topic_id != ZERO_UUID:
        known = topics.by_id(topic_id)
        return None if known is None else known.name
    return None


def _partitions(values: dict[str, Any]) -> Iterator[int]:
    for field in _PARTITION_FIELDS.intersection(values):
        value = values[field]
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, int) and not isinstance(number, bool):
                yield number


def _texts(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, list) else (value,):
        if isinstance(text, str) and text:
            yield text


# -- The errors in an answer, with the items that they concern.

_LABELS = ("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name")
_INDEXES = ("index", "partition_index", "partition")
_CODES = ("error_code", "partition_error_code")


def problems_of(response: Message) -> Iterator[tuple[int, str]]:
    """(error code, "where ERROR: message") of the response and everything in it."""
    yield from _problems(response, "")


def label(item: Message) -> str:
    """The subject of the item: a topic, a partition, a group, a transactional id."""
    for field in _LABELS:
        name = getattr(item, field, None)
        if isinstance(name, str) and name:
            return name
    for field in _INDEXES:
        index = getattr(item, field, None)
        if isinstance(index, int):
            return str(index)
    return ""


def error_name(code: int) -> str:
    """The name of an error code; `error 999` for one that Kafka does not have."""
    return ErrorCode(code).name if code in ErrorCode._value2member_map_ else f"error {code}"


def _problems(item: Message, where: str) -> Iterator[tuple[int, str]]:
    own = label(item)
    where = f"{where}-{own}" if where and own.isdecimal() else " ".join(filter(None, (where, own)))
    for field in _CODES:
        code = getattr(item, field, 0)
        if code:
            yield code, _told(where, code, getattr(item, "error_message", None))
    for _, value in item._values():
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, Message):
                yield from _problems(inner, where)


def _told(where: str, code: int, message: str | None) -> str:
    return " ".join(filter(None, (where, error_name(code)))) + (f" ({message})" if message else "")
