"""What the log tells of records of share groups."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from odradek.broker.partitions.share.states import ACCEPT, REJECT, AcknowledgementBatch
from tests.broker.partitions.share.test_live import KEY, Bench

LOGGER = "odradek.broker.partitions.share"


def _bench() -> Bench:
    bench = Bench()
    bench.partition.topic, bench.partition.index = SimpleNamespace(name="jobs"), 0
    return bench


def test_locks_that_run_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    bench = _bench()
    bench.clock.freeze()
    bench.fetch("a")
    bench.clock.advance(1)
    bench.shares.expire_due()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == "group g: member a said nothing of records 0 to 4 of jobs-0 before its lock ran out (delivery 1)"


def test_records_that_nobody_gets_any_more(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    bench = _bench()
    bench.fetch("a")
    types = [ACCEPT, ACCEPT, REJECT, REJECT, ACCEPT]
    bench.shares.acknowledge(KEY, "a", [AcknowledgementBatch(0, 4, types)])
    assert [record.getMessage() for record in caplog.records] == [
        "group g: records 2 to 3 of jobs-0 are archived after delivery 1"
    ]


def test_nothing_while_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    bench = Bench()  # its partition has no name: nobody asks for it
    bench.fetch("a")
    bench.shares.acknowledge(KEY, "a", [AcknowledgementBatch(0, 4, [REJECT])])
    assert caplog.records == []
