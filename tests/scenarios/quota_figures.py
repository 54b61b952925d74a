"""Stories of clients under quotas, and the throttle times that Kafka's own quota managers computed for them.

``tests/vectors/quota_figures.json.gz`` keeps both. This writes it, with the jars of Kafka 4.4.0,
whose insides the recorder knows (see `real_kafka`):

    python -m tests.scenarios.quota_figures tests/vectors/quota_figures.json.gz

``quota_figures-4.3.json.gz`` has the same stories, as Kafka 4.3.1 told them.
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.real_kafka import DEFINITION, classpath, java_command

RECORDER = Path(__file__).parent / "java" / "recorders" / "QuotaRecorder.java"
Story = dict[str, Any]
USERS, CLIENTS = ("alice", "bob"), ("app", "other", None)
_QUOTAS = {"rate": (1, 100, 1024, 1_000_000), "request": (0.5, 10, 200), "mutation": (0.1, 1, 2.5, 50)}
_WINDOWS = ((11, 1), (11, 1), (2, 1), (1, 1), (5, 3))


def stories() -> Iterator[Story]:
    """Random ones, the same each time: bursts, pauses, quotas that come and go, clients that share one."""
    chosen = random.Random(4711)
    for kind in ("rate", "request", "mutation"):
        for number in range(60):
            samples, seconds = chosen.choice(_WINDOWS)
            steps = [_change(chosen, kind, number < 20)]
            if number % 2:
                steps += [_change(chosen, kind, False) for _ in range(chosen.randint(1, 4))]
            for _ in range(60):
                if chosen.random() < 0.04:
                    steps.append(_change(chosen, kind, False))
                steps += _use(chosen, kind)
            yield {"kind": kind, "samples": samples, "seconds": seconds, "steps": steps}
    yield from _extremes()


def _change(chosen: random.Random, kind: str, plain: bool) -> Story:
    user, client = ("alice", "") if plain else (chosen.choice((*USERS, None, "")), chosen.choice(("app", None, "")))
    if (user, client) == ("", ""):
        user = "alice"
    value = None if not plain and chosen.random() < 0.2 else chosen.choice(_QUOTAS[kind])
    return {"does": "set", "after": 0, "user": user, "client": client, "value": value}


def _use(chosen: random.Random, kind: str) -> list[Story]:
    after = chosen.choice((0, 0, 1, 7, 100, 250, 999, 1000, 1001, 2500, 10_999, 11_000, 60_000))
    who = {"user": chosen.choice(USERS), "client": chosen.choice(CLIENTS)}
    if kind == "mutation":
        does = chosen.choice(("strict", "strict", "permissive"))
        return [{"does": does, "after": after, **who, "value": float(chosen.choice((1, 2, 10, 100)))}]
    sizes = (0.01, 3.7, 90.0) if kind == "request" else (1.0, 77.0, 5000.0, 1_048_576.0)
    value = chosen.choice(sizes)
    steps = [{"does": "record", "after": after, **who, "value": value}]
    if chosen.random() < 0.2:
        steps.append({"does": "take back", "after": 0, **who, "value": value})
    if chosen.random() < 0.1:
        steps.append({"does": "most", "after": 0, **who, "value": 0.0})
    return steps


def _extremes() -> Iterator[Story]:
    """Quotas so small that the delay is no int any more."""
    for kind in ("rate", "request", "mutation"):
        for quota in (1e-9, 1e-6, 1e-4, 1e-3, 1e12):
            who = {"user": "alice", "client": "app"}
            does = "permissive" if kind == "mutation" else "record"
            uses = [{"does": does, "after": 10, **who, "value": value} for value in (1.0, 1e3, 1e6, 1e9)]
            first = {"does": "set", "after": 0, "user": "alice", "client": "", "value": quota}
            yield {"kind": kind, "samples": 11, "seconds": 1, "steps": [first, *uses]}


if __name__ == "__main__":
    told = list(stories())
    command = java_command(str(RECORDER), jars=classpath(DEFINITION))
    text = "\n".join(map(json.dumps, told))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(answers) == len(told), done.stdout
    kept = [{**story, "answers": answer} for story, answer in zip(told, answers, strict=True)]
    Path(sys.argv[1]).write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
