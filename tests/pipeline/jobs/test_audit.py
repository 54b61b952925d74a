"""The audit: lost, repeated and missing records of one topic and of a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.test_session import produce


@pytest.mark.kafka(topics={"in": 2, "out": 2})
def test_audit_of_two_topics_finds_lost_and_doubled_records(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import audit

    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    idempotent = {"enable.idempotence": True}
    produce(kafka_broker, "in", ["a", "b", "c"], **idempotent)
    produce(kafka_broker, "out", ["a", "b", "c"], **idempotent)
    passed = audit.run(spark, place, "in", "out")
    assert passed.lines()[-1] == "passed"
    assert passed.passed
    assert passed.counts["in committed"] == passed.counts["out committed"] == 3
    produce(kafka_broker, "in", ["a", "b", "c", "d"], **idempotent)  # k0..k2 twice, k3 new
    failed = audit.run(spark, place, "in", "out")
    assert failed.found == {"missing in output": 1}
    assert "k3" in failed.lines()[-3]
    produce(kafka_broker, "out", ["a", "b", "c", "d", "e"], **idempotent)
    failed = audit.run(spark, place, "in", "out")
    assert failed.found == {"duplicate id": 3, "not in input": 1}
    assert not failed.passed


def test_audit_of_sequences_finds_gaps_and_repeats(spark: Any, tmp_path: Path) -> None:
    from odradek.pipeline.jobs import audit
    from odradek.protocol.record_batch import build_batch
    from odradek.protocol.records import Record

    def batch(offset: int, sequence: int, count: int = 2, producer: int = 7, epoch: int = 0) -> bytes:
        records = [Record(0, 1000, b"k", b"v", (("id", b"%d" % (offset + n)),)) for n in range(count)]
        return build_batch(
            records, base_offset=offset, producer_id=producer, producer_epoch=epoch, base_sequence=sequence
        )

    log = [batch(0, 2**31 - 2), batch(2, 0), batch(4, 5), batch(6, 5), batch(8, 0, epoch=1), batch(10, 3, producer=8)]
    (tmp_path / "t-0").mkdir()
    # Of no producer: an id that was there before, and a record without one.
    log.append(build_batch([Record(12, 1000, None, None, (("id", b"3"),)), Record(13)], base_offset=12))
    (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(b"".join(log))
    folder = str(tmp_path / "findings")
    verdict = audit.run(spark, LogPlace(path=str(tmp_path)), "t", by="header:id", output=folder)
    expected = [("duplicate id", 12), ("duplicate sequence", 6), ("sequence gap", 4), ("without id", 13)]
    assert sorted((each.check, each.offset) for each in verdict.findings) == expected
    assert verdict.found == {check: 1 for check, _ in expected}
    assert sorted((row.check, row.offset) for row in spark.read.parquet(folder).collect()) == expected
