"""librdkafka's share consumer in a process of its own.

It is a preview (librdkafka 2.16), and may abort its process or hang in ``close``. Here such an end fails the one test
that used it, with the words of the client, and no other. The two processes speak lines of JSON: ``[verb, argument...]``
there, ``{"answer": ...}`` or ``{"failure": "..."}`` back.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from confluent_kafka import AcknowledgeType, Message, ShareConsumer

Kind = Literal["ACCEPT", "RELEASE", "REJECT"]
LIMIT = 60
"""Seconds that a call may take beyond what it was told to wait."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A record as the member got it; ``error`` is the client's, in words."""

    topic: str
    partition: int
    offset: int
    delivery_count: int | None
    value: bytes | None
    error: str | None


class ShareMember:
    """A member of a share group. A call raises ChildProcessError if the client fails, dies or does not come back."""

    def __init__(self, bootstrap: str, group: str, topic: str, **config: Any) -> None:
        settings = {"bootstrap.servers": bootstrap, "group.id": group, **config}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, json.dumps(settings), topic],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            text=True,
        )

    def __enter__(self) -> ShareMember:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            if failed is None:
                self.close()
        finally:
            self._end()

    def poll(self, timeout: float) -> list[Delivery]:
        """What the client has after at most so many seconds."""
        came = self._ask("poll", timeout, limit=LIMIT + timeout)
        return [
            Delivery(topic, partition, offset, count, None if value is None else value.encode("latin-1"), error)
            for topic, partition, offset, count, value, error in came
        ]

    def acknowledge(self, delivery: Delivery, kind: Kind) -> None:
        """Say what became of a record of the last poll."""
        self._ask("acknowledge", delivery.topic, delivery.partition, delivery.offset, kind)

    def commit_sync(self) -> dict[tuple[str, int], str | None]:
        """Topic and partition to what failed there."""
        return {(topic, partition): failure for topic, partition, failure in self._ask("commit_sync")}

    def close(self) -> None:
        """Leave the group, and await the end of the process."""
        self._ask("close")
        with self._limited(LIMIT):
            status = self._process.wait()
        if status != 0:
            raise self._failure("after close")

    def _ask(self, verb: str, *arguments: Any, limit: float = LIMIT) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # a process that is gone answers nothing
            self._process.stdin.write(json.dumps([verb, *arguments]) + "\n")
            self._process.stdin.flush()
        with self._limited(limit):
            line = self._process.stdout.readline()
        if not line:
            raise self._failure(f"in {verb}")
        reply = json.loads(line)
        if "failure" in reply:
            raise ChildProcessError(f"the share consumer failed in {verb}: {reply['failure']}")
        return reply["answer"]

    @contextlib.contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """A process that takes longer is aborted, so that it tells where it is."""
        timer = threading.Timer(seconds, self._process.send_signal, [signal.SIGABRT])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _failure(self, when: str) -> ChildProcessError:
        status = self._process.wait()
        self._words.seek(0)
        words = self._words.read().decode(errors="replace")[-8000:]
        return ChildProcessError(
            f"the share consumer ended {when} with status {status} (-6: it aborted, or was aborted for not coming back"
            f" in time):\n{words}"
        )

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class _Child:
    """The process of the client: one consumer, and the messages of its last poll."""

    def __init__(self, settings: dict[str, Any], topic: str) -> None:
        self._consumer = ShareConsumer(settings)
        self._consumer.subscribe([topic])
        self._held: dict[tuple[str | None, int | None, int | None], Message] = {}

    def answer(self, verb: str, *arguments: Any) -> Any:
        match verb:
            case "poll":
                return self._poll(*arguments)
            case "acknowledge":
                *place, kind = arguments
                topic, partition, offset = place
                return self._consumer.acknowledge(self._held[topic, partition, offset], AcknowledgeType[kind])
            case "commit_sync":
                done = self._consumer.commit_sync()
                return [(place.topic, place.partition, failure and str(failure)) for place, failure in done.items()]
            case "close":
                return self._consumer.close()
        raise ValueError(verb)

    def _poll(self, timeout: float) -> list[Any]:
        messages = list(self._consumer.poll(timeout))
        self._held = {(m.topic(), m.partition(), m.offset()): m for m in messages}
        return [(m.topic(), m.partition(), m.offset(), m.delivery_count(), _text(m), _error(m)) for m in messages]


def _text(message: Message) -> str | None:
    value = message.value()
    return None if value is None else bytes(value).decode("latin-1")


def _error(message: Message) -> str | None:
    error = message.error()
    return None if error is None else str(error)


def main(settings: str, topic: str) -> None:
    """Answer what standard input asks until it ends, or ``close`` was answered."""
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    child = _Child(json.loads(settings), topic)
    for line in sys.stdin:
        verb, *arguments = json.loads(line)
        try:
            reply = {"answer": child.answer(verb, *arguments)}
        except Exception as failure:
            reply = {"failure": repr(failure)}
        answers.write(json.dumps(reply) + "\n")
        if verb == "close":
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
