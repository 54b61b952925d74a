"""The ids that each broker makes up, under one name for both.

Steps hold symbols: `${7.memberId}` is the member id in the answer to step 7, `${id of t0-run.topicId}` that of a topic,
`${uuid a}` an id that the client makes up, `${run}` the suffix of this run's topics and groups. A symbol whose step was
left out stands for nothing that exists. Bytes are written as what they say: `{"batches": [..]}`,
`{"subscription": [topic, ..]}`, `{"assigned": {topic: [partition, ..]}}`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

from tests.conformance.duel.record_data import assignment, encoded, subscription

Form: TypeAlias = dict[str, Any]

KINDS: Mapping[str, str] = {
    "memberId": "memberId",
    "leader": "memberId",
    "topicId": "topicId",
    "producerId": "producerId",
    "ongoingTxnProducerId": "producerId",
    "previousProducerId": "producerId",
    "nextProducerId": "producerId",
    "sessionId": "sessionId",
    "clientInstanceId": "clientInstanceId",
    "tokenId": "tokenId",
    "hmac": "hmac",
    "port": "port",
    "clusterId": "clusterId",
    "logDir": "logDir",
    "replicaDirectoryId": "directoryId",
    "voterDirectoryId": "directoryId",
    "directoryId": "directoryId",
}
"""Field of an answer -> what kind of id it is."""
_HASHED = frozenset({"memberId", "topicId"})
"""Lists of elements with one of these have an order of hashes."""
NOTHING: Mapping[str, Any] = {
    "producerId": -1,
    "sessionId": 0,
    "port": 1,
    "memberId": "gone",
    "tokenId": "gone",
    "logDir": "/gone",
    "hmac": "Z29uZQ==",
}
_NO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
_NONE = ("", -1, 0, None, _NO_UUID)
_SYMBOL = re.compile(r"\$\{([^}]+)\}")
_RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_RUN = re.compile(r"r[0-9a-f]{6}r")


def _made_of(form: Form, name: str) -> str:
    """What an id begins with before its random part: the instance id of a static member, or the client's id."""
    found = _RANDOM.search(str(form.get(name)))
    return found.string[: found.start()] if found else ""


