"""Requests as JSON lines: readable fields, and the bytes that were kept; `saved` reads them again."""

from __future__ import annotations

import base64
import json
from typing import Any

from odradek.broker.requests.exchange import Head, HttpMessage, Kept, Told
from odradek.broker.transcript.recorded_request import RecordedRequest

Json = dict[str, Any]


def to_line(recorded: RecordedRequest) -> str:
    """One request as a line of JSON."""
    exchange = recorded.exchange
    summary = recorded.summary
    form: Json = {
        "at": round(recorded.at, 6),
        "time": recorded.time.isoformat(timespec="milliseconds"),
        "api": recorded.api,
        "version": exchange.version,
        "clientId": exchange.client_id,
        "line": str(recorded),
        "state": recorded.state,
        "latencyMs": None if recorded.latency_ms is None else round(recorded.latency_ms, 3),
        "topics": [list(place) for place in summary.topics],
        "groups": summary.groups,
        "transactionalIds": summary.transactional_ids,
        "problems": summary.problems,
        "cut": exchange.cut,
        "node": exchange.node_id,
        "connection": exchange.connection,
        "key": exchange.api_key,
        "correlationId": exchange.correlation_id,
        "size": exchange.size,
        "responseSize": exchange.answer_size,
        "answeredAt": round(exchange.answered - exchange.seconds + recorded.at, 6) if exchange.answered else 0,
        "request": _kept_form(exchange.frame),
        "response": _kept_form(exchange.answer),
    }
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False)


def _kept_form(kept: Kept) -> Json | None:
    if kept is None:
        return None
    if isinstance(kept, bytes):
        return {"bytes": _text(kept)}
    if isinstance(kept, Head):
        return {"beginning": _text(kept.data), "size": kept.size}
    if isinstance(kept, HttpMessage):
        return {"http": kept.head, "body": _text(kept.body), "size": kept.size}
    if isinstance(kept, Told):
        return {"secret": True}
    return {"parts": [[_text(head), length] for head, length in kept]}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
