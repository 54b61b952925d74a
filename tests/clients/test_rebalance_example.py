"""examples/rebalance: the history of a group, read from its log, under each assignor."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "rebalance" / "run.py"


def test_the_picture_shows_who_owned_what(tmp_path: Path) -> None:
    picture = tmp_path / "rebalance.svg"
    done = subprocess.run([sys.executable, str(RUN), str(picture)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "C0: t0p0 t0p1 t1p0 t1p1; C1: t0p2 t1p2" in done.stdout, "range of two"
    assert "C0: t0p0 t0p2 t1p1; C1: t0p1 t1p0 t1p2" in done.stdout, "round robin of two"
    assert done.stdout.count("nobody") >= 3, "everybody leaves in the end"
    shapes = [element.tag.rpartition("}")[2] for element in ET.parse(picture).iter()]
    assert shapes.count("rect") > 3 * 6 * 5
    assert "title" in shapes
