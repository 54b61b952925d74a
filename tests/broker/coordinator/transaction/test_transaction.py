"""The record form, held against a `__transaction_state` that Kafka 4.3.1 wrote."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

from odradek.broker.coordinator.transaction.states import RULES, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    Transaction,
    by_topic,
    read_record,
    record_key,
    record_value,
)
from odradek.protocol.record_batch import iter_batches

VECTORS = Path(__file__).parents[3] / "vectors"


def kafka_records() -> list[tuple[bytes, bytes]]:
    """Keys and values in the order of the log, partition after partition."""
    data = gzip.decompress((VECTORS / "transaction_state.log.gz").read_bytes())
    return [
        (bytes(record.key or b""), bytes(record.value or b""))
        for batch in iter_batches(data)
        for record in batch.records()
    ]


def kafka_histories() -> dict[str, list[Transaction]]:
    """What became of each transactional id."""
    histories: dict[str, list[Transaction]] = {}
    for key, value in kafka_records():
        transactional_id, transaction = read_record(key, value)
        assert transaction is not None
        histories.setdefault(transactional_id, []).append(transaction)
    return histories


def test_kafkas_records_are_written_as_kafka_wrote_them() -> None:
    records = kafka_records()
    assert len(records) == 182
    for key, value in records:
        transactional_id, transaction = read_record(key, value)
        assert transaction is not None
        assert record_key(transactional_id) == key
        assert record_value(transaction, 2) == value


def test_kafka_goes_the_ways_of_the_table() -> None:
    ways = {
        (before.state, after.state)
        for history in kafka_histories().values()
        for before, after in itertools.pairwise(history)
    }
    assert len(ways) > 10
    for before, after in ways:
        assert after in RULES[before].transitions, f"{before.label} -> {after.label}"


def test_a_tombstone_has_no_state() -> None:
    assert read_record(record_key("gone"), None) == ("gone", None)


def test_version_0_has_no_tagged_fields() -> None:
    transaction = Transaction("t", 7, 1, 1000, previous_producer_id=6, client_transaction_version=2)
    _, stored = read_record(record_key("t"), record_value(transaction, 0))
    assert stored == Transaction("t", 7, 1, 1000)


def test_an_empty_transaction_stores_null_for_its_partitions() -> None:
    value = record_value(Transaction("t", 1, 0, 1000), 0)
    # version, producer id, epoch, timeout, status, then the length of the partitions: -1
    assert value[2 + 8 + 2 + 4 + 1 :][:4] == b"\xff\xff\xff\xff"


def test_a_completed_transaction_stores_an_empty_list() -> None:
    value = record_value(Transaction("t", 1, 0, 1000, TransactionState.COMPLETE_COMMIT), 0)
    assert value[2 + 8 + 2 + 4 + 1 :][:4] == b"\0\0\0\0"


def test_many_topics_keep_all_partitions() -> None:
    partitions = {(f"topic-{number}", index) for number in range(40) for index in range(3)}
    grouped = by_topic(partitions)
    assert {(topic, index) for topic, indexes in grouped.items() for index in indexes} == partitions
    assert all(indexes == sorted(indexes) for indexes in grouped.values())
