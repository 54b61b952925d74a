"""examples/failover: what is lost when a leader dies is what the stories say."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

RUN = Path(__file__).parents[2] / "examples" / "failover" / "run.py"
SVG = "{http://www.w3.org/2000/svg}"
TOLD = """\
acks=1:
  acknowledged a b c d; lost c d
acks=all:
  acknowledged a b c d; lost nothing
unclean election:
  acknowledged a b c d; lost c d
zombie:
  the first instance is refused: _FENCED
  committed: second
"""


def test_the_failover_example_tells_what_is_lost(tmp_path: Path) -> None:
    picture = tmp_path / "failover.svg"
    done = subprocess.run([sys.executable, str(RUN), str(picture)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == TOLD + f"drawn: {picture}\n"
    texts = [element.text for element in ET.parse(picture).iter(f"{SVG}text")]
    for text in ("acks=1", "unclean election", "node-3", "app-2", "kill 1", "leads", "behind"):
        assert text in texts
    roles = [element.text or "" for element in ET.parse(picture).iter(f"{SVG}title")]
    assert any(role.startswith("node-2: behind") for role in roles)
    assert any(role.startswith("node-2: leads") for role in roles)
