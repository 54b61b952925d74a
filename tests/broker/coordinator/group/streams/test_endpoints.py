"""What is told of members with an end point."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.configured import configure
from odradek.broker.coordinator.group.streams.endpoints import endpoints
from odradek.broker.coordinator.group.streams.member import Endpoint, Member
from odradek.broker.coordinator.group.streams.tasks import Held
from odradek.broker.coordinator.group.streams.topology import Subtopology, Topology
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group.streams.driver import PLAIN, Topics

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
