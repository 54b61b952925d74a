"""What the tests of connections share: a handler table of their own and raw requests."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from odradek.broker.api.served import SERVED
from odradek.broker.requests import handlers
from odradek.broker.requests.handlers import OPEN
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.message_codec import codec

Install = Callable[..., None]


@pytest.fixture
def install() -> Iterator[Install]:
    """``install(RequestClass, function, **options)`` registers a handler for the time of the test."""
    SERVED.all()
    kept = dict(handlers.HANDLERS)

    def register(request_class: type[Any], function: Callable[..., Any], **options: Any) -> None:
        handlers.HANDLERS.pop(request_class.API_KEY, None)
        handlers.handles(request_class, **{"access": OPEN, **options})(function)

    yield register
    handlers.HANDLERS.clear()
    handlers.HANDLERS.update(kept)


def request_frame(request: Any, version: int, correlation_id: int = 1, client_id: str | None = "test") -> bytes:
    """A request as it goes over the wire, with its size."""
    spec = API_BY_KEY[request.API_KEY]
    raw = b"" if client_id is None else client_id.encode()
    header = struct.pack(">hhih", spec.key, version, correlation_id, -1 if client_id is None else len(raw)) + raw
    if spec.request_header_version(version) >= 2:
        header += b"\0"
    content = header + codec(type(request), version).encode(request)
    return struct.pack(">i", len(content)) + content


def response_of(request: Any, version: int, frame: bytes) -> tuple[int, Any]:
    """(correlation id, response) of a frame without its size."""
    spec = API_BY_KEY[request.API_KEY]
    offset = 4 + (1 if spec.response_header_version(version) else 0)
    response, end = codec(spec.response, version).decode(memoryview(frame), offset)
    assert end == len(frame)
    return struct.unpack_from(">i", frame)[0], response
