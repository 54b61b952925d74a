"""``python -m tests.crash [ROUNDS [SEED]]``: kill a durable broker under load, 200 times unless told otherwise."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.crash.harness import run

if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as directory:
        for name, count in run(Path(directory) / "data", rounds, seed).items():
            print(f"{name}: {count}")
