"""Conversations with a broker, written down so that two brokers can be compared word for word.

A module of conversations has a function for each, and `transcribe`. A real Kafka's transcripts lie in
`tests/vectors/MODULE.json.gz`; this holds all of a module's conversations, or those that are named, and writes them:

    python -m tests.scenarios.transcripts MODULE HOST:PORT FILE [NAME...]

A broker with the listeners of `sasl_broker.sasl_properties` is at NAME=PORT,NAME=PORT.
"""

from __future__ import annotations

import gzip
import inspect
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, TypeVar


class Talk(Protocol):
    """A conversation under way. ``transcript``: what was asked and what came back."""

    transcript: list[Any]

    def close(self) -> None:
        """Hang up."""


C = TypeVar("C", bound=Talk)


def conversations(module: str) -> dict[str, Callable[[Any], None]]:
    """The conversations of a module by name: its public functions whose only argument is `c`, the conversation."""
    return {
        name: function
        for name, function in inspect.getmembers(sys.modules[module], inspect.isfunction)
        if function.__module__ == module and name[0] != "_" and [*inspect.signature(function).parameters] == ["c"]
    }


Transcribe = Callable[[str, str], list[Any]]
"""Holds a conversation, by its name, with the broker at host:port."""


def transcriber(begin: Callable[[str, int], C], talks: dict[str, Callable[[C], None]]) -> Transcribe:
    """The function `transcribe` of a module, whose conversations begin so."""

    def transcribe(name: str, bootstrap: str) -> list[Any]:
        host, port = bootstrap.rsplit(":", 1)
        return held(begin(host, int(port)), talks[name])

    return transcribe


def held(conversation: C, talk: Callable[[C], None]) -> list[Any]:
    """Hold a conversation; its transcript, as a recording has it."""
    try:
        talk(conversation)
    finally:
        conversation.close()
    result: list[Any] = json.loads(json.dumps(conversation.transcript))
    return result


def main(name: str, place: str, file: str, *names: str) -> None:
    module = import_module(f"tests.scenarios.{name}")
    ports = {listener: int(port) for listener, _, port in (pair.partition("=") for pair in place.split(",")) if port}
    transcripts = {each: module.transcribe(each, ports or place) for each in names or module.CONVERSATIONS}
    with gzip.GzipFile(file, "w", mtime=0) as out:
        out.write(json.dumps(transcripts, indent=1, sort_keys=True, ensure_ascii=False).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
