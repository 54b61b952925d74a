"""`odradek why`."""

from __future__ import annotations

import pytest

from odradek.__main__ import main
from odradek.broker.facade.threaded import KafkaBroker


def test_it_prints_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaBroker(topics={"orders": 1}) as broker:
        broker.group("g").set_offsets({("orders", 0): 0})
        assert main(["why", "g", "--bootstrap-servers", broker.bootstrap_servers]) == 0
    assert "- group 'g' has no members (Empty): nobody reads for it" in capsys.readouterr().out


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "g", "--bootstrap-servers", "127.0.0.1:1"]) == 2
    assert capsys.readouterr().err.startswith("odradek why: ")
