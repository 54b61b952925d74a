"""The log of requests: at DEBUG each of them, at INFO those that were refused, with what and why.

Nothing here runs unless the logger is enabled.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import EncodedBody, EncodedParts
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from odradek.protocol.shown import one_line

# -- The errors in an answer, with the items that they concern.

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


# -- The log.


LOGGER = logging.getLogger("odradek.broker.requests")

_SHOWN = 8
_ROUTINE = frozenset({ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.REBALANCE_IN_PROGRESS})
"""Answers that belong to the usual course of things: they are no refusals."""


def log_answer(context: RequestContext, request: Message, response: Any) -> None:
    """Log a request that has been served; `response` is what its handler gave (None: no answer)."""
    problems = [] if response is None else list(problems_of(_decoded(context, response)))
    refused = any(code not in _ROUTINE for code, _ in problems)
    level = logging.INFO if refused else logging.DEBUG
    if LOGGER.isEnabledFor(level):
        texts = [text for _, text in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            texts.append(f"and {len(problems) - _SHOWN} more")
        outcome = ("not answered" if response is None else "served") if not texts else ", ".join(texts)
        LOGGER.log(level, "%s", one_line(f"{_title(context, request)}: {outcome}"))


def _title(context: RequestContext, request: Message) -> str:
    spec = API_BY_KEY[context.api_key]
    about = label(request)
    client = context.connection
    return (
        f"{spec.name} v{context.api_version}{' of ' if about else ''}{about} from {context.client_id!r} at "
        f"{client.peer_host}:{client.peer_port} to node {context.node.id}, correlation {context.correlation_id}"
    )


def _decoded(context: RequestContext, response: Any) -> Message:
    if isinstance(response, EncodedParts):
        response = response.response
    if isinstance(response, EncodedBody):
        spec = API_BY_KEY[context.api_key]
        decoded: Message = codec(spec.response, context.api_version).decode(response.body)[0]
        return decoded
    message: Message = response
    return message
