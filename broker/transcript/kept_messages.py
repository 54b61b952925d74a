"""From what the broker keeps of a message back to bytes and to the message."""

from __future__ import annotations

from typing import Any

from odradek.broker.requests.exchange import Exchange, Head, HttpMessage, Kept, Told
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header, decode_response_header
from odradek.protocol.message import ApiMessage
from odradek.protocol.message_codec import codec
from odradek.protocol.registry import API_BY_KEY, API_VERSIONS_KEY


def whole_bytes(kept: Kept) -> bytes | None:
    """The bytes of a message, zeros in the place of records that were not kept; None if too much of it is gone."""
    if isinstance(kept, bytes):
        return kept
    if kept is None or isinstance(kept, Head | Told | HttpMessage):
        return None
    return b"".join(head + bytes(length - len(head)) for head, length in kept)


def is_trimmed(kept: Kept) -> bool:
    """Whether `whole_bytes` has zeros that were never sent."""
    return not isinstance(kept, bytes | Head | Told | HttpMessage) and kept is not None


def decoded_request(exchange: Exchange) -> ApiMessage | None:
    """The request; None if it was not kept, or cannot be decoded."""
    frame = whole_bytes(exchange.frame)
    if frame is None:
        return None
    spec = API_BY_KEY[exchange.api_key]
    version = exchange.version
    if spec.key == API_VERSIONS_KEY:
        version = min(version, spec.max_version)
    try:
        _, position = decode_request_header(frame)
        return codec(spec.request, version).decode(memoryview(frame), position)[0]
    except ProtocolError:
        return None


def decoded_answer(exchange: Exchange) -> ApiMessage | None:
    """The answer; None if there is none, it was not kept, or cannot be decoded."""
    answer: Any = whole_bytes(exchange.answer)
    if answer is None:
        return None
    spec = API_BY_KEY[exchange.api_key]
    version = exchange.version
    if spec.key == API_VERSIONS_KEY and version > spec.max_version:
        version = 0
    try:
        frame = memoryview(answer)[4:]
        _, position = decode_response_header(frame, spec.response_header_version(version))
        return codec(spec.response, version).decode(frame, position)[0]
    except ProtocolError:
        return None
