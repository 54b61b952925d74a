"""Transactions of confluent-kafka and what only odradek can do: move the clock, hold a coordinator."""

from __future__ import annotations

import threading

import confluent_kafka
import pytest
from confluent_kafka import KafkaException

from odradek import KafkaBroker
from tests.fakes.brokers import broker_fixture
from tests.scenarios.target import wait_until
from tests.scenarios.test_transactions_python import PATIENCE_S, confluent_producer, read

here = broker_fixture(topics={"t": 2})
"""A broker in this process."""


def open_transaction(broker: KafkaBroker, **extra: object) -> confluent_kafka.Producer:
    """One record in each partition."""
    producer = confluent_producer(broker.bootstrap_servers, "tx", **extra)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce("t", b"%d" % partition, partition=partition)
    producer.flush(PATIENCE_S)
    return producer


def test_a_transaction_times_out_when_the_clock_is_moved(here: KafkaBroker) -> None:
    producer = open_transaction(here, **{"transaction.timeout.ms": 600_000})
    before = here.transactions["tx"]
    assert (before.state, before.partitions) == ("Ongoing", (("t", 0), ("t", 1)))
    here.clock.advance(minutes=11)
    after = here.transactions["tx"]
    assert (after.state, after.partitions, after.age_ms) == ("CompleteAbort", (), None)
    assert after.producer_epoch == before.producer_epoch + 1
    with pytest.raises(KafkaException):
        producer.commit_transaction(PATIENCE_S)
    assert read(here.bootstrap_servers, "t", isolation="read_committed", partitions=2) == []


def test_a_held_commit_is_not_seen_until_it_is_released(here: KafkaBroker) -> None:
    producer = open_transaction(here)
    with here.hold("tx", at="PrepareCommit") as hold:
        producer.commit_transaction(PATIENCE_S)
        assert hold.reached
        held = here.transactions["tx"]
        assert (held.state, held.held_at) == ("PrepareCommit", ("PrepareCommit",))
        assert held.partitions == (("t", 0), ("t", 1))
        assert read(here.bootstrap_servers, "t", isolation="read_committed", partitions=2) == []
    assert here.transactions["tx"].state == "CompleteCommit"
    assert sorted(read(here.bootstrap_servers, "t", isolation="read_committed", partitions=2)) == ["0", "1"]


def test_a_transaction_whose_markers_are_half_written_is_half_visible(here: KafkaBroker) -> None:
    producer = open_transaction(here)
    with here.hold("tx", at="Marker:t-1"):
        producer.commit_transaction(PATIENCE_S)
        assert here.transactions["tx"].partitions == (("t", 1),)
        assert read(here.bootstrap_servers, "t", isolation="read_committed", partitions=2) == ["0"]
        here.reload_coordinator(partition_of_tx(here), "__transaction_state")
        assert here.transactions["tx"].partitions == (("t", 1),)
    assert sorted(read(here.bootstrap_servers, "t", isolation="read_committed", partitions=2)) == ["0", "1"]


def partition_of_tx(broker: KafkaBroker) -> int:
    """The partition of `__transaction_state` with records."""
    infos = broker.all_topics["__transaction_state"].partitions
    return next(info.index for info in infos if info.high_watermark > 0)


def test_the_next_transaction_waits_for_a_held_one(here: KafkaBroker) -> None:
    producer = open_transaction(here)
    hold = here.hold("tx", at="PrepareCommit")
    producer.commit_transaction(PATIENCE_S)
    done = threading.Event()

    def next_transaction() -> None:
        producer.begin_transaction()
        producer.produce("t", b"next", partition=0)
        producer.commit_transaction(PATIENCE_S)
        done.set()

    worker = threading.Thread(target=next_transaction)
    worker.start()
    asked = ("AddPartitionsToTxn", "Produce")
    wait_until("a request that meets it", lambda: here.cluster.recent.lines()[-1].split(" ")[1] in asked)
    assert not done.is_set()
    hold.release()
    worker.join(PATIENCE_S)
    assert done.is_set()
    assert read(here.bootstrap_servers, "t", isolation="read_committed") == ["0", "next"]