class Pairing:
    """Symbols and their values on both sides (0: odradek, 1: Kafka), for one run of a conversation."""

    def __init__(self, run: str, began_ms: int) -> None:
        self.run = run
        self.began_ms = began_ms
        self._values: dict[str, tuple[Any, Any]] = {}
        self._symbols: tuple[dict[Any, str], dict[Any, str]] = ({}, {})
        self._guessed: set[str] = set()

    # -- to the brokers

    def resolved(self, form: Any, side: int) -> Any:
        """What is sent to one side: symbols have their values, records are bytes in hex."""
        if isinstance(form, dict):
            made = {name: self.resolved(value, side) for name, value in form.items()}
            if "batches" in made:
                return encoded(made["batches"], self.began_ms).hex()
            if "subscription" in made:
                return subscription(made["subscription"])
            return assignment(made["assigned"]) if "assigned" in made else made
        if isinstance(form, list):
            return [self.resolved(value, side) for value in form]
        if isinstance(form, str) and "${" in form:
            whole = _SYMBOL.fullmatch(form)
            if whole:
                return self._value(whole[1], side)
            return _SYMBOL.sub(lambda found: str(self._value(found[1], side)), form)
        return form

    def _value(self, symbol: str, side: int) -> Any:
        if symbol == "run":
            return self.run
        if symbol.startswith("uuid "):
            made = hashlib.md5(f"{self.run} {symbol}".encode()).digest()
            return base64.urlsafe_b64encode(bytes([0x40]) + made[1:]).decode().rstrip("=")
        if symbol in self._values:
            return self._values[symbol][side]
        return NOTHING.get(symbol.partition(".")[2].split(".")[0], _NO_UUID)

    # -- from the brokers

    def learn(self, step: int, left: Any, right: Any, *, guess: bool = False) -> None:
        """Pair the ids that two answers have in the same places and that neither side had before.

        `guess`: the places may be others; the pairs hold until another answer tells better.
        """
        if isinstance(left, dict) and isinstance(right, dict):
            for name in left.keys() & right.keys():
                kind = KINDS.get(name)
                if kind and not isinstance(left[name], dict | list):
                    self._pair(self._base(step, kind, left), kind, left[name], right[name], guess)
                else:
                    self.learn(step, left[name], right[name], guess=guess)
        elif isinstance(left, list) and isinstance(right, list):
            own = [[each for each in elements if not self._foreign(each)] for elements in (left, right)]
            rows = [self._matched(elements, side) for side, elements in enumerate(own)]
            times = Counter(place for place, _ in rows[0])
            for (place, one), (_, other) in zip(*rows, strict=False):
                self.learn(step, one, other, guess=guess or (place != "" and times[place] > 1))

    def _matched(self, elements: list[Any], side: int) -> list[tuple[str, Any]]:
        """Elements in an order that is the same on both sides, where what is in them says it, and what that is."""
        if not all(isinstance(each, dict) and each.keys() & _HASHED for each in elements):
            return [("", each) for each in elements]

        def place(form: Form) -> str:
            known = (
                self._symbols[side].get((kind, form.get(name)), _made_of(form, name)) for name, kind in KINDS.items()
            )
            return str(list(known)) + str({name: value for name, value in form.items() if name not in KINDS})

        return sorted(((place(each), each) for each in elements), key=lambda each: each[0])

    def _base(self, step: int, kind: str, form: Form) -> str:
        """The symbol of an id. A topic's is the same wherever it is met first."""
        name = form.get("name") or form.get("topicName") or form.get("topic") if kind == "topicId" else None
        return f"id of {name.replace(self.run, 'run')}.topicId" if name else f"{step}.{kind}"

    def _pair(self, base: str, kind: str, left: Any, right: Any, guess: bool) -> None:
        nothing = (-1,) if kind == "producerId" else _NONE
        if left in nothing or right in nothing:
            return
        known = [self._symbols[0].get((kind, left)), self._symbols[1].get((kind, right))]
        if known != [None, None]:
            if not guess and known[0] != known[1] and self._guessed.issuperset(filter(None, known)):
                self._pair_again(kind, left, right, *known)
            return
        if left == right and kind != "producerId":
            return
        symbol = base
        count = 1
        while symbol in self._values:
            count += 1
            symbol = f"{base}.{count}"
        self._enter(kind, symbol, left, right)
        if guess:
            self._guessed.add(symbol)

    def _pair_again(self, kind: str, left: Any, right: Any, one: str | None, other: str | None) -> None:
        """A guess was wrong: these two belong together, and so do those that were guessed to be theirs."""
        symbol = one or other
        assert symbol is not None
        old = self._values[symbol]
        self._enter(kind, symbol, left, right)
        self._guessed.discard(symbol)
        if one and other:
            self._enter(kind, other, self._values[other][0], old[1])
        else:
            for side, value in enumerate((left, right)):
                if old[side] != value:
                    del self._symbols[side][kind, old[side]]

    def _enter(self, kind: str, symbol: str, left: Any, right: Any) -> None:
        self._values[symbol] = (left, right)
        self._symbols[0][kind, left] = symbol
        self._symbols[1][kind, right] = symbol

    def shown(self, form: Any, side: int, name: str = "") -> Any:
        """An answer with symbols in place of ids, as both sides should give it.

        What earlier conversations left behind is not in it.
        """
        if isinstance(form, dict):
            return {key: self.shown(value, side, key) for key, value in form.items()}
        if isinstance(form, list):
            return [self.shown(value, side, name) for value in form if not self._foreign(value)]
        kind = KINDS.get(name)
        if kind:
            symbol = self._symbols[side].get((kind, form))
            if symbol:
                return f"${{{symbol}}}"
        if isinstance(form, str) and form:
            return self._shown_text(form, side, name)
        return form

    def _foreign(self, form: Any) -> bool:
        """Whether an element of a list is named after another run."""
        if isinstance(form, dict):
            named = [value for value in form.values() if isinstance(value, str)] + form.get("entity", [])
            return any(map(self._foreign, named))
        return isinstance(form, str) and any(run != self.run for run in _RUN.findall(form))

    def _shown_text(self, text: str, side: int, name: str) -> str:
        for (kind, value), symbol in self._symbols[side].items():
            if isinstance(value, str) and len(value) > 8 and value in text:
                text = text.replace(value, f"${{{symbol}}}")
            elif kind == "producerId" and "Message" in name and str(value) in text:
                text = re.sub(rf"(?<![\w.-]){value}(?![\w.-])", f"${{{symbol}}}", text)
        return text.replace(self.run, "${run}")
