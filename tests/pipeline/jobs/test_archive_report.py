"""What an archive holds, what is not in it, and what a replay sent."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.pipeline.charts import Bars, TimeBars
from odradek.pipeline.jobs.logs import LogPlace

T = 1_700_000_000_000


def send(broker: odradek.KafkaBroker, partition: int, *values: str, transactional_id: str | None = None) -> Producer:
    """Write to a partition; in a transaction that stays open, if there is an id for it."""
    config = {} if transactional_id is None else {"transactional.id": transactional_id}
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **config})
    if transactional_id is not None:
        producer.init_transactions(30)
        producer.begin_transaction()
    for number, value in enumerate(values):
        producer.produce("in", value=value, partition=partition, timestamp=T + 1000 * number)
    assert producer.flush(30) == 0
    return producer


def moment(seconds: int) -> datetime.datetime:
    """As pyspark gives it: in the machine's time zone."""
    return datetime.datetime.fromtimestamp(T / 1000 + seconds)  # noqa: DTZ006


@pytest.mark.kafka(topics={"in": 3})
def test_what_is_archived_left_out_and_replayed(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    from odradek.pipeline.jobs import archive_report
    from odradek.pipeline.jobs.archive import archive, replay
    from odradek.pipeline.jobs.report import sections

    send(kafka_broker, 0, "x", "y", transactional_id="aborted").abort_transaction(30)
    send(kafka_broker, 0, "a", "b", "c")
    send(kafka_broker, 0, "d", transactional_id="committed").commit_transaction(30)
    send(kafka_broker, 1, "a", "b")
    unfinished = [send(kafka_broker, each, "o", transactional_id=f"open in {each}") for each in (1, 2)]
    send(kafka_broker, 1, "behind", "it")
    folder, place = str(tmp_path / "archive"), LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    archive(spark, place, folder, ["in"])

    tables = archive_report.archived(spark, place, folder, ["in"])
    rows = {row.partition: row for row in tables["archived"].collect()}
    counts = {each: (row.records, row.aborted, row.open, row.later) for each, row in rows.items()}
    assert counts == {0: (4, 2, 0, 0), 1: (2, 0, 1, 2), 2: (0, 0, 1, 0)}
    ends = {each: (row.first_offset, row.last_offset, row.first_time, row.last_time) for each, row in rows.items()}
    assert ends == {
        0: (3, 6, moment(0), moment(2)),  # two aborted records and their marker are before them
        1: (0, 1, moment(0), moment(1)),
        2: (None, None, None, None),
    }
    sizes = {
        each: sum(file.stat().st_size for file in Path(folder).glob(f"topic=in/partition={each}/*.parquet"))
        for each in (0, 1)
    }
    assert {each: row.bytes for each, row in rows.items()} == {**sizes, 2: None}
    bars, spans = (section.chart for section in sections(tables))
    assert isinstance(bars, Bars)
    assert bars.series == {"bytes": (["in"], [float(sum(sizes.values()))])}
    assert isinstance(spans, TimeBars)
    assert spans.series["in"][1] == [3.0, 2.0, 1.0]  # by second
    assert "open" not in archive_report.archived(spark, place, folder, read_committed=False)["archived"].columns

    sent = replay(spark, folder, kafka_broker.bootstrap_servers, rename={"in": "again"})
    tables = archive_report.replayed(spark, folder, sent)
    assert [tuple(row) for row in tables["sent"].collect()] == [
        ("in", 0, 3, 6, "again", 4, 1, 0, moment(0), moment(2)),
        ("in", 1, 0, 1, "again", 2, 1, 0, moment(0), moment(1)),
    ]
    assert [section.chart is not None for section in sections(tables)] == [True, True]
    for producer in unfinished:
        producer.abort_transaction(30)
