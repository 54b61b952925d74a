"""Topics to parquet and back."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.client_security.options import security_options
from odradek.pipeline.charts import Bars, TimeBars
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.test_session import produce_transaction


@pytest.mark.kafka(topics={"in": 3})
def test_an_archive_comes_back_as_it_was(
    spark: Any, kafka_broker: odradek.KafkaBroker, kafka_broker_factory: Any, tmp_path: Path
) -> None:
    from odradek.pipeline.jobs.archive import archive, replay

    produce_transaction(kafka_broker, "in", ["dropped"], commit=False)
    producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers, "linger.ms": 5})
    for n in range(2000):
        value = None if n % 100 == 0 else b"\x00" * (n % 50)
        headers: list[tuple[str, str | bytes | None]] = [("h", b"\xff"), ("h", None)] if n % 3 else []
        producer.produce("in", key=b"k%d" % n, value=value, headers=headers, timestamp=1_600_000_000_000 + n)
    assert producer.flush(30) == 0
    folder = str(tmp_path / "archive")
    count = archive(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), folder, ["in"])
    assert count == 2000
    other = kafka_broker_factory()
    results = replay(spark, folder, other.bootstrap_servers, rename={"in": "again"}).collect()
    assert sum(row.records for row in results) == 2000

    def seen(broker: odradek.KafkaBroker, topic: str) -> list[Any]:
        records = broker.records(topic, isolation="read_committed")
        return [(each.partition, each.timestamp, each.key, each.value, each.headers) for each in records]

    assert seen(other, "again") == seen(kafka_broker, "in")


@pytest.mark.kafka(topics=["secret"], security=odradek.Security(users={"bob": "secret"}, authorizer=True))
def test_without_rights_there_is_nothing_to_archive(kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.archive import archive

    kafka_broker.produce("secret", "value")
    security = security_options(kafka_broker.client_config("bob"))
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers, security=security)
    with pytest.raises(ValueError, match="no topic to archive: there is none, or the user may read none"):
        archive(None, place, str(tmp_path))  # type: ignore[arg-type]


@pytest.mark.kafka(topics={"in": 1})
def test_a_folder_that_is_no_archive(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.archive import archive, replay

    empty, other = str(tmp_path / "empty"), str(tmp_path / "other")
    archive(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), empty, ["in"])
    assert replay(spark, empty, kafka_broker.bootstrap_servers).collect() == []
    spark.sql("select 'in' as topic, 0 as partition, 1 as offset").write.parquet(other)
    with pytest.raises(ValueError, match=f"^{other} is no archive: its files have no column timestamp_ms, value$"):
        replay(spark, other, kafka_broker.bootstrap_servers)
    assert list(kafka_broker.records("in")) == []


T = 1_700_000_000_000


def send(broker: odradek.KafkaBroker, partition: int, *values: str, transactional_id: str | None = None) -> Producer:
    """Write to a partition; in a transaction that stays open, if there is an id for it."""
    config: dict[str, Any] = {}
    if transactional_id is not None:  # a slow machine must not reach the time-out of an open transaction
        config = {"transactional.id": transactional_id, "transaction.timeout.ms": 900_000}
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
    from odradek.pipeline.jobs.archive import archive, archived, replay, replayed
    from odradek.pipeline.jobs.report import sections

    send(kafka_broker, 0, "x", "y", transactional_id="aborted").abort_transaction(30)
    send(kafka_broker, 0, "a", "b", "c")
    send(kafka_broker, 0, "d", transactional_id="committed").commit_transaction(30)
    send(kafka_broker, 1, "a", "b")
    unfinished = [send(kafka_broker, each, "o", transactional_id=f"open in {each}") for each in (1, 2)]
    send(kafka_broker, 1, "behind", "it")
    folder, place = str(tmp_path / "archive"), LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    archive(spark, place, folder, ["in"])

    tables = archived(spark, place, folder, ["in"])
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
    assert "open" not in archived(spark, place, folder, read_committed=False)["archived"].columns

    sent = replay(spark, folder, kafka_broker.bootstrap_servers, rename={"in": "again"})
    tables = replayed(spark, folder, sent)
    assert [tuple(row) for row in tables["sent"].collect()] == [
        ("in", 0, 3, 6, "again", 4, 1, 0, moment(0), moment(2)),
        ("in", 1, 0, 1, "again", 2, 1, 0, moment(0), moment(1)),
    ]
    assert [section.chart is not None for section in sections(tables)] == [True, True]
    for producer in unfinished:
        producer.abort_transaction(30)
