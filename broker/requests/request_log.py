"""The log of requests: at DEBUG each of them, at INFO those that were refused, with what and why.

Nothing here runs unless the logger is enabled.
"""

from __future__ import annotations

import logging
from typing import Any

from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import EncodedBody, EncodedParts
from odradek.broker.requests.request_topics import label, problems_of
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from odradek.protocol.shown import one_line

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
