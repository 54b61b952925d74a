"""How many partitions internal topics get."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.partition_counts import PartitionCounts
from odradek.broker.coordinator.group.streams.problems import TopicProblem, TopicStatus
from odradek.broker.coordinator.group.streams.topology import CopartitionGroup, Subtopology, TopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError


def counts(*subtopologies: Subtopology, **existing: int) -> PartitionCounts:
    return PartitionCounts(Topology(0, {each.subtopology_id: each for each in subtopologies}), existing.get)


def test_repartition_topics_follow_the_widest_source_through_a_chain() -> None:
    first = Subtopology("0", ("a", "b"), repartition_sinks=("x",))
    second = Subtopology("1", repartition_sources=(TopicInfo("x"),), repartition_sinks=("y",))
    third = Subtopology("2", repartition_sources=(TopicInfo("y"),), changelogs=(TopicInfo("s"),))
    made = counts(third, second, first, a=2, b=6)
    assert made.decided == {"x": 6, "y": 6, "s": 6}
    assert made.tasks_of(third) == 6


def test_fixed_counts_stay() -> None:
    first = Subtopology("0", ("a",), repartition_sinks=("x",))
    second = Subtopology("1", repartition_sources=(TopicInfo("x", 3),), changelogs=(TopicInfo("s"),))
    assert counts(first, second, a=7).decided == {"x": 3, "s": 3}


def test_joined_topics_are_evened_out() -> None:
    first = Subtopology("0", ("a",), repartition_sinks=("x",))
    joined = (CopartitionGroup((0,), (), (0,)),)
    second = Subtopology("1", ("b",), repartition_sources=(TopicInfo("x"),), copartition_groups=joined)
    assert counts(first, second, a=7, b=2).decided == {"x": 2}
    both = (CopartitionGroup((), (), (0, 1)),)
    widest = Subtopology("2", repartition_sources=(TopicInfo("x"), TopicInfo("z")), copartition_groups=both)
    other = Subtopology("3", ("c",), repartition_sinks=("z",))
    assert counts(first, widest, other, a=4, c=9).decided == {"x": 9, "z": 9}


def test_joined_sources_that_differ() -> None:
    joined = (CopartitionGroup((0, 1)),)
    with pytest.raises(TopicProblem) as problem:
        counts(Subtopology("0", ("a", "b"), copartition_groups=joined), a=1, b=2)
    text = "Following topics do not have the same number of partitions: [{a=1, b=2}]"
    assert problem.value.status == (TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)


def test_a_fixed_count_that_does_not_fit() -> None:
    first = Subtopology("0", ("a",), repartition_sinks=("x",))
    joined = (CopartitionGroup((0,), (), (0,)),)
    second = Subtopology("1", ("b",), repartition_sources=(TopicInfo("x", 3),), copartition_groups=joined)
    text = r"Number of partitions \[3\] of repartition topic \[x\] doesn't match number of partitions \[2\]"
    with pytest.raises(TopicProblem, match=text):
        counts(first, second, a=7, b=2)


LOOP = (
    Subtopology("0", repartition_sources=(TopicInfo("x"),), repartition_sinks=("y",)),
    Subtopology("1", repartition_sources=(TopicInfo("y"),), repartition_sinks=("x",)),
)


@pytest.mark.parametrize(
    ("subtopologies", "text"),
    [
        (LOOP, "There may be loops in the topology that cannot be resolved."),
        ((Subtopology("0", ("a",), repartition_sources=(TopicInfo("x"),)),), "is never used as a sink topic."),
        ((Subtopology("0"),), "No source topics found for subtopology 0"),
    ],
)
def test_what_can_never_work(subtopologies: tuple[Subtopology, ...], text: str) -> None:
    with pytest.raises(KafkaError, match=text) as error:
        counts(*subtopologies, a=1)
    assert error.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY


@pytest.mark.parametrize("group", [CopartitionGroup((5,)), CopartitionGroup((-1,)), CopartitionGroup((), (), (0,))])
def test_indexes_that_lead_nowhere(group: CopartitionGroup) -> None:
    with pytest.raises(KafkaError) as error:
        counts(Subtopology("0", ("a",), copartition_groups=(group,)), a=1)
    assert error.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
