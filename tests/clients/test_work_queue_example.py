"""examples/work_queue: what becomes of jobs that fail, of jobs that nobody can do and of a worker that hangs."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "work_queue" / "run.py"
SVG = "{http://www.w3.org/2000/svg}"


def test_each_job_comes_to_its_end(tmp_path: Path) -> None:
    picture = tmp_path / "queue.svg"
    done = subprocess.run([sys.executable, str(RUN), str(picture)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines() if line.startswith("job ")]
    ends = {int(number): what for _, number, what in lines}
    assert ends[3].endswith("rejected (delivery 1)")
    assert ends[7].endswith("released (delivery 1), done (delivery 2)")
    assert ends[12].endswith("released (delivery 1), released (delivery 2), released (delivery 3)")
    assert ends[20].endswith("hangs (delivery 1), done (delivery 2)")
    assert "19 acknowledged, 1 acquired" in done.stdout
    _check(ET.parse(picture).getroot())


def _check(picture: ET.Element) -> None:
    """What the picture says of each job that is not simply done; the bars of a job stand in their order."""
    texts = [element.text or "" for element in picture.iter(f"{SVG}text")]
    assert {"jobs-0", "jobs-39", "done", "given up", "nobody has it: it waits", "its lock runs out"} <= set(texts)
    assert any(text.endswith(" hangs") for text in texts)
    owners: dict[str, list[str]] = {}
    for element in picture.iter(f"{SVG}title"):
        job, _, rest = (element.text or "").partition(": ")
        owner = rest.partition(",")[0]
        owners.setdefault(job, []).append("held" if owner.startswith("W") else owner)
    assert owners["jobs-3"] == ["no owner", "held", "given up"]
    assert owners["jobs-7"][1:] in (["held", "no owner", "held", "done"], ["held", "held", "done"])
    assert owners["jobs-12"].count("held") == 3
    assert owners["jobs-12"][-1] == "given up"
    assert owners["jobs-20"].count("held") == 2
    assert owners["jobs-20"][-1] == "done"
    assert all(of_job[-1] in ("done", "given up") for of_job in owners.values())
