"""Topologies as values."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.topology import (
    PROCESSOR,
    SINK,
    SOURCE,
    ConfiguredTopology,
    TopicStatus,
    Topology,
    as_shown,
    configure,
    sources_of,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_describe as d
from odradek.protocol.generated.messages import streams_group_topology_description_update as u
from odradek.protocol.generated.stored.streams_group_topology import Subtopology, TopicConfig, TopicInfo
from tests.broker.coordinator.group.streams.driver import Topics

FIRST = Subtopology("0", ["t"], repartition_sink_topics=["r"])
SECOND = Subtopology("1", repartition_source_topics=[TopicInfo("r")], state_changelog_topics=[TopicInfo("s")])


def test_the_order_of_declaration_does_not_count() -> None:
    assert Topology(1, {"0": FIRST, "1": SECOND}) == Topology(1, {"1": SECOND, "0": FIRST})
    assert Topology(1, {"0": FIRST}) != Topology(2, {"0": FIRST})


def test_a_topology_names_its_topics() -> None:
    topology = Topology(1, {"0": FIRST, "1": SECOND})
    assert sorted(topology.required_topics()) == ["r", "s", "t"]
    assert topology.readers() == {"t": "0", "r": "1"}
    assert sources_of(SECOND) == ["r"]
    assert [each.subtopology_id for each in topology.in_map_order()] == ["0", "1"]


def test_a_topology_with_more_than_a_hundred_thousand_tasks_is_refused() -> None:
    def of(count: int) -> Topology:
        return Topology(1, {str(number): Subtopology(str(number), ["t"]) for number in range(count)})

    assert configure(of(10), Topics(t=10_000)).is_ready
    with pytest.raises(
        KafkaError, match=r"The topology has 110000 tasks, and odradek assigns at most 100000\.$"
    ) as refused:
        configure(of(11), Topics(t=10_000))
    assert refused.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY


def status(configured: ConfiguredTopology) -> tuple[TopicStatus, str]:
    assert configured.problem is not None
    assert not configured.is_ready
    return configured.problem


@pytest.mark.parametrize(
    "changelogs",
    [
        [TopicInfo("a"), TopicInfo("a")],
        [TopicInfo("no name")],
        [TopicInfo("a", topic_configs=[TopicConfig("k", "1"), TopicConfig("k", "2")])],
        [TopicInfo("a", partitions=-1)],
    ],
)
def test_what_kafka_does_not_explain(changelogs: list[TopicInfo]) -> None:
    with pytest.raises(KafkaError) as error:
        configure(Topology(0, {"0": Subtopology("0", ["t"], state_changelog_topics=changelogs)}), Topics(t=1))
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_missing_topics_in_the_order_in_which_kafka_names_them() -> None:
    """Seen on a real Kafka 4.3.1."""
    names = ("e466-changelog", "g149-changelog", "f846-changelog")
    for declared in (names, tuple(reversed(names))):
        changelogs = [TopicInfo(name) for name in declared]
        configured = configure(
            Topology(0, {"0": Subtopology("0", ["t"], state_changelog_topics=changelogs)}), Topics(t=4)
        )
        assert status(configured)[1] == ("Internal topics are missing: f846-changelog, e466-changelog, g149-changelog")


def node(kind: int) -> u.TopologyDescriptionNode:
    return u.TopologyDescriptionNode("n", kind, ["t", "t", "a"], "s", ["st", "st"], ["y", "x", "y"])


def store(source: int, processor: int) -> u.TopologyDescription:
    return u.TopologyDescription([], [u.TopologyDescriptionGlobalStore(node(source), node(processor))])


def subtopology(*nodes: u.TopologyDescriptionNode) -> u.TopologyDescription:
    return u.TopologyDescription([u.TopologyDescriptionSubtopology("0", list(nodes))], [])


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (SOURCE, d.TopologyDescriptionNode("n", SOURCE, ["t", "a"], None, [], ["y", "x"])),
        (PROCESSOR, d.TopologyDescriptionNode("n", PROCESSOR, [], None, ["st"], ["y", "x"])),
        (SINK, d.TopologyDescriptionNode("n", SINK, [], "s", [], ["y", "x"])),
    ],
)
def test_topology_description_shows_the_fields_of_a_nodes_kind(kind: int, shown: d.TopologyDescriptionNode) -> None:
    (described,) = as_shown(subtopology(node(kind))).subtopologies
    assert (described.subtopology_id, described.nodes) == ("0", [shown])


@pytest.mark.parametrize(
    ("description", "why"),
    [
        (subtopology(node(SOURCE), node(0)), "Unknown topology node type: 0"),
        (store(SOURCE, 4), "Unknown topology node type: 4"),
        (store(PROCESSOR, SOURCE), "Global store must be composed of a source and a processor node."),
    ],
)
def test_topology_description_with_unknown_kinds_is_refused(description: u.TopologyDescription, why: str) -> None:
    with pytest.raises(KafkaError) as refused:
        as_shown(description)
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_REQUEST, why)
