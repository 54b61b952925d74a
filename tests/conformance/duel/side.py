"""One of the two brokers, and the connections to it."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.errors import ProtocolError
from odradek.protocol.json_form import from_json, to_json
from odradek.wire_client import WireError
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.record_data import described
from tests.fakes.wire_client import WireClient
from tests.scenarios.failures.targets import FailingCluster

NO_ANSWER: Form = {"outcome": "no answer"}
CLOSED: Form = {"outcome": "the connection is closed"}
_PING = "ApiVersions"


@dataclass(slots=True)
class _Due:
    request: Any
    version: int
    number: int
    silent: bool
    """Whether it has no answer of its own: what is read is the one to a ping behind it."""


@dataclass(frozen=True)
class Door:
    """Where a connection goes, as `host:port`, and how it logs in there."""

    address: str
    security: ClientSecurity = PLAIN_TEXT


@dataclass
class Side:
    """Connections to one broker by name; each has at most one request under way.

    `door`: of those that `doors` does not name.
    """

    name: str
    door: Door
    doors: Mapping[str, Door] = field(default_factory=dict)
    complaints: Callable[[], str] = lambda: ""
    cluster: FailingCluster | None = None
    """What stops and starts its nodes, where there are several."""
    folder: Path | None = None
    """Its log directory, where that can be read."""
    client_id: str = "duel"
    lines: dict[str, WireClient] = field(default_factory=dict)
    due: dict[str, _Due] = field(default_factory=dict)
    read_up_to: dict[Path, int] = field(default_factory=dict)
    """Segment of the metadata log -> where its batches end that a conversation has read or left behind."""

    def again(self) -> Side:
        """The same broker for another conversation, with connections of its own."""
        return replace(self, lines={}, due={})

    def _line(self, on: str) -> WireClient:
        line = self.lines.get(on)
        if line is None:
            door = self.doors.get(on, self.door)
            made = WireClient.at(door.address, timeout_s=5, client_id=self.client_id, security=door.security)
            line = self.lines[on] = made
        return line

    def send(self, on: str, api: str, version: int, form: Form) -> None:
        """Send a request on a connection, which is made anew where it was closed."""
        request = from_json(API_BY_NAME[api].request, version, form)
        silent = api == "Produce" and form["acks"] == 0
        for _ in range(2):
            line = self._line(on)
            try:
                number = line.send(request, version)
                if silent:
                    request, version = API_BY_NAME[_PING].request(), 0
                    number = line.send(request, version)
            except (WireError, OSError):
                self.drop(on)
                continue
            self.due[on] = _Due(request, version, number, silent)
            return
        self.due[on] = _Due(request, version, 0, silent)

    def socket(self, on: str) -> Any:
        """What `select` looks at; None if the connection is closed."""
        line = self.lines.get(on)
        return None if line is None else line._socket

    def take(self, on: str) -> Form:
        """The answer that has arrived on a connection."""
        due = self.due.pop(on)
        line = self.lines.get(on)
        if line is None:
            return CLOSED
        try:
            answer = line.receive(due.request, due.version, due.number)
        except (WireError, OSError):
            self.drop(on)
            return CLOSED
        except (ProtocolError, AssertionError) as error:
            self.drop(on)
            return {"outcome": f"an answer that cannot be read: {error}"}
        return {"outcome": "silence"} if due.silent else _with_records(to_json(answer, due.version))

    def give_up(self, on: str) -> Form:
        """No answer came."""
        self.due.pop(on, None)
        self.drop(on)
        return NO_ANSWER

    def drop(self, on: str) -> None:
        """Close a connection."""
        line = self.lines.pop(on, None)
        if line is not None:
            line.close()

    def hang_up(self) -> None:
        """Close all connections."""
        self.due.clear()
        for on in list(self.lines):
            self.drop(on)

    def ask(self, api: str, version: int, form: Form, on: str = "own") -> Form:
        """The answer to a request of the duel itself."""
        self.send(on, api, version, form)
        return self.take(on)


def ready(sides: tuple[Side, ...], on: str, timeout_s: float) -> list[Side]:
    """The sides that have an answer (or a closed connection) on a connection, within a time."""
    closed = [side for side in sides if side.socket(on) is None]
    sockets = {side.socket(on): side for side in sides if side not in closed}
    found = select.select(list(sockets), [], [], 0 if closed else timeout_s)[0] if sockets else []
    return closed + [sockets[each] for each in found]


def wait_all(sides: tuple[Side, ...], on: str, timeout_s: float) -> list[Side]:
    """The sides that have one when all have, or when the time is over."""
    deadline = time.monotonic() + timeout_s
    have: list[Side] = []
    while len(have) < len(sides):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        have += ready(tuple(side for side in sides if side not in have), on, left)
    return have


def _with_records(form: Any) -> Any:
    if isinstance(form, dict):
        return {
            name: described(bytes.fromhex(value)) if name == "records" and value else _with_records(value)
            for name, value in form.items()
        }
    return [_with_records(each) for each in form] if isinstance(form, list) else form
