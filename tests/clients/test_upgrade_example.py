"""examples/upgrade: a group goes to the consumer protocol and back, and no record is lost."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "upgrade" / "run.py"
SVG = "{http://www.w3.org/2000/svg}"

STEPS = [
    "all are classic a classic group of 3 classic and 0 consumer members; 0 records written, 0 read",
    "C0 is upgraded a consumer group of 2 classic and 1 consumer members; 60 records written, 60 read",
    "C1 is upgraded a consumer group of 1 classic and 2 consumer members; 120 records written, 120 read",
    "C2 is upgraded a consumer group of 0 classic and 3 consumer members; 180 records written, 180 read",
    "C0 is downgraded a consumer group of 1 classic and 2 consumer members; 240 records written, 240 read",
    "C1 is downgraded a consumer group of 2 classic and 1 consumer members; 300 records written, 300 read",
    "C2 is downgraded a classic group of 3 classic and 0 consumer members; 360 records written, 360 read",
    "lost: 0; not committed: 0",
    "read again: 0 (Kafka promises at least once)",
]


def test_up_and_down_member_by_member(tmp_path: Path) -> None:
    picture = tmp_path / "upgrade.svg"
    done = subprocess.run([sys.executable, str(RUN), str(picture)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [" ".join(line.split()) for line in done.stdout.splitlines()][: len(STEPS)] == STEPS
    texts = [element.text for element in ET.parse(picture).iter(f"{SVG}text")]
    for text in ("C0 classic", "C0 consumer", "C0 up", "C2 down", "orders-5", "seconds on the broker's clock"):
        assert text in texts
