"""Mutated frames through all doors of a broker: plain, over TLS, before a log-in and after it.

A client sends them in bursts, so the broker is busy while the client makes the next ones. What follows a frame that
cut the connection, or that is not answered, is sent again on the next connection.
"""

from __future__ import annotations

import gzip
import json
import random
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odradek.broker.api.served import SERVED
from odradek.protocol.generated.messages.alter_client_quotas import AlterClientQuotasRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from tests.attack.doors import DOORS, Door, bad_bytes, dial, hang_up_hard, log_in_frames, sized
from tests.attack.mutation import mutate
from tests.broker.probes import Wire, probes

CORPUS = Path(__file__).parents[1] / "vectors" / "corpus.jsonl.gz"
TOPICS: dict[str, Any] = {"p-data": 3, "g-data": 3, "g-comp": {"config": {"cleanup.policy": "compact"}}}
LIMITS = {
    "auto.create.topics.enable": "false",
    "log.retention.bytes": "1000000",
    "log.segment.bytes": "1048576",
    "group.max.session.timeout.ms": "60000",
}
"""What keeps a long run within bounds: records and members go again."""
TURN = 200
"""Frames through one door before the next one's turn."""
_PLAIN_TURNS = 20
"""The plain door has its turn so many times as often as each other one: a connection there costs nearly nothing."""
_BURST = 16
_SILENCE_S = 0.01


@dataclass(slots=True)
class Outcome:
    """What became of the frames, and how many went through each door or found it closed."""

    answered: int = 0
    closed: int = 0
    silent: int = 0
    doors: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.answered + other.answered,
            self.closed + other.closed,
            self.silent + other.silent,
            self.doors + other.doors,
            self.refused + other.refused,
        )

    @property
    def sent(self) -> int:
        """The frames of all doors."""
        return sum(self.doors.values())


def samples() -> list[bytes]:
    """Recorded requests of all served APIs, without their size.

    Without those that may hurt other clients by right: a quota for everybody, a node that is unregistered.
    """
    served = SERVED.all()
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    requests = [bytes.fromhex(row["request_hex"]) for row in rows if row["key"] in served]
    requests += [each for probe in probes() for each in probe.requests]
    hurting = tuple(struct.pack(">h", api.API_KEY) for api in (AlterClientQuotasRequest, UnregisterBrokerRequest))
    return [each for each in requests if not each.startswith(hurting)]


class Fuzzer:
    """Sends mutated frames to one broker."""

    def __init__(self, ports: Mapping[str, int], seed: int, doors: Sequence[Door] = DOORS) -> None:
        """`ports`: by the name of the listener."""
        self.outcome = Outcome()
        self._ports = ports
        self._doors = doors
        self._rng = random.Random(seed)
        self._samples = samples()

    def turn(self, count: int = TURN) -> None:
        """Send so many frames through one door."""
        (door,) = self._rng.choices(self._doors, [_PLAIN_TURNS if door.name == "plain" else 1 for door in self._doors])
        if door.side.endswith("before"):
            self._from_outside(door, count)
        else:
            self._from_inside(door, count)
        self.outcome.doors[door.name] += count

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
        waiting = [mutate(self._rng.choice(self._samples), self._samples, self._rng) for _ in range(count)]
        while waiting:
            if wire is None:
                wire = self._dial(door)
                if wire is None:
                    del waiting[0]
                    continue
            burst = waiting[:_BURST]
            wire.send(b"".join(map(sized, burst)))
            done = 0
            open_still = True
            while open_still and done < len(burst):
                open_still = self._hear(wire)
                done += 1
            del waiting[:done]
            if not open_still:
                self._hang_up(wire)
                wire = None
        if wire is not None:
            self._hang_up(wire)

    def _dial(self, door: Door) -> Wire | None:
        try:
            return dial(door, self._ports)
        except OSError:
            self.outcome.refused[door.name] += 1
            return None

    def _hear(self, wire: Wire) -> bool:
        """Count what came; whether the connection can go on."""
        try:
            answer = wire.frame(_SILENCE_S)
        except TimeoutError:
            self.outcome.silent += 1
            return False
        if answer is None:
            self.outcome.closed += 1
            return False
        self.outcome.answered += 1
        return True

    def _hang_up(self, wire: Wire) -> None:
        if self._rng.random() < 0.1:
            hang_up_hard(wire)
        else:
            wire.close()
