"""Conversations with a broker: how one is held, and how all of a module are recorded."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar


class Talk(Protocol):
    """A conversation under way. ``transcript``: what was asked and what came back."""

    transcript: list[Any]

    def close(self) -> None:
        """Hang up."""


C = TypeVar("C", bound=Talk)


def held(conversation: C, talk: Callable[[C], None]) -> list[Any]:
    """Hold a conversation; its transcript, as a recording has it."""
    try:
        talk(conversation)
    finally:
        conversation.close()
    result: list[Any] = json.loads(json.dumps(conversation.transcript))
    return result


def record_all(transcribe: Callable[[str, str, int], list[Any]], names: Iterable[str]) -> None:
    """The command ``HOST:PORT FILE [NAME...]``: hold the conversations, or those that are named, and write them."""
    host, port = sys.argv[1].rsplit(":", 1)
    transcripts = {name: transcribe(name, host, int(port)) for name in sys.argv[3:] or names}
    with gzip.GzipFile(sys.argv[2], "w", mtime=0) as out:
        out.write(json.dumps(transcripts, indent=1, sort_keys=True).encode())
