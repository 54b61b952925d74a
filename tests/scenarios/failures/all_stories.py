"""All stories, and the recording of what a real Kafka answers in them.

    python -m tests.scenarios.failures.all_stories [NAME ...]

tells them (all, or those that are named) to a real cluster and writes `tests/vectors/failures.json.gz`.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.scenarios.failures.story import STORIES, transcribe

MODULES = ("replication", "elections", "leaders", "groups", "transactions", "administration", "reassigning")
for _module in MODULES:
    import_module(f"tests.scenarios.failures.{_module}")

VECTORS = Path(__file__).parents[2] / "vectors" / "failures.json.gz"
NAMES = tuple(STORIES)


@cache
def recorded() -> dict[str, list[Any]]:
    """The transcripts of a real Kafka, alike for 4.3.1 and 4.4.0, by the story's name."""
    transcripts: dict[str, list[Any]] = json.loads(gzip.decompress(VECTORS.read_bytes()))
    return transcripts


def record(names: list[str]) -> None:
    """Tell stories to a real cluster, and keep what it answered."""
    from tests.scenarios.failures.real import kafka_cluster

    kept = recorded() if VECTORS.exists() else {}
    transcripts = {name: kept[name] for name in NAMES if name in kept}
    with kafka_cluster() as cluster:
        for name in names or NAMES:
            began = time.monotonic()
            told = transcribe(name, cluster)
            changed = "" if transcripts.get(name) == told else "  (new)"
            transcripts[name] = told
            print(f"{time.monotonic() - began:6.1f} s  {name}{changed}", flush=True)
    with gzip.GzipFile(VECTORS, "w", mtime=0) as out:
        out.write(json.dumps(transcripts, indent=1, sort_keys=True).encode())


if __name__ == "__main__":
    record(sys.argv[1:])
