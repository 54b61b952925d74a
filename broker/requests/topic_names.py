"""The names of topics that a request has by id (KIP-516), for those who look at requests by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from odradek.protocol.message import ZERO_UUID, Message

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
