"""examples/work_queue: what becomes of jobs that fail, of jobs that nobody can do and of a worker that hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "work_queue" / "run.py"


def test_each_job_comes_to_its_end() -> None:
    done = subprocess.run([sys.executable, str(RUN)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line.startswith("job ")]
    ends = {int(number): what for _, number, what in lines}
    assert ends[3].endswith("rejected (delivery 1)")
    assert ends[7].endswith("released (delivery 1), done (delivery 2)")
    assert ends[12].endswith("released (delivery 1), released (delivery 2), released (delivery 3)")
    assert ends[20].endswith("hangs (delivery 1), done (delivery 2)")
    assert "19 acknowledged, 1 acquired" in done.stdout
