"""Mutated HTTP for the control API and the schema registry: odd values in their places, and bytes that are no HTTP."""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from odradek.control.openapi import document
from odradek.registry.endpoints import ENDPOINTS
from tests.attack.mutation import INTEGERS, TEXTS, mutate_bytes

WAITS_S = 5.0
_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0.5,
    -1e308,
    "",
    "\ud800",
    "../../x",
    "x" * 70_000,
    {},
    [],
    {"base64": "!"},
    [[[[]]]],
)
_HARMLESS = {
    "clear",
    "create-topic",
    "produce",
    "produce-all",
    "remove-schema",
    "set-offsets",
    "set-schema",
    "subscribe-client-metrics",
    "wait",
}
"""Changes that touch no other client; the others are there to hurt the broker."""
_SCHEMAS: Iterable[dict[str, Any]] = (
    {"schema": '{"type":"record","name":"A","fields":[{"name":"a","type":["null","int"],"default":null}]}'},
    {"schema": '{"type":"record","name":"A","fields":[{"name":"b","type":{"type":"array","items":"string"}}]}'},
    {"schemaType": "JSON", "schema": '{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}'},
    {"schemaType": "JSON", "schema": '{"enum":[1,"a",null],"allOf":[{"minimum":3},{"pattern":"^(a+)+$"}]}'},
    {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; message A { int32 a = 1; reserved 4 to 9; }'},
    {"schema": '"string"', "references": [{"name": "A", "subject": "s1", "version": 1}]},
)

_OPTIONS = ("normalize", "deleted", "verbose", "format", "offset", "limit", "subject")

Call = tuple[str, str, Any]
"""(method, path with query, body as JSON or None)"""


class Caller:
    """Sends odd calls to one address and counts the answers by their status; 0: none.

    `bugs`: the first lines of answers that tell of a bug.
    """

    def __init__(self, url: str, rng: random.Random) -> None:
        split = urlsplit(url)
        self._address = (split.hostname or "", split.port or 80)
        self._rng = rng
        self.statuses: Counter[int] = Counter()
        self.bugs: list[str] = []

    def call(self, call: Call) -> None:
        """Send it, in a third of the cases with changed bytes."""
        method, path, body = call
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._address[0]}:{self._address[1]}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        sent = head.encode() + data
        if self._rng.random() < 0.3:
            sent = mutate_bytes(sent, [sent], self._rng)
        status, text = self._ask(sent)
        self.statuses[status] += 1
        if status == 500:
            self.bugs.append(f"{sent[:2000]!r}: {text[:300]!r}")

    def _ask(self, sent: bytes) -> tuple[int, bytes]:
        """The status and the answer. What keeps the server waiting for more, or makes it wait, is cut off."""
        with socket.create_connection(self._address, timeout=WAITS_S) as wire:
            received = b""
            try:
                wire.sendall(sent)
                wire.shutdown(socket.SHUT_WR)
                while chunk := wire.recv(65536):
                    received += chunk
            except OSError:
                pass
        words = received[:64].split()
        return (int(words[1]) if len(words) > 1 and words[1].isdigit() else 0), received


def control_calls() -> list[tuple[str, str, dict[str, Any], list[str]]]:
    """(method, path, schema of the body, names in the query) of all calls that touch no other client."""
    found = []
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if path.endswith("/stream") or (method != "get" and path.rsplit("/", 1)[1] not in _HARMLESS):
                continue
            content = operation.get("requestBody", {}).get("content", {})
            body = content.get("application/json", {}).get("schema", {}).get("properties", {})
            names = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
            found.append((method.upper(), path, body, names))
    return found


def odd_control_call(calls: list[tuple[str, str, dict[str, Any], list[str]]], rng: random.Random) -> Call:
    """A call whose values fit more or less."""
    method, path, body, names = rng.choice(calls)
    query = "&".join(f"{name}={_in_url(rng)}" for name in names if rng.random() < 0.6)
    values = {name: _value(schema, rng) for name, schema in body.items() if rng.random() < 0.8}
    if "timeout" in body and rng.random() < 0.9:
        values["timeout"] = 0.01
    return method, _filled(path, rng) + (f"?{query}" if query else ""), values if method == "POST" else None


def odd_registry_call(rng: random.Random) -> Call:
    """A call with a schema that may be damaged."""
    method, path, _ = rng.choice(ENDPOINTS)
    body: Any = dict(rng.choice(tuple(_SCHEMAS)))
    if rng.random() < 0.3:
        body["schema"] = mutate_bytes(body["schema"].encode(), [b"{}[]"], rng).decode(errors="replace")
    if rng.random() < 0.2:
        body[rng.choice(("schemaType", "references", "id", "version", "metadata", "ruleSet"))] = rng.choice(_ODD)
    if "config" in path or "mode" in path:
        body = rng.choice(({"compatibility": "FULL"}, {"mode": "READWRITE"}, {"compatibility": rng.choice(_ODD)}, []))
    where = _filled(path, rng)
    if rng.random() < 0.4:
        where += f"?{rng.choice(_OPTIONS)}={_in_url(rng)}"
    return method, where, body if method in ("POST", "PUT") else None


def _filled(path: str, rng: random.Random) -> str:
    """The path with something in its places."""
    parts = path.split("/")
    return "/".join(_in_url(rng) if part.startswith("{") else part for part in parts)


def _in_url(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(("s1", "s2", "p-data", "g", "0", "1", "-1", "latest", "true"))
    return quote(str(rng.choice((*TEXTS, *INTEGERS, *_ODD))).encode("utf-8", "surrogatepass"), safe="")[:8000]


def _value(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value of the schema's kind, or any other."""
    if rng.random() < 0.2:
        return rng.choice((*_ODD, *TEXTS, *INTEGERS))
    kind = schema.get("type") or rng.choice(("string", "integer"))
    if kind == "integer":
        return rng.choice((0, 1, 3, *INTEGERS))
    if kind == "string":
        return rng.choice(("p-data", "odd-" + str(rng.randrange(50)), *TEXTS))
    if kind == "array":
        return [_value(schema.get("items", {}), rng) for _ in range(rng.randrange(4))]
    if kind == "object":
        return {rng.choice(TEXTS): rng.choice(_ODD) for _ in range(rng.randrange(3))}
    return rng.choice(_ODD)


def call_until(end: float, count: int, caller: Caller, make: Any) -> str:
    """Call until the time or the number is over; what was answered."""
    while time.monotonic() < end and not 0 < count <= caller.statuses.total():
        caller.call(make())
    told = ", ".join(f"{number:,} x {status or 'none'}" for status, number in sorted(caller.statuses.items()))
    return f"{caller.statuses.total():,} calls: {told}" + "".join(f"\n  {line}" for line in caller.bugs[:10])
