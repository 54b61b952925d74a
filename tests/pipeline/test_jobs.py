"""The jobs over what Kafka's coordinators wrote, and over live topics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

import odradek
from odradek.pipeline.jobs.group_timeline import timeline
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.test_session import produce, produce_transaction

_DUMPED = re.compile(r"\| offset: (\d+) \w+: (\d+) .* key: (\{.*\}) payload: (.*)$")


def dumped(folder: Path, topic: str) -> Iterator[tuple[str, int, int, int, Any, Any]]:
    """(record type, log partition, offset, time, key, value or None) as Kafka's dump tool prints them."""
    for path in sorted(folder.glob(f"{topic}-*/log.txt")):
        for line in path.read_text().splitlines():
            if found := _DUMPED.match(line):
                key = json.loads(found[3])
                value = None if found[4] in ("null", "<DELETE>") else json.loads(found[4])["data"]
                partition = int(path.parent.name.rpartition("-")[2])
                yield key["type"], partition, int(found[1]), int(found[2]), key["data"], value


# --- groups -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def group_tables(spark: Any, golden_log_dir: Path) -> dict[str, Any]:
    from odradek.pipeline.jobs import groups

    return groups.run(spark, LogPlace(path=str(golden_log_dir)))


def test_commits_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    found = sorted(
        (row.group_id, row.topic, row.partition, row.committed_offset, row.metadata, row.commit_time_ms)
        for row in group_tables["commits"].collect()
    )
    expected = sorted(
        (key["group"], key["topic"], key["partition"], value["offset"], value["metadata"], value["commitTimestamp"])
        for kind, _, _, _, key, value in dumped(golden_dump, "__consumer_offsets")
        if kind == "1" and value is not None
    )
    assert len(expected) > 30
    assert found == expected


def test_generations_and_members_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    classic = [
        (partition, offset, key["group"], value)
        for kind, partition, offset, _, key, value in dumped(golden_dump, "__consumer_offsets")
        if kind == "2" and value is not None
    ]
    generations = group_tables["generations"].where("protocol_type is not null").collect()
    assert sorted(
        (row.log_partition, row.log_offset, row.group_id, row.generation, row.members) for row in generations
    ) == [
        (partition, offset, group, value["generation"], len(value["members"]))
        for partition, offset, group, value in sorted(classic, key=lambda each: each[:2])
    ]
    members = group_tables["members"].where("client_id is not null").collect()
    assert sorted((row.group_id, row.log_offset, row.member_id, row.client_host) for row in members) == sorted(
        (group, offset, member["memberId"], member["clientHost"])
        for _, offset, group, value in classic
        for member in value["members"]
    )


def test_tombstones_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    expected = sorted(
        (partition, offset)
        for _, partition, offset, _, _, value in dumped(golden_dump, "__consumer_offsets")
        if value is None
    )
    assert expected
    rows = group_tables["tombstones"].collect()
    assert sorted((row.log_partition, row.log_offset) for row in rows) == expected


def test_rebalances_of_kafkas_groups(group_tables: dict[str, Any]) -> None:
    events = group_tables["rebalances"].collect()
    assert {"generation", "joined", "left", "assigned"} <= {row.event for row in events}
    for group in {row.group_id for row in events}:
        mine = sorted((row for row in events if row.group_id == group), key=lambda each: each.log_offset)
        joined: set[str] = set()
        for row in mine:
            if row.event == "joined":
                assert row.member_id not in joined
                joined.add(row.member_id)
            elif row.event == "left":
                joined.remove(row.member_id)


def _classic(offset: int, generation: int, **members: list[str]) -> dict[str, Any]:
    shown = [{"member_id": name, "assignment": parts} for name, parts in members.items()]
    return {
        "kind": "GroupMetadata",
        "tombstone": False,
        "group_id": "g",
        "log_offset": offset,
        "time_ms": offset * 10,
        "generation": generation,
        "members": shown,
    }


def test_a_rebalance_told() -> None:
    rows = [
        _classic(1, 1, a=["t-0", "t-1"]),
        _classic(2, 2, a=["t-0"], b=["t-1"]),
        _classic(3, 3, b=["t-0", "t-1"]),
        {**_classic(4, 3), "tombstone": True},
    ]
    assert [(each.generation, each.event, each.member_id, each.partitions) for each in timeline(rows)] == [
        (1, "generation", None, []),
        (1, "joined", "a", []),
        (1, "assigned", "a", ["t-0", "t-1"]),
        (2, "generation", None, []),
        (2, "revoked", "a", ["t-1"]),
        (2, "joined", "b", []),
        (2, "assigned", "b", ["t-1"]),
        (3, "generation", None, []),
        (3, "left", "a", ["t-0"]),
        (3, "assigned", "b", ["t-0"]),
        (3, "deleted", None, []),
    ]


@pytest.mark.kafka(topics={"in": 1}, config={"group.initial.rebalance.delay.ms": 0})
def test_lag_over_time_from_a_live_broker(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import groups

    consumer = Consumer({"bootstrap.servers": kafka_broker.bootstrap_servers, "group.id": "g"})
    produce(kafka_broker, "in", [str(n) for n in range(10)])
    for committed, further in ((4, 5), (12, 0)):
        kafka_broker.clock.advance(minutes=1)  # records carry the client's time, commits the broker's: later
        consumer.commit(offsets=[TopicPartition("in", 0, committed)], asynchronous=False)
        produce(kafka_broker, "in", [str(n) for n in range(further)])
    consumer.close()
    lag = groups.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers))["lag"]
    rows = lag.orderBy("commit_time_ms").collect()
    # By their timestamps all records are older than the first commit, as the broker's clock is ahead of the producer's.
    assert [(row.committed_offset, row.end_offset, row.lag) for row in rows] == [(4, 15, 11), (12, 15, 3)]


