"""The examples that need client libraries: what they print, and what their pictures show."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
SVG = "{http://www.w3.org/2000/svg}"


def run(example: str, *arguments: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(EXAMPLES / example / "run.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_exactly_once_example_counts_each_bill_once() -> None:
    told = run("exactly_once")
    lines = told.splitlines()
    assert sum(line.startswith("killed a worker") for line in lines) >= 6
    aborted = [int(line.split("(and ")[1].split()[0]) for line in lines if "aborted)" in line]
    assert len(aborted) == 3
    assert sum(aborted) > 0, "three workers died between write and commit"
    # 600 bills of 0 to 599, one customer after the other
    for customer, due in (("Ada", 59700), ("Bela", 59900), ("Chiara", 60100)):
        assert any(line.split()[:5] == [customer, "due", str(due), "total", str(due)] for line in lines), lines


FAILOVER = """\
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
    told = run("failover", str(picture))
    assert told == FAILOVER + f"drawn: {picture}\n"
    texts = [element.text for element in ET.parse(picture).iter(f"{SVG}text")]
    for text in ("acks=1", "unclean election", "node-3", "app-2", "kill 1", "leads", "behind"):
        assert text in texts
    roles = [element.text or "" for element in ET.parse(picture).iter(f"{SVG}title")]
    assert any(role.startswith("node-2: behind") for role in roles)
    assert any(role.startswith("node-2: leads") for role in roles)


def test_the_rebalance_example_tells_what_each_protocol_costs(tmp_path: Path) -> None:
    picture = tmp_path / "rebalance.svg"
    told = run("rebalance", str(picture))
    assert "C0: t0-0 t0-1 t1-0 t1-1; C1: t0-2 t1-2" in told, "range of two"
    assert "C0: t0-0 t0-2 t1-1; C1: t0-1 t1-0 t1-2" in told, "round robin of two"
    check_rebalance_figures(told)
    check_rebalance_picture(ET.parse(picture))


def check_rebalance_figures(text: str) -> None:
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


def check_rebalance_picture(tree: ET.ElementTree[ET.Element]) -> None:
    texts = [element.text or "" for element in tree.iter(f"{SVG}text")]
    assert texts.count("C2 joins; C0 is busy") == 5
    assert texts.count("seconds on the broker's clock") == 4
    assert texts.count("t0-0") == 5
    assert "no owner: stands still" in texts
    bars = [element for element in tree.iter(f"{SVG}rect") if element.find(f"{SVG}title") is not None]
    spoken = [element.findtext(f"{SVG}title") for element in bars]
    assert "t0-2: no owner, second 10 to 20" in spoken, "of C1, under range"
    assert "t0-0: C2, second 40 to 45" in spoken


UPGRADE = [
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


def test_the_upgrade_example_loses_no_record(tmp_path: Path) -> None:
    picture = tmp_path / "upgrade.svg"
    told = run("upgrade", str(picture))
    assert [" ".join(line.split()) for line in told.splitlines()][: len(UPGRADE)] == UPGRADE
    texts = [element.text for element in ET.parse(picture).iter(f"{SVG}text")]
    for text in ("C0 classic", "C0 consumer", "C0 up", "C2 down", "orders-5", "seconds on the broker's clock"):
        assert text in texts


def test_the_work_queue_example_ends_each_job(tmp_path: Path) -> None:
    picture = tmp_path / "queue.svg"
    told = run("work_queue", str(picture))
    lines = [line.split(maxsplit=2) for line in told.splitlines() if line.startswith("job ")]
    ends = {int(number): what for _, number, what in lines}
    assert ends[3].endswith("rejected (delivery 1)")
    assert ends[7].endswith("released (delivery 1), done (delivery 2)")
    assert ends[12].endswith("released (delivery 1), released (delivery 2), released (delivery 3)")
    assert ends[20].endswith("hangs (delivery 1), done (delivery 2)")
    assert "19 acknowledged, 1 acquired" in told
    _check_queue_picture(ET.parse(picture).getroot())


def _check_queue_picture(picture: ET.Element) -> None:
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
