"""A request and its answer in one line: `+0.120 Fetch v16 consumer-1 orders-1@1 -> 0 records, end 1`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.requests.exchange import Head, HttpMessage, Told
from odradek.broker.transcript.answers import answered
from odradek.broker.transcript.questions import asked
from odradek.broker.transcript.shown import few

if TYPE_CHECKING:
    from odradek.broker.transcript.summary import Recorded

_WIDEST = 40
_SLOW_MS = 20


def line_of(recorded: Recorded) -> str:
    """The request in a line."""
    about = what_was_asked(recorded)
    begin = f"{recorded.at:+.3f} {api_of(recorded)} {client_of(recorded)}"
    return f"{begin} {about + ' ' if about else ''}-> {outcome(recorded)}"


def lines_of(requests: Sequence[Recorded]) -> list[str]:
    """The lines of several, in columns."""
    cells = [(f"{each.at:+.3f}", api_of(each), client_of(each)) for each in requests]
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*cells, strict=True)]
    lines = []
    for each, (at, api, client) in zip(requests, cells, strict=True):
        about = what_was_asked(each)
        begin = f"{at:>{widths[0]}} {api:<{widths[1]}} {client:<{widths[2]}}"
        lines.append(f"{begin} {about + ' ' if about else ''}-> {outcome(each)}")
    return lines


def api_of(recorded: Recorded) -> str:
    """`Fetch v16`."""
    return f"{recorded.api} v{recorded.version}"


def client_of(recorded: Recorded) -> str:
    """What the client calls itself, or its address; in printable letters."""
    client = recorded.client_id or recorded.client
    if len(client) > _WIDEST:
        client = client[: _WIDEST - 1] + "…"
    return "".join(letter if letter.isprintable() else "?" for letter in client)


def what_was_asked(recorded: Recorded) -> str:
    """The subject of the request: topics, group, transactional id, and what its API adds."""
    exchange = recorded.exchange
    if isinstance(exchange.frame, HttpMessage):
        return exchange.frame.head
    request = recorded.request
    text = asked(recorded, request)
    if request is None and not isinstance(exchange.frame, Told):
        text = text or f"({exchange.size:,} bytes{', not kept' if isinstance(exchange.frame, Head) else ''})"
    return text


def outcome(recorded: Recorded) -> str:
    """What came of it: the answer in short, errors first; or that there is none."""
    state = recorded.state
    if state == "cut":
        return f"connection cut: {recorded.cut}"
    if state == "waiting":
        return "still waiting"
    if state == "unanswered":
        return "no answer"
    text = _answer_text(recorded)
    latency = recorded.latency_ms or 0
    return f"{text} ({latency:.0f} ms)" if latency >= _SLOW_MS else text


def _answer_text(recorded: Recorded) -> str:
    problems = recorded.problems
    if problems:
        return few(problems, 3, "; ")
    kept = recorded.exchange.answer
    if isinstance(kept, HttpMessage):
        return f"{kept.head} {_body_text(kept)}"
    answer: Any = recorded.response
    if answer is None:
        return "ok" if isinstance(kept, Told) else f"{recorded.response_size:,} bytes"
    return answered(recorded, answer) or "ok"


def _body_text(answer: HttpMessage) -> str:
    """A short body as it is."""
    text = answer.body.decode(errors="replace")
    return text if len(text) <= _WIDEST and answer.size == len(answer.body) else f"({answer.size:,} bytes)"
