"""Mutated frames against a live broker: `python -m tests.bench.fuzz --frames 100000 --seed 1`.

Whatever comes in, the broker must go on answering, meet no bug, and neither tasks nor memory may grow with the number
of frames.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import struct
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import trio

from odradek.broker.api.served import SERVED
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.bench.mutation import mutate
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire, probes

CORPUS = Path(__file__).parents[1] / "vectors" / "corpus.jsonl.gz"
SILENCE_S = 0.01


@dataclass(slots=True)
class Outcome:
    """What a run found. Memory in KiB, of the process, after housekeeping."""

    answered: int = 0
    closed: int = 0
    silent: int = 0
    tasks_before: int = 0
    tasks_after: int = 0
    memory_before: int = 0
    memory_after: int = 0
    bugs: int = 0


def seeds() -> list[bytes]:
    """Recorded requests of all served APIs, without their size."""
    served = SERVED.all()
    rows = [json.loads(line) for line in gzip.decompress(CORPUS.read_bytes()).splitlines()]
    requests = [bytes.fromhex(row["request_hex"]) for row in rows if row["key"] in served]
    return requests + [each for probe in probes() for each in probe.requests]


def fuzz(frames: int, seed: int) -> tuple[Outcome, list[str]]:
    """Send ``frames`` mutated frames; return what happened and the bugs as text."""
    rng = random.Random(seed)
    samples = seeds()
    outcome = Outcome()
    config = {
        "auto.create.topics.enable": False,
        "log.retention.bytes": 1_000_000,
        "log.segment.bytes": 1_048_576,
        "group.max.session.timeout.ms": 60_000,
    }
    topics: dict[str, Any] = {"p-data": 3, "g-data": 3, "g-comp": {"config": {"cleanup.policy": "compact"}}}
    with KafkaBroker(topics=topics, config=config) as broker:
        send(broker, frames // 2, samples, rng, outcome)
        outcome.tasks_before, outcome.memory_before = settle(broker, topics)
        send(broker, frames - frames // 2, samples, rng, outcome)
        outcome.tasks_after, outcome.memory_after = settle(broker, topics)
        check_answering(broker)
        outcome.bugs = len(broker.bugs)
        return outcome, [str(bug) + f"\nframe: {bug.frame.hex()}" for bug in broker.bugs]


def send(broker: KafkaBroker, count: int, samples: list[bytes], rng: random.Random, outcome: Outcome) -> None:
    """Send ``count`` frames, each on the connection of the one before where that is still open."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    wire: Wire | None = None
    for _ in range(count):
        frame = mutate(rng.choice(samples), samples, rng)
        if wire is None:
            wire = Wire((host, int(port)))
        wire.send(struct.pack(">i", len(frame)) + frame)
        try:
            answer = wire.frame(SILENCE_S)
        except TimeoutError:
            outcome.silent += 1
            answer = None
        else:
            if answer is None:
                outcome.closed += 1
            else:
                outcome.answered += 1
        if answer is None:
            wire.close()
            wire = None
    if wire is not None:
        wire.close()


def settle(broker: KafkaBroker, topics: dict[str, Any]) -> tuple[int, int]:
    """Let every timeout come due and drop what the frames created; return (tasks, memory in KiB)."""
    for _ in range(5):
        broker.clock.advance(minutes=10)
    for name in broker.topics:
        if name not in topics:
            broker._call(partial(broker.cluster.delete_topic, name))
    broker.clock.advance(days=8)
    return broker._call(lambda: trio.lowlevel.current_statistics().tasks_living), resident_kib()


def resident_kib() -> int:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def check_answering(broker: KafkaBroker) -> None:
    """A good request must still be answered."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    with Wire((host, int(port))) as wire:
        wire.send(request_frame(MetadataRequest(topics=None), 9, correlation_id=4711))
        answer = wire.frame()
    assert answer is not None
    assert answer[:4] == struct.pack(">i", 4711)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    outcome, bugs = fuzz(arguments.frames, arguments.seed)
    print(outcome)
    for bug in bugs:
        print(bug, file=sys.stderr)
    return 1 if bugs else 0


if __name__ == "__main__":
    raise SystemExit(main())
