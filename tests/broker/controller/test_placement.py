"""Placement of replicas on nodes and racks."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.controller.placement import check_replicas, spread
from odradek.broker.metadata.registrations import BrokerRegistration
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.examples import examples


def nodes(*racks: str | None) -> list[BrokerRegistration]:
    return [BrokerRegistration(number, 0, b"", (), {}, rack, False, False, ()) for number, rack in enumerate(racks, 1)]


def test_leaders_go_round_and_followers_move_on() -> None:
    assert spread(nodes(None, None, None), 6, 2, 0) == [[1, 2], [2, 3], [3, 1], [1, 3], [2, 1], [3, 2]]


def test_the_next_topic_goes_on_where_the_last_one_stopped() -> None:
    assert spread(nodes(None, None, None), 2, 1, 4) == [[2], [3]]


def test_replicas_are_spread_over_racks() -> None:
    placed = spread(nodes("a", "a", "b", "b"), 8, 2, 0)
    rack = {1: "a", 2: "a", 3: "b", 4: "b"}
    assert all({rack[node] for node in replicas} == {"a", "b"} for replicas in placed)
    assert Counter(replicas[0] for replicas in placed) == {1: 2, 2: 2, 3: 2, 4: 2}


def test_nodes_that_are_down_lead_nothing() -> None:
    cluster = nodes(None, None, None)
    cluster[1] = cluster[1]._replace(fenced=True)
    placed = spread(cluster, 4, 3, 0)
    assert [replicas[0] for replicas in placed] == [1, 3, 1, 3]
    assert all(replicas[-1] == 2 for replicas in placed)


def test_too_few_nodes() -> None:
    with pytest.raises(KafkaError) as refused:
        spread(nodes(None), 1, 3, 0)
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert refused.value.message == (
        "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because "
        "only 1 broker(s) are registered or some brokers have all their log directories cordoned."
    )


def test_no_node_is_up() -> None:
    cluster = nodes(None)
    cluster[0] = cluster[0]._replace(fenced=True)
    with pytest.raises(KafkaError) as refused:
        spread(cluster, 1, 1, 0)
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


@given(
    racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=7),
    partitions=st.integers(1, 20),
    start=st.integers(0, 50),
    data=st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_every_partition_gets_distinct_nodes_and_leaders_are_even(
    racks: list[str | None], partitions: int, start: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(racks)))
    placed = spread(nodes(*racks), partitions, factor, start)
    assert len(placed) == partitions
    assert all(len(replicas) == factor == len(set(replicas)) for replicas in placed)
    leaders = Counter(replicas[0] for replicas in placed)
    assert max(leaders.values()) - min(leaders.get(number, 0) for number in range(1, len(racks) + 1)) <= 1


@pytest.mark.parametrize(
    ("replicas", "factor", "why"),
    [
        ([], None, "The manual partition assignment includes an empty replica list."),
        ([1, 1], None, "The manual partition assignment includes the broker 1 more than once."),
        ([9], None, "The manual partition assignment includes broker 9, but no such broker is registered."),
        (
            [1],
            2,
            "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent with "
            "previous partitions, which have 2 replica(s).",
        ),
    ],
)
def test_replicas_given_by_hand(replicas: list[int], factor: int | None, why: str) -> None:
    known = {node.id: node for node in nodes(None, None)}
    with pytest.raises(KafkaError) as refused:
        check_replicas(known, replicas, factor)
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.message == why
    check_replicas(known, [2, 1], 2)
