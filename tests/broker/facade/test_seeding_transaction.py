"""Transactions that a test writes records in without a client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.controller.commands import FeatureUpdate, UpdateFeatures
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"t": 3}) as started:
        yield started
        assert started.bugs == []


def values(broker: KafkaBroker, isolation: Any = "read_committed") -> list[bytes | None]:
    return [record.value for record in broker.records("t", isolation=isolation)]


def test_a_transaction_is_committed_aborted_or_left_open(broker: KafkaBroker) -> None:
    broker.produce_all("t", ["a", "b", "c", "d"], transactional_id="tx")
    assert sorted(values(broker)) == [b"a", b"b", b"c", b"d"]  # type: ignore[type-var]
    assert broker.transactions["tx"].state == "CompleteCommit"
    assert [r.control for r in broker.records("t", control=True) if r.control] == ["commit"] * 3

    broker.produce("t", "gone", partition=0, transactional_id="tx", transaction="abort")
    assert broker.transactions["tx"].state == "CompleteAbort"
    assert b"gone" not in values(broker)

    broker.produce("t", "pending", partition=0, transactional_id="tx", transaction="open")
    assert broker.transactions["tx"].state == "Ongoing"
    assert broker.transactions["tx"].partitions == (("t", 0),)
    assert b"pending" in values(broker, "read_uncommitted")
    assert b"pending" not in values(broker)

    broker.produce("t", "next", partition=0, transactional_id="tx")
    assert values(broker).count(b"next") == 1
    assert b"pending" not in values(broker)
    assert broker.transactions["tx"].state == "CompleteCommit"


def test_an_open_transaction_ends_at_its_timeout(broker: KafkaBroker) -> None:
    broker.produce("t", "pending", partition=0, transactional_id="tx", transaction="open")
    broker.produce("t", "behind", partition=0)
    assert values(broker) == []
    broker.clock.advance(minutes=2)
    assert [r.value for r in broker.wait_records("t", 1, isolation="read_committed")] == [b"behind"]


def test_a_failure_half_way_aborts_the_transaction(broker: KafkaBroker) -> None:
    def records() -> Iterator[Any]:
        yield from ("v" for _ in range(1500))
        yield 5

    with pytest.raises(TypeError, match="not 5"):
        broker.produce_all("t", records(), transactional_id="tx")
    assert broker.transactions["tx"].state == "CompleteAbort"
    assert values(broker) == []


def test_a_held_transaction_is_not_waited_for_forever(broker: KafkaBroker) -> None:
    with broker.hold("tx", at="PrepareCommit"):
        broker.produce("t", "v", transactional_id="tx")
        assert broker.transactions["tx"].state == "PrepareCommit"
        with pytest.raises(KafkaError, match="'tx' has not ended") as caught:
            broker.produce("t", "v", transactional_id="tx")
        assert caught.value.code is ErrorCode.CONCURRENT_TRANSACTIONS
    assert values(broker) == [b"v"]


def test_before_kip_890_a_transaction_keeps_its_epoch(broker: KafkaBroker) -> None:
    update = UpdateFeatures([FeatureUpdate("transaction.version", 0, upgrade_type=2)])
    broker._call(lambda: broker.cluster.controller.ask(update))
    broker.produce("t", "v", transactional_id="tx")
    broker.produce("t", "gone", transactional_id="tx", transaction="abort")
    assert values(broker) == [b"v"]
    epochs = [record.producer_epoch for record in broker.records("t", control=True)]
    assert sorted(epochs) == [0, 0, 1, 1]  # a marker has the epoch of its records; the second producer has the next
