"""Requests and answers as a broker keeps them, made by hand."""

from __future__ import annotations

from typing import Any

from odradek.broker.requests.recent_requests import REGISTRY_KEY, Exchange, HttpMessage, Kept, RawExchange
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.headers import RequestHeader, encode_request_header, encode_response_header
from odradek.protocol.message_codec import codec

ORDERS_ID = bytes(15) + b"\1"


class Orders:
    """The topic that `Names` knows."""

    name = "orders"


class Names:
    """A broker that began at second 100 of its clock, which then was second 1,000,000 of 1970, and has one topic."""

    origin_s = 100.0

    @property
    def topics(self) -> Names:
        return self

    def by_id(self, topic_id: bytes) -> Orders | None:
        return Orders() if topic_id == ORDERS_ID else None

    def ms_at(self, seconds: float) -> int:
        return int((seconds + 999_900) * 1000)


def raw_exchange(
    request: Any,
    version: int,
    answer: Any = None,
    *,
    at: float = 0.5,
    latency: float = 0.004,
    connection: str = "127.0.0.1:9000-127.0.0.1:50000-1",
    client_id: str | None = "app",
    correlation_id: int = 7,
    frame: Kept = None,
    cut: str | None = None,
) -> RawExchange:
    """What the dispatcher makes of them; `at` seconds after the start. `frame`: what is kept instead of all."""
    spec = API_BY_KEY[request.API_KEY]
    header = encode_request_header(RequestHeader(spec.key, version, correlation_id, client_id))
    whole = header + codec(type(request), version).encode(request)
    answered = b""
    if answer is not None:
        answered = encode_response_header(correlation_id, spec.response_header_version(version), ())
        answered += codec(type(answer), version).encode(answer)
    return list(
        Exchange(
            Names.origin_s + at,
            connection,
            1,
            spec.key,
            version,
            correlation_id,
            client_id,
            len(whole),
            whole if frame is None else frame,
            Names.origin_s + at + latency if answered else 0.0,
            len(answered).to_bytes(4) + answered if answered else None,
            len(answered),
            cut,
            None,
        )
    )


def registry_exchange(head: str, status: int, answer: bytes, body: bytes = b"", *, at: float = 0.5) -> RecordedRequest:
    """A request to the schema registry, as a user sees it."""
    began = Names.origin_s + at
    frame, kept = HttpMessage(head, body, len(body)), HttpMessage(str(status), answer, len(answer))
    link = "127.0.0.1:8081-127.0.0.1:50000-0"
    whole = Exchange(
        began, link, 0, REGISTRY_KEY, 1, 0, "app", len(body), frame, began + 0.004, kept, len(answer), None, None
    )
    return RecordedRequest(list(whole), Names())


def recorded(request: Any, version: int, answer: Any = None, **options: Any) -> RecordedRequest:
    """The same as a user sees it."""
    return RecordedRequest(raw_exchange(request, version, answer, **options), Names())
