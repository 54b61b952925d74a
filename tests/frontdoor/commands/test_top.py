"""``odradek top``."""

from __future__ import annotations

import pytest

import odradek
from odradek.__main__ import main
from odradek.commands.top import lines, look, size_text
from odradek.control.server import ControlServer


def test_top_once_prints_one_look(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker(topics={"orders": 3, "idle": 1}) as broker, ControlServer(broker) as server:
        broker.produce_all("orders", ["1", "2"])
        broker.group("billing").set_offsets({("orders", 0): 0})
        broker.produce("orders", "3", transactional_id="tx", transaction="open")
        broker.set_faults(odradek.Fault("Fetch", delay_ms=1))
        broker.clock.freeze()
        assert main(["top", "--once", "--at", server.url]) == 0
        out = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert out[0][0] == broker.bootstrap_servers
    assert out[0][-4:] == ["stopped", "1", "fault", "set"]
    rows = {row[0]: row for row in out if row}
    assert rows["orders"][1:3] == ["3", "3"]
    assert rows["idle"][1:4] == ["1", "0", "0"]
    assert rows["billing"][1:4] == ["classic", "Empty", "0"]
    assert rows["tx"][1:3] == ["Ongoing", "1"]


def test_rates_are_of_the_time_between_two_looks_and_rows_are_cut() -> None:
    topics = {f"t{number}": 1 for number in range(20)}
    with odradek.KafkaBroker(topics=topics) as broker:
        before = look(broker, 100.0)
        broker.produce_all("t7", ["x"] * 10)
        seen = look(broker, 102.0)
    whole = lines(seen, before)
    assert whole[3].split() == ["t7", "1", "10", *size_text(seen.topics["t7"].size_bytes).split(), "5.0"]
    assert len(whole) == 2 + 1 + 20
    cut = lines(seen, before, rows=10)
    assert len(cut) <= 10
    assert cut[3] == whole[3]
    assert cut[-1].startswith("... ")


def test_top_without_a_broker_says_that_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once", "--at", "http://127.0.0.1:1"]) == 2
    assert "127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), (1 << 52, "4096.0 TiB")]
)
def test_top_shows_sizes(size: int, text: str) -> None:
    assert size_text(size) == text
