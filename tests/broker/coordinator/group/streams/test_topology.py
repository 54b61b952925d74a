"""Topologies as values."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.topology import (
    PROCESSOR,
    SINK,
    SOURCE,
    ConfiguredTopology,
    PartitionCounts,
    TopicProblem,
    TopicStatus,
    Topology,
    as_shown,
    configure,
    internal_error,
    listed,
    sources_of,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_describe as d
from odradek.protocol.generated.messages import streams_group_topology_description_update as u
from odradek.protocol.generated.stored.streams_group_topology import (
    CopartitionGroup,
    Subtopology,
    TopicConfig,
    TopicInfo,
)
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, Topics

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


def test_topology_problems_list_three_topics_at_most() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"], "additional topics") == "a, b, c and 2 additional topics"


def test_a_topology_with_more_than_a_hundred_thousand_tasks_is_refused() -> None:
    def of(count: int) -> Topology:
        return Topology(1, {str(number): Subtopology(str(number), ["t"]) for number in range(count)})

    assert configure(of(10), Topics(t=10_000)).is_ready
    with pytest.raises(
        KafkaError, match=r"The topology has 110000 tasks, and odradek assigns at most 100000\.$"
    ) as refused:
        configure(of(11), Topics(t=10_000))
    assert refused.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY


def test_a_problem_is_a_status() -> None:
    problem = TopicProblem(TopicStatus.MISSING_SOURCE_TOPICS, "why")
    assert problem.status == (1, "why")
    assert str(problem) == "why"


def test_statuses_that_kafka_does_not_explain() -> None:
    assert internal_error().code is ErrorCode.UNKNOWN_SERVER_ERROR


def counts(*subtopologies: Subtopology, **existing: int) -> PartitionCounts:
    return PartitionCounts(Topology(0, {each.subtopology_id: each for each in subtopologies}), existing.get)


def test_repartition_topics_follow_the_widest_source_through_a_chain() -> None:
    first = Subtopology("0", ["a", "b"], repartition_sink_topics=["x"])
    second = Subtopology("1", repartition_source_topics=[TopicInfo("x")], repartition_sink_topics=["y"])
    third = Subtopology("2", repartition_source_topics=[TopicInfo("y")], state_changelog_topics=[TopicInfo("s")])
    made = counts(third, second, first, a=2, b=6)
    assert made.decided == {"x": 6, "y": 6, "s": 6}
    assert made.tasks_of(third) == 6


def test_repartition_topics_keep_fixed_partition_counts() -> None:
    first = Subtopology("0", ["a"], repartition_sink_topics=["x"])
    second = Subtopology("1", repartition_source_topics=[TopicInfo("x", 3)], state_changelog_topics=[TopicInfo("s")])
    assert counts(first, second, a=7).decided == {"x": 3, "s": 3}


def test_joined_topics_are_evened_out() -> None:
    first = Subtopology("0", ["a"], repartition_sink_topics=["x"])
    joined = [CopartitionGroup([0], [], [0])]
    second = Subtopology("1", ["b"], repartition_source_topics=[TopicInfo("x")], copartition_groups=joined)
    assert counts(first, second, a=7, b=2).decided == {"x": 2}
    both = [CopartitionGroup([], [], [0, 1])]
    widest = Subtopology("2", repartition_source_topics=[TopicInfo("x"), TopicInfo("z")], copartition_groups=both)
    other = Subtopology("3", ["c"], repartition_sink_topics=["z"])
    assert counts(first, widest, other, a=4, c=9).decided == {"x": 9, "z": 9}


def test_copartitioned_sources_with_different_counts_are_refused() -> None:
    joined = [CopartitionGroup([0, 1])]
    with pytest.raises(TopicProblem) as problem:
        counts(Subtopology("0", ["a", "b"], copartition_groups=joined), a=1, b=2)
    text = "Following topics do not have the same number of partitions: [{a=1, b=2}]"
    assert problem.value.status == (TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)


def test_a_fixed_count_that_does_not_fit() -> None:
    first = Subtopology("0", ["a"], repartition_sink_topics=["x"])
    joined = [CopartitionGroup([0], [], [0])]
    second = Subtopology("1", ["b"], repartition_source_topics=[TopicInfo("x", 3)], copartition_groups=joined)
    text = r"Number of partitions \[3\] of repartition topic \[x\] doesn't match number of partitions \[2\]"
    with pytest.raises(TopicProblem, match=text):
        counts(first, second, a=7, b=2)


LOOP = (
    Subtopology("0", repartition_source_topics=[TopicInfo("x")], repartition_sink_topics=["y"]),
    Subtopology("1", repartition_source_topics=[TopicInfo("y")], repartition_sink_topics=["x"]),
)


@pytest.mark.parametrize(
    ("subtopologies", "text"),
    [
        (LOOP, "There may be loops in the topology that cannot be resolved."),
        ((Subtopology("0", ["a"], repartition_source_topics=[TopicInfo("x")]),), "is never used as a sink topic."),
        ((Subtopology("0"),), "No source topics found for subtopology 0"),
    ],
)
def test_a_topology_that_can_never_work_is_refused(subtopologies: tuple[Subtopology, ...], text: str) -> None:
    with pytest.raises(KafkaError, match=text) as error:
        counts(*subtopologies, a=1)
    assert error.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY


@pytest.mark.parametrize("group", [CopartitionGroup([5]), CopartitionGroup([-1]), CopartitionGroup([], [], [0])])
def test_copartition_groups_with_wrong_indexes_are_refused(group: CopartitionGroup) -> None:
    with pytest.raises(KafkaError) as error:
        counts(Subtopology("0", ["a"], copartition_groups=[group]), a=1)
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def status(configured: ConfiguredTopology) -> tuple[TopicStatus, str]:
    assert configured.problem is not None
    assert not configured.is_ready
    return configured.problem


def test_a_topology_whose_topics_exist_is_ready() -> None:
    configured = configure(COUNTING, Topics(t=3, **{"counts-changelog": 3}))
    assert configured.is_ready
    assert configured.subtopologies is not None
    one = configured.subtopologies["0"]
    assert (one.tasks, one.is_stateful, one.declared.state_changelog_topics[0].partitions) == (3, True, 3)
    assert configured.missing == []


def test_missing_internal_topics_are_listed_with_their_counts() -> None:
    configured = configure(COUNTING, Topics(t=3))
    assert status(configured) == (
        TopicStatus.MISSING_INTERNAL_TOPICS,
        "Internal topics are missing: counts-changelog",
    )
    assert configured.missing == [TopicInfo("counts-changelog", 3)]


def test_a_topology_with_missing_source_topics_is_not_ready() -> None:
    assert status(configure(PLAIN, Topics(u=1))) == (TopicStatus.MISSING_SOURCE_TOPICS, "Source topics t are missing.")
    many = Topology(0, {"0": Subtopology("0", ["e", "b", "a", "d"])})
    text = "Source topics a, b, d and 1 additional topics are missing."
    assert status(configure(many, Topics(u=1))) == (TopicStatus.MISSING_SOURCE_TOPICS, text)


def test_an_internal_topic_of_the_wrong_size() -> None:
    configured = configure(COUNTING, Topics(t=3, **{"counts-changelog": 2}))
    text = "Existing topic counts-changelog has different number of partitions: expected 3, found 2"
    assert status(configured) == (TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)


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
