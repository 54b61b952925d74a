"""Sets of tasks."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.member import (
    NOTHING_HELD,
    Endpoint,
    Held,
    Member,
    MemberState,
    Owned,
    endpoints,
    in_map_order,
)
from odradek.broker.coordinator.group.streams.topology import Subtopology, Topology, configure
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group.streams.driver import PLAIN, Topics

HELD = Held({"0": {1: 5}}, {"1": frozenset({2})})


def test_any_of() -> None:
    assert Owned({"0": [1, 9]}, {}, {}).any_of(HELD)
    assert Owned({}, {"1": [2]}, {}).any_of(HELD)
    assert not Owned({"1": [2]}, {"0": [1]}, {"0": [1]}).any_of(HELD)
    assert not Owned({}, {}, {}).any_of(HELD)


def test_all_in() -> None:
    assert Owned({"0": [1]}, {"1": [2]}, {}).all_in(HELD)
    assert Owned({}, {}, {}).all_in(HELD)
    assert not Owned({"0": [1, 2]}, {}, {}).all_in(HELD)
    assert not Owned({}, {"0": [1]}, {}).all_in(HELD)


def test_empty() -> None:
    assert NOTHING_HELD.is_empty
    assert not HELD.is_empty


def test_subtopologies_as_kafka_walks_them() -> None:
    assert in_map_order(["10", "2", "0", "1"]) == ["0", "1", "2", "10"]


def test_a_state_of_a_later_release_is_unknown() -> None:
    assert MemberState(3) is MemberState.UNRELEASED_TASKS
    assert MemberState(99) is MemberState.UNKNOWN


def test_reconciled() -> None:
    assert Member("m", 4).is_reconciled_to(4)
    assert not Member("m", 4).is_reconciled_to(5)
    assert not Member("m", 4, state=MemberState.UNREVOKED_TASKS).is_reconciled_to(4)


WIDE = Topology(0, {"0": Subtopology("0", ("t", "u"))})


def test_source_partitions_of_active_and_standby_tasks() -> None:
    topics = Topics(t=3, u=1)
    configured = configure(WIDE, topics)
    member = Member("m", endpoint=Endpoint("h", 1), assigned=Held({"0": {0: 1, 2: 1}}, {"0": frozenset({1})}))
    (told,) = endpoints([member, Member("n")], configured, topics)
    assert told.endpoint == ("h", 1)
    assert sorted(told.active) == [("t", (0, 2)), ("u", (0,))]
    assert sorted(told.standby) == [("t", (1,)), ("u", (1,))]  # as Kafka: cut only where tasks outnumber partitions


def test_topics_that_do_not_allow_to_say() -> None:
    member = Member("m", endpoint=Endpoint("h", 1), assigned=Held({"0": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(u=1)), Topics(u=1))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(t=1)), Topics(u=1))
    strange = member._replace(assigned=Held({"9": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([strange], configure(PLAIN, Topics(t=1)), Topics(t=1))
