"""Schemas for the registry: those of `hostile_schemas`, and random ones in all three languages, with a client beside
them that registers ordinary ones and notes how long its slowest answer took."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from tests.attack.hostile_schemas import CASES, Question, check, registration

PATIENCE_S = 180.0
"""No answer takes so long: parsing both schemas and comparing them may take 2 s of work each."""
_SUBJECTS = 40
_CONFIGS = ("NONE", "BACKWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")
_NUMBERS = (-1, 0, 1, 0.5, 10, 2**31, 2**63, 10**400, 1e308)
_TEXTS = ("", "a", "ä", "\ud800", "(a+)+$", "[", "x" * 300, "#", "#/$defs/A", "null")


def random_question(rng: random.Random) -> Question:
    """A registration, a question about compatibility, or another config."""
    kind = rng.choice(("AVRO", "JSON", "JSON", "PROTOBUF"))
    subject = f"{kind}{rng.randrange(_SUBJECTS)}"
    if rng.random() < 0.1:
        return Question("PUT", f"/config/{subject}", {"compatibility": rng.choice(_CONFIGS)})
    makers: dict[str, Callable[[random.Random], Any]] = {"AVRO": _avro, "JSON": _json, "PROTOBUF": _proto}
    schema = makers[kind](rng)
    if rng.random() < 0.4:
        return check(subject, schema, kind)
    names = ("R0", "a", "x.proto", "given.proto/x", "x" * 300)
    references = [
        {"name": rng.choice(names), "subject": f"{kind}{rng.randrange(_SUBJECTS)}", "version": rng.choice((1, -1, 2))}
        for _ in range(rng.choice((0, 0, 0, 1, 3)))
    ]
    return registration(subject, schema, kind, references)


def _avro(rng: random.Random) -> Any:
    """A schema of records, unions and defaults, most of which fit."""
    numbers = itertools.count()

    def made(depth: int) -> Any:
        kind = rng.randrange(9 if depth else 3)
        if kind < 3:
            return rng.choice(("null", "int", "long", "string", "bytes", "double", "R0", "R1"))
        if kind == 3:
            return [made(depth - 1) for _ in range(rng.randrange(4))]
        if kind == 4:
            return {"type": rng.choice(("array", "map")), "items": made(depth - 1), "values": made(depth - 1)}
        if kind == 5:
            return {"type": "enum", "name": f"R{next(numbers)}", "symbols": ["A", "B", "C"][: rng.randrange(4)]}
        if kind == 6:
            return {"type": "fixed", "name": f"R{next(numbers)}", "size": rng.choice((1, *_NUMBERS))}
        name = f"R{next(numbers)}"
        fields = [_field(rng, f"f{number}", made(depth - 1)) for number in range(rng.randrange(5))]
        return {"type": "record", "name": name, "fields": fields}

    return made(rng.randrange(1, 6))


def _field(rng: random.Random, name: str, kind: Any) -> dict[str, Any]:
    field = {"name": name, "type": kind}
    if rng.random() < 0.5:
        value: Any = rng.choice((None, 1, "a", [], {}))
        for _ in range(rng.choice((0, 0, 3, 30))):
            value = rng.choice(({"f0": value}, [value], {"f0": value, "f1": value}))
        field["default"] = value
    return field


def _json(rng: random.Random) -> Any:
    """A schema of branches and references, often to itself."""
    defs = [f"D{number}" for number in range(rng.randrange(1, 12))]

    def made(depth: int) -> Any:
        if not depth or rng.random() < 0.15:
            return rng.choice(
                (True, False, {}, {"type": "string"}, {"$ref": "#"}, {"$ref": "#/$defs/" + rng.choice(defs)})
            )
        found: dict[str, Any] = {}
        for _ in range(rng.randrange(1, 4)):
            name = rng.choice(
                ("allOf", "anyOf", "oneOf", "properties", "items", "enum", "type", "minimum", "pattern", "not")
            )
            if name in ("allOf", "anyOf", "oneOf"):
                found[name] = [made(depth - 1) for _ in range(rng.randrange(1, 5))]
            elif name == "properties":
                found[name] = {each: made(depth - 1) for each in rng.sample("abcdef", rng.randrange(5))}
            elif name == "enum":
                found[name] = [rng.choice((1, "a", None, [1], {"a": 1})) for _ in range(rng.randrange(1, 6))]
            elif name == "type":
                found[name] = rng.choice(("string", "object", "array", "number", ["null", "integer"], 5))
            else:
                found[name] = made(depth - 1) if name in ("items", "not") else rng.choice((*_NUMBERS, *_TEXTS))
        return found

    depth = rng.randrange(1, 5)
    drafts = ("http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema")
    declared = {"$schema": rng.choice(drafts), "$defs": {name: made(depth) for name in defs}}
    body = made(depth)
    return {**declared, **body} if isinstance(body, dict) else declared


def _proto(rng: random.Random) -> str:
    """A file with messages inside of messages, oneofs, maps and reserved numbers."""

    def message(depth: int) -> Iterator[str]:
        yield f"message M{rng.randrange(6)} {{"
        for number in range(1, rng.randrange(1, 6)):
            kind = rng.choice(("int32", "string", "bytes", "M1", "map<string, int32>", "repeated M2", "optional bool"))
            yield f"{kind} f{number} = {rng.choice((number, number, rng.choice(_NUMBERS)))};"
        if rng.random() < 0.3:
            yield f"reserved {rng.randrange(50)} to {rng.randrange(100)}; oneof o {{ string s = 60; int32 t = 61; }}"
        for _ in range(rng.randrange(3) if depth else 0):
            yield from message(depth - 1)
        yield "}"

    lines = [f'syntax = "{rng.choice(("proto2", "proto3", "proto3", "proto9"))}";']
    lines += [f'import "{rng.choice(("x.proto", "google/protobuf/any.proto"))}";'] if rng.random() < 0.2 else []
    return "\n".join([*lines, *(line for _ in range(rng.randrange(1, 4)) for line in message(3))])


class Asker:
    """Asks one registry, and counts the answers by their status. Usable in several threads."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc
        self.statuses: Counter[int] = Counter()
        self.bugs: list[str] = []
        self.slowest_s = 0.0

    def ask(self, question: Question) -> None:
        """OSError if there is no answer in time."""
        connection = http.client.HTTPConnection(self._address, timeout=PATIENCE_S)
        began = time.monotonic()
        connection.request(
            question.method, question.path, json.dumps(question.body), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        self.statuses[answer.status] += 1
        if answer.status == 500:
            self.bugs.append(f"{json.dumps(question)[:2000]}: {text[:300]!r}")


def ask_until(url: str, seed: int, until: float, count: int) -> str:
    """Ask hostile and random questions, side by side, until a time or a number; what was answered."""
    asker, canary = Asker(url), Asker(url)
    over = threading.Event()

    def hostile() -> None:
        for turn, (name, case) in enumerate(itertools.cycle(CASES.items())):
            for question in case(f"{name}-{seed}-{turn}-"):
                if over.is_set():
                    return
                asker.ask(question)

    def strange(rng: random.Random) -> None:
        while not over.is_set():
            asker.ask(random_question(rng))

    threads = [threading.Thread(target=hostile)]
    threads += [threading.Thread(target=strange, args=(random.Random(seed + number),)) for number in range(2)]
    for each in threads:
        each.start()
    for number in itertools.count():
        if time.monotonic() >= until or 0 < count <= asker.statuses.total():
            break
        schema = {"type": "record", "name": f"C{number}", "fields": [{"name": "a", "type": "int"}]}
        canary.ask(registration(f"canary{seed}-{number}", schema))
        time.sleep(0.02)
    over.set()
    for each in threads:
        each.join()
    assert canary.statuses.keys() <= {200}, canary.statuses
    told = ", ".join(f"{number:,} x {status}" for status, number in sorted(asker.statuses.items()))
    seen = f"{asker.statuses.total():,} questions: {told}; the slowest took {asker.slowest_s:.1f} s, "
    seen += f"the slowest ordinary one of {canary.statuses.total():,} {canary.slowest_s * 1000:.0f} ms"
    return seen + "".join(f"\n  {line}" for line in asker.bugs[:10])
