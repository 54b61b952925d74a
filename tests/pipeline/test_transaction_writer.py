"""Transactions that one client writes and another ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import odradek

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import Row

from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.sink_rows import record_rows
from odradek.pipeline.transaction_writer import TransactionWriter, end_transaction, note_in_transaction, noted


def committed(broker: odradek.KafkaBroker) -> list[bytes]:
    return [record.value or b"" for record in broker.records("out", isolation="read_committed")]


def rows(*values: bytes) -> pa.RecordBatch:
    """Records with these values."""
    given = [Row(value=value, timestamp=datetime.fromtimestamp(1, UTC)) for value in values]
    (batch,) = record_rows(iter(given), "out")
    return batch


@pytest.mark.kafka(topics={"out": 2})
def test_another_client_ends_what_one_wrote(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append(("out", 0), rows(b"a", b"b"))
        writer.append(("out", 1), rows(b"c"))
        writer.append(("out", 0), rows(b"d"))
    assert writer.partitions == [("out", 0), ("out", 1)]
    assert committed(kafka_broker) == []
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        end_transaction(client, writer.transaction, commit=True)
        assert sorted(committed(kafka_broker)) == [b"a", b"b", b"c", b"d"]
        dropped = TransactionWriter(client, "id", 60_000)
        dropped.append(("out", 0), rows(b"e"))
        end_transaction(client, dropped.transaction, commit=False)
        assert len(committed(kafka_broker)) == 4


@pytest.mark.kafka(topics={"out": 1})
def test_a_later_writer_of_an_id_aborts_what_is_open(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        early = TransactionWriter(client, "id", 60_000)
        early.append(("out", 0), rows(b"early"))
        late = TransactionWriter(client, "id", 60_000)
        late.append(("out", 0), rows(b"late"))
        with pytest.raises(odradek.KafkaError, match=r"(_EPOCH|_FENCED): id: its time-out or a later writer"):
            end_transaction(client, early.transaction, commit=True)
        end_transaction(client, late.transaction, commit=True)
    assert committed(kafka_broker) == [b"late"]


@pytest.mark.kafka(topics={"out": 1})
def test_a_number_is_noted_with_the_transaction_or_not_at_all(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        assert noted(client, "group") == 0
        for number, commit, expected in ((7, False, 0), (7, True, 7), (8, False, 7), (8, True, 8)):
            writer = TransactionWriter(client, "id", 60_000)
            writer.append(("out", 0), rows(b"x"))
            note_in_transaction(client, writer.transaction, "group", ("out", 0), number)
            end_transaction(client, writer.transaction, commit=commit)
            assert noted(client, "group") == expected


@pytest.mark.kafka(topics={"out": 1})
def test_a_coordinator_that_is_busy_is_waited_for(kafka_broker: odradek.KafkaBroker) -> None:
    busy = odradek.Fault("InitProducerId", answer=odradek.ErrorCode.CONCURRENT_TRANSACTIONS, times=2)
    moving = odradek.Fault("FindCoordinator", answer=odradek.ErrorCode.COORDINATOR_NOT_AVAILABLE, times=2)
    kafka_broker.set_faults(busy, moving)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        TransactionWriter(client, "id", 60_000)
        assert (busy.hits, moving.hits) == (2, 2)
        code = odradek.ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        kafka_broker.set_faults(odradek.Fault("InitProducerId", answer=code))
        with pytest.raises(odradek.KafkaError, match="TRANSACTIONAL_ID_AUTHORIZATION_FAILED: InitProducerId of id"):
            TransactionWriter(client, "id", 60_000)
