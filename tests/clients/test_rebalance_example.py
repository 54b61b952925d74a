"""examples/rebalance: one story under three generations of group protocols."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "rebalance" / "run.py"
SVG = "{http://www.w3.org/2000/svg}"


def test_three_generations_side_by_side(tmp_path: Path) -> None:
    picture = tmp_path / "rebalance.svg"
    done = subprocess.run([sys.executable, str(RUN), str(picture)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "C0: t0-0 t0-1 t1-0 t1-1; C1: t0-2 t1-2" in done.stdout, "range of two"
    assert "C0: t0-0 t0-2 t1-1; C1: t0-1 t1-0 t1-2" in done.stdout, "round robin of two"
    check_figures(done.stdout)
    check_picture(ET.parse(picture))


def check_figures(text: str) -> None:
    """What the protocols say: see the story and the columns in the example's README."""
    rows = re.findall(r"^(Watchers|Classic|Consumer).*?(\w+)?\)? +(\d+) +(\d+) +(\d+) +(\d+)   ([\d ]+)$", text, re.M)
    figures = {
        name or kind: (int(stops), int(herd), int(still), sorted(map(int, each.split())))
        for kind, name, _, stops, herd, still, each in rows
    }
    assert figures == {
        # C1 finds t0-2 and t1-2 taken and tries again after 2 s; then 3 s of lag, and a back-off that ends 1 s later
        "tree": (30, 12, 12, [0, 0, 3, 3, 3, 3]),
        # Everybody gives up everything each time: 6 at 5 s, 6, 6, 6 and the last 6. Two of C1's, and two of C2's, wait.
        "range": (30, 12, 60, [0, 0, 10, 10, 20, 20]),
        # The three of C1 wait for C0, then the two of C1 and the two of C2
        "roundrobin": (30, 12, 70, [0, 10, 10, 10, 20, 20]),
        # 3 go to C1, 2 to C2, the 2 of C1 and then the 3 of C0 to others, and all 6 at the end. The two of C1 wait.
        "sticky": (16, 1, 20, [0, 0, 0, 0, 10, 10]),
        # The same moves, but of the two of C1 only the one waits that C0 is to have.
        "uniform": (16, 1, 10, [0, 0, 0, 0, 0, 10]),
    }
    assert "split brain: the watchers went by different lists of members for 3 s" in text


def check_picture(tree: ET.ElementTree[ET.Element]) -> None:
    texts = [element.text or "" for element in tree.iter(f"{SVG}text")]
    assert texts.count("C2 joins; C0 is busy") == 5
    assert texts.count("seconds on the broker's clock") == 4
    assert texts.count("t0-0") == 5
    assert "no owner: stands still" in texts
    bars = [element for element in tree.iter(f"{SVG}rect") if element.find(f"{SVG}title") is not None]
    spoken = [element.findtext(f"{SVG}title") for element in bars]
    assert "t0-2: no owner, second 10 to 20" in spoken, "of C1, under range"
    assert "t0-0: C2, second 40 to 45" in spoken
