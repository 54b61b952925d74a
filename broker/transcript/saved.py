"""Transcripts that were saved as JSON lines, read again."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from odradek.broker.requests.exchange import REGISTRY_KEY, Exchange, Head, HttpMessage, Kept, Told
from odradek.broker.requests.subjects import Subjects
from odradek.broker.transcript.positions import TopicPosition
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.requests import Requests
from odradek.broker.transcript.summary import Summary
from odradek.protocol.registry import API_BY_KEY

Json = dict[str, Any]


class TranscriptError(ValueError):
    """A line that is none of a transcript."""


def read_lines(lines: Iterable[str]) -> Requests:
    """The requests of a saved transcript; TranscriptError for a line that is none of it."""
    facts = SavedFacts()
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_recorded(json.loads(line), facts))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TranscriptError(f"line {number} is no line of a transcript: {error!r}") from None
    return Requests(found, facts)


class SavedFacts:
    """What a saved transcript tells of its broker. Times are seconds since its start; the names are in each line."""

    def __init__(self) -> None:
        self.origin_s = 0.0
        self.began_ms = 0
        self.topics = self

    def by_id(self, topic_id: bytes) -> None:
        """Nobody knows the ids any more: the summary has the names."""

    def ms_at(self, seconds: float) -> int:
        """On the broker's clock, had nobody moved it; `SavedRequest.time_ms` is what it was."""
        return self.began_ms + int(seconds * 1000)


class SavedRequest(RecordedRequest):
    """A request that was read from a file."""

    def __init__(self, raw: list[Any], facts: SavedFacts, time_ms: int) -> None:
        super().__init__(raw, facts)
        self._time_ms = time_ms

    @property
    def time_ms(self) -> int:
        """When it came, on the broker's clock."""
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
