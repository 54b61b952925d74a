"""Mutated frames over TLS and SASL, before and after the log-in, with an authorizer and quotas on:
`python -m tests.bench.fuzz_secured --frames 100000 --seed 1`. All ways in have their turn; `--side tls-before` takes
one quarter of them.

A bystander logs in at the start and asks a question from time to time on one connection: nobody else's fault may
touch it.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from tests.bench.fuzz import SILENCE_S, Outcome, resident_kib, seeds, settle
from tests.bench.fuzz_doors import (
    DOORS,
    SIDES,
    Door,
    bad_bytes,
    dial,
    hang_up_hard,
    log_in_frames,
    prepare,
    secured,
    sized,
)
from tests.bench.mutation import mutate
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire

TOPICS: dict[str, Any] = {"p-data": 3, "g-data": 3, "g-comp": {"config": {"cleanup.policy": "compact"}}}
_LIMITS = {
    "auto.create.topics.enable": "false",
    "log.retention.bytes": "1000000",
    "log.segment.bytes": "1048576",
    "group.max.session.timeout.ms": "60000",
}
_TOLD_EACH = 20_000
_TURN = 200  # frames through one door before the next one's turn
_BYSTANDER = next(door for door in DOORS if door.name == "SASL over TLS as root")


@dataclass(slots=True)
class SecuredOutcome(Outcome):
    """And open files, how many frames went through each door, and how many connections were refused at it."""

    files_before: int = 0
    files_after: int = 0
    doors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


class Fuzzer:
    """Sends mutated frames to one broker."""

    def __init__(self, ports: Mapping[str, int], seed: int, outcome: SecuredOutcome, doors: Sequence[Door]) -> None:
        self._ports = ports
        self._doors = doors
        self._rng = random.Random(seed)
        # a quota on new connections of an address would lock the fuzzer out for the rest of the run
        self._samples = [frame for frame in seeds() if b"connection_creation_rate" not in frame]
        self._outcome = outcome

    def run(self, count: int) -> None:
        """Send so many frames."""
        bystander = dial(_BYSTANDER, self._ports)
        sent = 0
        while sent < count:
            door = self._rng.choice(self._doors)
            turn = min(_TURN, count - sent)
            if door.side.endswith("before"):
                self._from_outside(door, turn)
            else:
                self._from_inside(door, turn)
            sent += turn
            self._outcome.doors[door.name] += turn
            bystander = self._ask(bystander)
            self._tell(sent, turn)
        bystander.close()

    def _tell(self, sent: int, last: int) -> None:
        if sent // _TOLD_EACH != (sent - last) // _TOLD_EACH:
            print(f"{sent} frames, {resident_kib()} KiB, {self._outcome}", file=sys.stderr, flush=True)

    def _ask(self, bystander: Wire) -> Wire:
        """The bystander is served, on the connection that it has."""
        bystander.send(request_frame(ApiVersionsRequest(), 0, correlation_id=4711))
        answer = bystander.frame()
        assert answer is not None, "the bystander was cut"
        assert answer[:4] == struct.pack(">i", 4711)
        return bystander

    def _from_outside(self, door: Door, count: int) -> None:
        """Bad bytes, or log-ins that go wrong; each on a connection of its own."""
        left = count
        while left > 0:
            wire = self._dial(door)
            if wire is None:
                left -= 1
                continue
            if door.raw:
                wire.send(bad_bytes(self._rng))
                self._hear(wire)
                left -= 1
            else:
                for frame in log_in_frames(self._samples, self._rng):
                    wire.send(sized(frame))
                    left -= 1
                    if not self._hear(wire):
                        break
            self._hang_up(wire)

    def _from_inside(self, door: Door, count: int) -> None:
        """Mutated requests of whoever has come through the door, on one connection as long as it lasts."""
        wire: Wire | None = None
        for _ in range(count):
            if wire is None:
                wire = self._dial(door)
                if wire is None:
                    continue
            wire.send(sized(mutate(self._rng.choice(self._samples), self._samples, self._rng)))
            if not self._hear(wire):
                self._hang_up(wire)
                wire = None
        if wire is not None:
            self._hang_up(wire)

    def _dial(self, door: Door) -> Wire | None:
        try:
            return dial(door, self._ports)
        except OSError:
            self._outcome.refused[door.name] += 1
            return None

    def _hear(self, wire: Wire) -> bool:
        """Count what came; whether the connection can go on."""
        try:
            answer = wire.frame(SILENCE_S)
        except TimeoutError:
            self._outcome.silent += 1
            return False
        if answer is None:
            self._outcome.closed += 1
            return False
        self._outcome.answered += 1
        return True

    def _hang_up(self, wire: Wire) -> None:
        if self._rng.random() < 0.1:
            hang_up_hard(wire)
        else:
            wire.close()


def fuzz_secured(frames: int, seed: int, sides: Sequence[str] = SIDES) -> tuple[SecuredOutcome, list[str]]:
    """Send ``frames`` mutated frames; return what happened and the bugs as text."""
    outcome = SecuredOutcome()
    doors = [door for door in DOORS if door.side in sides]
    with KafkaBroker(topics=TOPICS, config={**_LIMITS, **secured()}) as broker:
        broker.cluster.bug_log.on_bug = lambda bug: print(bug, file=sys.stderr, flush=True)
        fuzzer = Fuzzer(prepare(broker), seed, outcome, doors)
        fuzzer.run(frames // 2)
        outcome.tasks_before, outcome.memory_before = settle(broker, TOPICS)
        outcome.files_before = open_files()
        fuzzer.run(frames - frames // 2)
        outcome.tasks_after, outcome.memory_after = settle(broker, TOPICS)
        outcome.files_after = open_files()
        fuzzer.run(0)
        outcome.bugs = len(broker.bugs)
        return outcome, [f"{bug}\nframe: {bug.frame.hex()}" for bug in broker.bugs]


def open_files() -> int:
    """How many file descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side", choices=SIDES, action="append")
    arguments = parser.parse_args()
    outcome, bugs = fuzz_secured(arguments.frames, arguments.seed, arguments.side or SIDES)
    print(outcome)
    for bug in bugs:
        print(bug, file=sys.stderr)
    return 1 if bugs else 0


if __name__ == "__main__":
    raise SystemExit(main())
