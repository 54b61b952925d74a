"""The errors in an answer, with the items that they concern."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.errors import ErrorCode
from odradek.protocol.message import Message

_NAMES = ("name", "topic", "topic_name", "group_id", "transactional_id", "resource_name")
_INDEXES = ("index", "partition_index", "partition")
_CODES = ("error_code", "partition_error_code")


def problems_of(response: Message) -> Iterator[tuple[int, str]]:
    """(error code, "where ERROR: message") of the response and everything in it."""
    yield from _problems(response, "")


def label(item: Message) -> str:
    """The subject of the item: a topic, a partition, a group, a transactional id."""
    for field in _NAMES:
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
