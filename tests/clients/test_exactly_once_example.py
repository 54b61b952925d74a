"""examples/exactly_once: a worker killed again and again counts each bill once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "exactly_once" / "run.py"


def test_each_bill_counts_once() -> None:
    done = subprocess.run([sys.executable, str(RUN)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith("killed a worker") for line in lines) >= 6
    aborted = [int(line.split("(and ")[1].split()[0]) for line in lines if "aborted)" in line]
    assert len(aborted) == 3
    assert sum(aborted) > 0, "three workers died between write and commit"
    # 600 bills of 0 to 599, one customer after the other
    for customer, due in (("Ada", 59700), ("Bela", 59900), ("Chiara", 60100)):
        assert any(line.split()[:5] == [customer, "due", str(due), "total", str(due)] for line in lines), lines