# --- transactions -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transaction_tables(spark: Any, golden_log_dir: Path) -> dict[str, Any]:
    from odradek.pipeline.jobs import transactions

    return transactions.run(spark, LogPlace(path=str(golden_log_dir)))


def test_states_are_those_that_kafka_prints(transaction_tables: dict[str, Any], golden_dump: Path) -> None:
    from odradek.pipeline.jobs.coordinator_rows import TRANSACTION_STATES

    found = sorted(
        (row.log_partition, row.log_offset, row.transactional_id, row.producer_id, row.producer_epoch, row.state)
        for row in transaction_tables["states"].collect()
    )
    assert found == sorted(
        (
            partition,
            offset,
            key["transactionalId"],
            value["producerId"],
            value["producerEpoch"],
            TRANSACTION_STATES[value["transactionStatus"]],
        )
        for _, partition, offset, _, key, value in dumped(golden_dump, "__transaction_state")
    )


def test_every_transaction_has_its_way_and_outcome(transaction_tables: dict[str, Any]) -> None:
    rows = transaction_tables["transactions"].collect()
    assert {row.outcome for row in rows} >= {"commit", "abort"}
    for row in rows:
        states = [each.state for each in row.states]
        if row.outcome == "commit":
            assert states[-2:] == ["PrepareCommit", "CompleteCommit"]
        if row.outcome == "abort":
            assert states[-2:] == ["PrepareAbort", "CompleteAbort"]
        assert row.duration_ms >= 0


def test_markers_and_aborted_records_of_a_topic(transaction_tables: dict[str, Any], golden_dump: Path) -> None:
    text = (golden_dump / "d-txn-0" / "log.txt").read_text()
    markers = re.findall(r"\| offset: (\d+) .* endTxnMarker: (\w+)", text)
    found = transaction_tables["markers"].where("topic = 'd-txn'").orderBy("offset").collect()
    assert [(str(row.offset), row.control.upper()) for row in found] == markers
    indexed = re.findall(
        r"producerId: (\d+),? firstOffset: (\d+),? lastOffset: (\d+)",
        (golden_dump / "d-txn-0" / "txnindex.txt").read_text(),
    )
    assert indexed
    aborted = transaction_tables["aborted"].where("topic = 'd-txn'").collect()
    assert {row.producer_id for row in aborted} == {int(producer) for producer, _, _ in indexed}
    for row in aborted:
        ranges = [(int(first), int(last)) for producer, first, last in indexed if int(producer) == row.producer_id]
        assert any(first <= row.offset <= last for first, last in ranges)


@pytest.mark.kafka(topics={"in": 1})
def test_a_hanging_transaction_is_found(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import transactions

    produce_transaction(kafka_broker, "in", ["done"], commit=True)
    stuck = {"transactional.id": "stuck", "transaction.timeout.ms": 600_000}  # open for as long as Spark may take
    producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers, **stuck})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("in", value="open")
    producer.flush(30)
    tables = transactions.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), ["in"])
    by_id = {row.transactional_id: row for row in tables["hanging"].collect()}
    assert by_id.keys() == {"stuck", None}  # seen by its coordinator, and in the topic
    assert by_id["stuck"].state == "Ongoing"
    assert by_id[None].first_offset == 2
    assert by_id[None].partitions == ["in-0"]
    producer.abort_transaction(30)


# --- audit ------------------------------------------------------------------------------------------------------------


@pytest.mark.kafka(topics={"in": 2, "out": 2})
def test_audit_of_a_pair(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import audit

    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    idempotent = {"enable.idempotence": True}
    produce(kafka_broker, "in", ["a", "b", "c"], **idempotent)
    produce(kafka_broker, "out", ["a", "b", "c"], **idempotent)
    passed = audit.run(spark, place, "in", "out")
    assert passed.lines()[-1] == "passed"
    assert passed.exit_code == 0
    assert passed.counts["in committed"] == passed.counts["out committed"] == 3
    produce(kafka_broker, "in", ["a", "b", "c", "d"], **idempotent)  # k0..k2 twice, k3 new
    failed = audit.run(spark, place, "in", "out")
    assert failed.found == {"missing in output": 1}
    assert "k3" in failed.lines()[-3]
    produce(kafka_broker, "out", ["a", "b", "c", "d", "e"], **idempotent)
    failed = audit.run(spark, place, "in", "out")
    assert failed.found == {"duplicate id": 3, "not in input": 1}
    assert failed.exit_code == 1


def test_audit_of_sequences(spark: Any, tmp_path: Path) -> None:
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
    verdict = audit.run(spark, LogPlace(path=str(tmp_path)), "t", by="header:id", findings_folder=folder)
    expected = [("duplicate id", 12), ("duplicate sequence", 6), ("sequence gap", 4), ("without id", 13)]
    assert sorted((each.check, each.offset) for each in verdict.findings) == expected
    assert verdict.found == {check: 1 for check, _ in expected}
    assert sorted((row.check, row.offset) for row in spark.read.parquet(folder).collect()) == expected


# --- archive and replay -----------------------------------------------------------------------------------------------


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
