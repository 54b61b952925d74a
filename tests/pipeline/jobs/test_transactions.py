"""Transactions as tables: against what Kafka's dump tool prints, and from a live broker."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.jobs.kafka_dump import dumped
from tests.pipeline.test_session import produce_transaction


@pytest.fixture(scope="module")
def transaction_tables(spark: Any, golden_log_dir: Path) -> dict[str, Any]:
    from odradek.pipeline.jobs import transactions

    return transactions.run(spark, LogPlace(path=str(golden_log_dir)))


def test_states_are_those_that_kafka_prints(transaction_tables: dict[str, Any], golden_dump: Path) -> None:
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
            value["transactionStatus"],
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
        assert [each.time for each in row.states] == sorted(each.time for each in row.states)
        if row.outcome == "open":
            assert (row.end_time, row.duration_ms) == (None, None)
        else:
            assert row.end_time - row.start_time == timedelta(milliseconds=row.duration_ms)
            assert row.end_time == row.states[-1].time


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
    (still,) = tables["transactions"].where("transactional_id = 'stuck'").collect()
    assert (still.outcome, still.end_time, still.duration_ms) == ("open", None, None)
    assert by_id[None].partitions == ["in-0"]
    producer.abort_transaction(30)
