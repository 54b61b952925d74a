"""Transactions that one client writes and another ends."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread

import pytest

import odradek

pytest.importorskip("pyspark")

import numpy as np
from pyspark.sql import Row

from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.record_bytes import Records, records_of
from odradek.pipeline.sink_rows import record_rows
from odradek.pipeline.transaction_writer import TransactionWriter, end_transaction, note_in_transaction, noted


def committed(broker: odradek.KafkaBroker) -> list[bytes]:
    return [record.value or b"" for record in broker.records("out", isolation="read_committed")]


def batch(*values: bytes) -> Records:
    """Records with these values."""
    given = [Row(value=value, timestamp=datetime.fromtimestamp(1, UTC)) for value in values]
    (rows,) = record_rows(iter(given), "out")
    (found,) = records_of(rows, np.arange(len(values)), np.array([0]))
    return found


@pytest.mark.kafka(topics={"out": 2})
def test_another_client_ends_what_one_wrote(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", 0): batch(b"a", b"b")})
        writer.append({("out", 1): batch(b"c"), ("out", 0): batch(b"d")})
        writer.settle()
    assert writer.partitions == [("out", 0), ("out", 1)]
    assert committed(kafka_broker) == []
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        end_transaction(client, writer.transaction, commit=True)
        assert sorted(committed(kafka_broker)) == [b"a", b"b", b"c", b"d"]
        dropped = TransactionWriter(client, "id", 60_000)
        dropped.append({("out", 0): batch(b"e")})
        dropped.abort()
        assert len(committed(kafka_broker)) == 4


@pytest.mark.kafka(topics={"out": 1})
def test_a_later_writer_of_an_id_aborts_what_is_open(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        early = TransactionWriter(client, "id", 60_000)
        early.append({("out", 0): batch(b"early")})
        early.settle()
        late = TransactionWriter(client, "id", 60_000)
        late.append({("out", 0): batch(b"late")})
        late.settle()
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
            writer.append({("out", 0): batch(b"x")})
            writer.settle()
            note_in_transaction(client, writer.transaction, "group", ("out", 0), number)
            end_transaction(client, writer.transaction, commit=commit)
            assert noted(client, "group") == expected


@pytest.mark.kafka(nodes=2, topics={"out": 4})
def test_batches_go_to_several_leaders_at_once(kafka_broker: odradek.KafkaBroker) -> None:
    moved = odradek.Fault("Produce", answer=odradek.ErrorCode.NOT_LEADER_OR_FOLLOWER, node=1, skip=1, times=2)
    kafka_broker.set_faults(moved)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        for number in range(3):
            writer.append({("out", partition): batch(b"%d-%d" % (partition, number)) for partition in range(4)})
        writer.settle()
        end_transaction(client, writer.transaction, commit=True)
    assert moved.hits == 2
    found: dict[int, list[bytes]] = {}
    for record in kafka_broker.records("out", isolation="read_committed"):
        found.setdefault(record.partition, []).append(record.value or b"")
    assert found == {partition: [b"%d-%d" % (partition, number) for number in range(3)] for partition in range(4)}


@pytest.mark.kafka(topics={"out": 1})
def test_an_abort_comes_behind_what_is_under_way(kafka_broker: odradek.KafkaBroker) -> None:
    slow = odradek.Fault("Produce", delay_ms=200, times=1)
    kafka_broker.set_faults(slow)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", 0): batch(b"x")})
        writer.abort()
        ends = [client.offsets({("out", 0): -1}, read_committed=each) for each in (True, False)]
    assert slow.hits == 1
    assert ends == [{("out", 0): 2}] * 2  # the record and the marker
    assert committed(kafka_broker) == []


@pytest.mark.kafka(nodes=2, topics={"out": 4})
def test_after_an_error_of_one_leader_the_transaction_can_be_ended(kafka_broker: odradek.KafkaBroker) -> None:
    refused = odradek.Fault("Produce", answer=odradek.ErrorCode.TOPIC_AUTHORIZATION_FAILED, node=1, times=1)
    kafka_broker.set_faults(refused)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", partition): batch(b"x") for partition in range(4)})
        with pytest.raises(odradek.KafkaError, match="TOPIC_AUTHORIZATION_FAILED: Produce of out-"):
            writer.append({("out", 0): batch(b"y")})
        writer.abort()
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", partition): batch(b"good") for partition in range(4)})
        writer.settle()
        end_transaction(client, writer.transaction, commit=True)
    assert committed(kafka_broker) == [b"good"] * 4


@pytest.mark.kafka(topics={"out": 1})
def test_a_partition_that_is_not_there_is_named_as_the_reason(kafka_broker: odradek.KafkaBroker) -> None:
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        with pytest.raises(odradek.KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: AddPartitionsToTxn of id"):
            writer.append({("out", 0): batch(b"a"), ("out", 7): batch(b"b")})
        assert writer.partitions == []


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


@pytest.mark.kafka(nodes=2, topics={"out": 2})
@pytest.mark.parametrize(
    "lost",
    [
        "FindCoordinator",
        "InitProducerId",
        "AddPartitionsToTxn",
        "Produce",
        "AddOffsetsToTxn",
        "TxnOffsetCommit",
        "EndTxn",
        "OffsetFetch",
    ],
)
def test_a_connection_that_is_lost_costs_nothing(kafka_broker: odradek.KafkaBroker, lost: str) -> None:
    cut = odradek.Fault(lost, cut=True, times=2)
    kafka_broker.set_faults(cut)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", 0): batch(b"a"), ("out", 1): batch(b"b")})
        writer.append({("out", 0): batch(b"c")})
        writer.settle()
        note_in_transaction(client, writer.transaction, "progress", ("out", 0), 7)
        end_transaction(client, writer.transaction, commit=True)
        assert noted(client, "progress") == 7
    assert cut.hits == 2
    assert sorted(committed(kafka_broker)) == [b"a", b"b", b"c"]


@pytest.mark.kafka(topics={"out": 1})
@pytest.mark.parametrize("error", ["NOT_ENOUGH_REPLICAS", "KAFKA_STORAGE_ERROR", "NOT_LEADER_OR_FOLLOWER"])
def test_an_append_is_sent_again_after_errors_that_pass(kafka_broker: odradek.KafkaBroker, error: str) -> None:
    fault = odradek.Fault("Produce", answer=error, times=2)
    kafka_broker.set_faults(fault)
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", 0): batch(b"a")})
        writer.settle()
        end_transaction(client, writer.transaction, commit=True)
    assert fault.hits == 2
    assert committed(kafka_broker) == [b"a"]


@pytest.mark.kafka(topics={"out": 1})
def test_a_batch_that_the_log_has_is_not_written_again(kafka_broker: odradek.KafkaBroker) -> None:
    lost = odradek.Fault("Produce", lose=True, times=1)
    kafka_broker.set_faults(lost)
    with ClusterClient(kafka_broker.bootstrap_servers, patient=True) as client:
        writer = TransactionWriter(client, "id", 60_000)
        writer.append({("out", 0): batch(b"a")})
        sender = Thread(target=writer.settle, daemon=True)
        sender.start()
        lost.wait(timeout=30)
        kafka_broker.kill_node(1)
        kafka_broker.start_node(1)
        sender.join(30)
        end_transaction(client, writer.transaction, commit=True)
    assert committed(kafka_broker) == [b"a"]
