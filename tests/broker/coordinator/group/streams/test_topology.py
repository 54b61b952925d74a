"""Topologies as values."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology

FIRST = Subtopology("0", ("t",), repartition_sinks=("r",))
SECOND = Subtopology("1", repartition_sources=(TopicInfo("r"),), changelogs=(TopicInfo("s"),))


def test_the_order_of_declaration_does_not_count() -> None:
    assert Topology(1, {"0": FIRST, "1": SECOND}) == Topology(1, {"1": SECOND, "0": FIRST})
    assert Topology(1, {"0": FIRST}) != Topology(2, {"0": FIRST})


def test_topics() -> None:
    topology = Topology(1, {"0": FIRST, "1": SECOND})
    assert sorted(topology.required_topics()) == ["r", "s", "t"]
    assert topology.readers() == {"t": "0", "r": "1"}
    assert SECOND.sources == ("r",)
    assert [each.subtopology_id for each in topology.in_map_order()] == ["0", "1"]
