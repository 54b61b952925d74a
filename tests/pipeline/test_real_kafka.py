"""The data source and the jobs, unchanged, on a real Kafka and on the log directory that it writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from odradek.pipeline.jobs.logs import LogPlace
from tests.conformance.real_kafka import RealKafka, Unavailable

pytestmark = [pytest.mark.conformance, pytest.mark.jdk]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TOPICS = {"codecs": 2, "txn": 1, "main_topic": 2, "retry_1s_topic": 2, "retry_2s_topic": 2, "failed_topic": 1}


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    try:
        with RealKafka() as node:
            servers = node.bootstrap_servers
            topics = [NewTopic(name, count, 1) for name, count in TOPICS.items()]
            admin = AdminClient({"bootstrap.servers": servers})
            for future in admin.create_topics(topics).values():
                future.result(30)
            fill(servers)
            yield node
    except Unavailable as missing:
        pytest.skip(str(missing))


def fill(servers: str) -> None:
    for codec in CODECS:
        producer = Producer({"bootstrap.servers": servers, "compression.type": codec, "enable.idempotence": True})
        for number in range(50):
            headers: list[tuple[str, str | bytes | None]] = [("h", b"\xff"), ("h", None)] if number % 2 else []
            value = None if number % 10 == 0 else b"%d " % number * number
            producer.produce("codecs", value, f"{codec} {number}", headers=headers)
        assert producer.flush(30) == 0
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "t"})
    producer.init_transactions(30)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g"})
    for number in range(4):
        producer.begin_transaction()
        for each in range(3):
            producer.produce("txn", f"{number} {each}", f"{number} {each}")
        assert producer.flush(30) == 0  # an abort drops what has not been sent
        offsets = [TopicPartition("codecs", 0, 10 * number)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 30)
        producer.abort_transaction(30) if number % 2 else producer.commit_transaction(30)
    consumer.close()
    # Kafka answers before the markers are written, and the id's next producer when they are.
    Producer({"bootstrap.servers": servers, "transactional.id": "t"}).init_transactions(30)


def places(kafka: RealKafka) -> list[LogPlace]:
    return [LogPlace(bootstrap_servers=kafka.bootstrap_servers), LogPlace(path=str(kafka.log_dir))]


def test_broker_log_directory_and_connector_show_the_same_records(spark: Any, kafka: RealKafka) -> None:
    live, files = (
        sorted(
            place.read(spark, ["codecs", "txn"], includeControl="true").drop("headers").collect(),
            key=lambda row: row[:3],
        )
        for place in places(kafka)
    )
    assert live == files
    assert {row.codec for row in live} == set(CODECS)
    assert len(live) == 250 + 12 + 4
    servers = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "kafka.isolation.level": "read_committed"}
    connector = spark.read.format("kafka").options(**servers, includeHeaders="true").option("subscribe", "codecs,txn")
    columns = ["topic", "partition", "offset", "timestamp", "key", "value", "headers"]
    expected = sorted(connector.load().select(*columns).collect(), key=lambda row: row[:3])
    for place in places(kafka):
        ours = place.read(spark, ["codecs", "txn"], columns=columns, isolation="read_committed")
        found = sorted(ours.collect(), key=lambda row: row[:3])
        assert [row[:6] for row in found] == [row[:6] for row in expected]
        # The connector shows null where a record has no headers.
        assert [row.headers or None for row in found] == [row.headers for row in expected]


def test_pipeline_jobs_read_a_real_kafkas_log(spark: Any, kafka: RealKafka) -> None:
    from odradek.pipeline.jobs import audit, groups, transactions

    for place in places(kafka):
        tables = groups.run(spark, place)
        commits = tables["commits"].where("group_id = 'g'").orderBy("log_offset").collect()
        assert [(row.topic, row.committed_offset) for row in commits] == [("codecs", 10 * n) for n in range(4)]
        found = transactions.run(spark, place, ["txn"])
        outcomes = found["transactions"].where("transactional_id = 't'").orderBy("start_time").collect()
        assert [row.outcome for row in outcomes] == ["commit", "abort"] * 2
        assert all("txn-0" in row.partitions for row in outcomes)
        assert sorted(row.offset for row in found["aborted"].collect()) == [4, 5, 6, 12, 13, 14]
        assert not found["hanging"].collect()
        verdict = audit.run(spark, place, "txn", by="key")
        assert (verdict.lines()[-1], verdict.passed) == ("passed", True)
        assert verdict.counts == {"txn records": 12, "txn committed": 6}


def test_an_archive_comes_back_as_it_was(spark: Any, kafka: RealKafka, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.archive import archive, replay

    live = places(kafka)[0]
    assert archive(spark, live, str(tmp_path / "archive"), ["codecs"]) == 250
    results = replay(spark, str(tmp_path / "archive"), kafka.bootstrap_servers, rename={"codecs": "again"}).collect()
    assert sum(row.records for row in results) == 250
    columns = ["partition", "offset", "timestamp", "key", "value", "headers"]
    before, after = (
        sorted(live.read(spark, [topic], columns=columns).collect(), key=lambda row: row[:2])
        for topic in ("codecs", "again")
    )
    assert after == before


def fail(message: Any) -> None:
    if message.value == b"bad":
        raise ValueError(f"attempt {message.retry_number}")


def test_a_journey_through_the_retry_topics(spark: Any, kafka: RealKafka, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.retry import RetryJob
    from odradek.pipeline.jobs.retry_policy import RetryPolicy

    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for value in ("good", "bad"):
        producer.produce("main_topic", value, "key", headers=[("mine", b"1")])
    assert producer.flush(30) == 0
    policy = RetryPolicy(delays=("1s", "2s"))
    job = RetryJob(kafka.bootstrap_servers, str(tmp_path), fail, policy=policy, poll_interval="200 milliseconds")
    query = job.start(spark)
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "f", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["failed_topic"])
    message = consumer.poll(180)
    consumer.close()
    query.stop()
    assert query.exception() is None
    assert message is not None
    assert (message.key(), message.value()) == (b"key", b"bad")
    headers = dict(message.headers() or [])
    assert (headers["mine"], headers["retry_number"], headers["retry_error"]) == (b"1", b"2", b"ValueError: attempt 2")
    place, committed = LogPlace(path=str(kafka.log_dir)), {"isolation": "read_committed"}
    rows = place.read(spark, policy.output_topics, columns=["topic", "value"], **committed).collect()
    assert sorted((row.topic, bytes(row.value)) for row in rows) == [
        ("failed_topic", b"bad"),
        ("retry_1s_topic", b"bad"),
        ("retry_2s_topic", b"bad"),
    ]
