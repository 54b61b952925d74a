"""Recorded requests as JSON lines, written and read: readable fields, and the bytes that were kept."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from odradek.broker.requests.recent_requests import REGISTRY_KEY, Exchange, Head, HttpMessage, Kept, Told
from odradek.broker.requests.request_topics import Subjects
from odradek.broker.transcript.recorded_request import RecordedRequest, Summary
from odradek.broker.transcript.topic_positions import TopicPosition
from odradek.protocol.apis import API_BY_KEY

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


class TranscriptError(ValueError):
    """A line that is not part of a transcript."""


def parse_lines(lines: Iterable[str]) -> tuple[list[SavedRequest], SavedFacts]:
    """Parse the lines of a saved transcript; raises `TranscriptError`."""
    facts = SavedFacts()
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_recorded(json.loads(line), facts))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TranscriptError(f"line {number} is not a line of a transcript: {error!r}") from None
    return found, facts


class SavedFacts:
    """The `Facts` of a saved transcript. Times are seconds since the broker's start; each line has the topic names."""

    def __init__(self) -> None:
        self.origin_s = 0.0
        self.began_ms = 0
        self.topics = self

    def by_id(self, topic_id: bytes) -> None:
        """None, because a saved transcript does not have the ids. The summary has the names."""

    def ms_at(self, seconds: float) -> int:
        """The time on a clock that nobody moved. `SavedRequest.time_ms` is the real one."""
        return self.began_ms + int(seconds * 1000)


class SavedRequest(RecordedRequest):
    """A request that was loaded from a file."""

    def __init__(self, raw: list[Any], facts: SavedFacts, time_ms: int) -> None:
        super().__init__(raw, facts)
        self._time_ms = time_ms

    @property
    def time_ms(self) -> int:
        """The time of arrival on the broker's clock."""
        return self._time_ms


def _recorded(form: Json, facts: SavedFacts) -> SavedRequest:
    time_ms = round(datetime.fromisoformat(form["time"]).timestamp() * 1000)
    if form["key"] != REGISTRY_KEY and form["key"] not in API_BY_KEY:
        raise ValueError(f"no API has the key {form['key']}")
    summary = Summary(
        tuple(TopicPosition(str(name), index, offset) for name, index, offset in form["topics"]),
        tuple(map(str, form["groups"])),
        tuple(map(str, form["transactionalIds"])),
        tuple((int(code), str(text)) for code, text in form["problems"]),
    )
    exchange = Exchange(
        float(form["at"]),
        str(form["connection"]),
        int(form["node"]),
        form["key"],
        int(form["version"]),
        int(form["correlationId"]),
        form["clientId"],
        int(form["size"]),
        _kept(form["request"]),
        float(form["answeredAt"]),
        _kept(form["response"]),
        int(form["responseSize"]),
        form["cut"],
        summary,
    )
    if not facts.began_ms:
        facts.began_ms = time_ms - int(exchange.seconds * 1000)
    return SavedRequest(list(exchange), facts, time_ms)


def _kept(form: Json | None) -> Kept:
    if form is None:
        return None
    if "bytes" in form:
        return _bytes(form["bytes"])
    if "http" in form:
        return HttpMessage(str(form["http"]), _bytes(form["body"]), int(form["size"]))
    if "secret" in form:
        return Told(Subjects({}, set(), set()), ())
    if "beginning" in form:
        return Head(_bytes(form["beginning"]), int(form["size"]))
    return tuple((_bytes(head), int(length)) for head, length in form["parts"])


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
