"""Transactions as tests in Python see them."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.coordinator.transaction.transaction import (
    AddPartitions,
    EndTransaction,
    InitProducerId,
    ProducerIdentity,
)
from tests.fakes.brokers import broker_fixture

broker = broker_fixture(frozen=True, topics={"t": 2})


def begin(broker: KafkaBroker, transactional_id: str) -> ProducerIdentity:
    def ask() -> ProducerIdentity:
        transactions = broker.cluster.transactions
        transactions.topic.ensure()
        identity = transactions.ask_now(transactional_id, InitProducerId(transactional_id, 60_000, None))
        assert identity is not None
        transactions.ask_now(transactional_id, AddPartitions(transactional_id, *identity, [("t", 1), ("t", 0)]))
        return identity

    identity: ProducerIdentity = broker._call(ask)
    return identity


def end(broker: KafkaBroker, transactional_id: str, identity: ProducerIdentity) -> None:
    command = EndTransaction(transactional_id, *identity, True, 0)
    broker._call(lambda: broker.cluster.transactions.ask_now(transactional_id, command))


def test_transactions_tell_of_an_open_transaction(broker: KafkaBroker) -> None:
    identity = begin(broker, "tx")
    broker.clock.advance(3)
    info = broker.transactions["tx"]
    assert (info.state, info.producer_id, info.producer_epoch) == ("Ongoing", *identity)
    assert info.partitions == (("t", 0), ("t", 1))
    assert (info.timeout_ms, info.age_ms, info.coordinator_id, info.held_at) == (60_000, 3_000, 1, ())


def test_an_ended_transaction_has_no_age(broker: KafkaBroker) -> None:
    end(broker, "tx", begin(broker, "tx"))
    info = broker.transactions["tx"]
    assert (info.state, info.age_ms, info.partitions) == ("CompleteCommit", None, ())


def test_a_held_transaction_tells_where_it_stands(broker: KafkaBroker) -> None:
    identity = begin(broker, "tx")
    with broker.hold("tx", at="Marker:t-1"):
        end(broker, "tx", identity)
        info = broker.transactions["tx"]
        assert (info.state, info.partitions, info.held_at) == ("PrepareCommit", (("t", 1),), ("Marker:t-1",))
    assert broker.transactions["tx"].state == "CompleteCommit"


def test_transactions_come_in_the_order_of_their_ids(broker: KafkaBroker) -> None:
    for transactional_id in ("b", "a", "c"):
        begin(broker, transactional_id)
    assert list(broker.transactions) == ["a", "b", "c"]


def test_hold_at_an_unknown_point_is_refused_by_the_broker(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="PrepareCommit"):
        broker.hold("t", at="Nowhere")


def test_a_hold_that_is_not_reached_says_so(broker: KafkaBroker) -> None:
    with broker.hold("tx", at="PrepareCommit") as held:
        assert not held.reached
        with pytest.raises(TimeoutError, match="transaction 'tx' not at PrepareCommit after 0 s"):
            held.wait(timeout=0)
    held.release()
