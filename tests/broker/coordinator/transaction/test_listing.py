"""Patterns of transactional ids: RE2, not Python's dialect."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.coordinator.transaction.commands import AddPartitions, InitProducerId
from odradek.broker.coordinator.transaction.listing import compile_id_pattern, coordinated_by, select_transactions
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("app-.*", "app-1", "my-app-1"),
        (".*", "", None),
        ("a|b", "b", "ab"),
        ("[[:alpha:]]+", "abc", "abc1"),
        (r"\Qa.b\E.", "a.bc", "axbc"),
        (r"\d+", "12", "١٢"),
        (r"x\z", "x", "x\n"),
        ("(?i)abc", "ABC", "ABCD"),
        ("(?P<name>a)b", "ab", "a"),
        ("(?<name>a)b", "ab", "a"),
        ("(?:a)b", "ab", "a"),
        (r"a\\Z", "a\\Z", "a"),
        ("a{2,3}?", "aa", "a"),
    ],
)
def test_whole_ids_are_matched(pattern: str, matching: str, other: str | None) -> None:
    compiled = compile_id_pattern(pattern)
    assert compiled.fullmatch(matching)
    assert other is None or not compiled.fullmatch(other)


@pytest.mark.parametrize(
    "pattern",
    [
        "([",
        "a**",
        "*a",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?>a)",
        "a++",
        "(?#x)",
        r"a\Z",
    ],
)
def test_what_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(KafkaError) as caught:
        compile_id_pattern(pattern)
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def begin(broker: BlockingBroker, transactional_id: str, *, partitions: bool = True) -> int:
    """A transaction of that id, begun if it has a partition; its producer id."""

    def ask() -> int:
        transactions = broker.cluster.transactions
        transactions.topic.ensure()
        identity = transactions.ask_now(transactional_id, InitProducerId(transactional_id, 60_000, None))
        assert identity is not None
        if partitions:
            command = AddPartitions(transactional_id, identity.producer_id, identity.producer_epoch, [("t", 0)])
            transactions.ask_now(transactional_id, command)
        return identity.producer_id

    producer_id: int = broker._call(ask)
    return producer_id


def selected(broker: BlockingBroker, **filters: object) -> list[str]:
    """The ids that pass."""

    def look() -> list[str]:
        cluster = broker.cluster
        now_ms = cluster.clock.now_ms()
        found, _ = select_transactions(cluster.transactions, cluster.nodes[1], now_ms=now_ms, **filters)  # type: ignore[arg-type]
        return sorted(transaction.transactional_id for transaction in found)

    ids: list[str] = broker._call(look)
    return ids


def test_filters() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        broker.clock.freeze()
        first = begin(broker, "order-1")
        begin(broker, "order-2", partitions=False)
        broker.clock.advance(10)
        begin(broker, "bill-1")
        assert selected(broker) == ["bill-1", "order-1", "order-2"]
        assert selected(broker, states=["Ongoing"]) == ["bill-1", "order-1"]
        assert selected(broker, states=["Empty", "nonsense"]) == ["order-2"]
        assert selected(broker, producer_ids=[first]) == ["order-1"]
        assert selected(broker, states=["Ongoing"], longer_than_ms=5_000) == ["order-1"]
        assert selected(broker, id_pattern="order-.*") == ["order-1", "order-2"]
        assert selected(broker, id_pattern="order") == []


def test_names_that_are_no_states_are_told() -> None:
    with KafkaBroker() as broker:
        cluster = broker.cluster
        _, unknown = broker._call(
            lambda: select_transactions(cluster.transactions, cluster.nodes[1], now_ms=0, states=["Empty", "x"])
        )
        assert unknown == ["x"]


def test_a_coordinator_that_loads_has_no_answer() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        begin(broker, "tx")
        cluster = broker.cluster

        def look() -> object:
            transactions = cluster.transactions
            transactions.reload(transactions.partition_for("tx"))
            return coordinated_by(transactions, cluster.nodes[1])

        with pytest.raises(KafkaError) as caught:
            broker._call(look)
        assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
