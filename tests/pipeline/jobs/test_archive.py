"""Topics to parquet and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.client_security.options import security_options
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
