"""Conversations about the topics of Streams applications: which they need, which are made for them, what is wrong."""

from __future__ import annotations

from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    Subtopology,
    TopicInfo,
    Topology,
)
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import wait_until


def internal_topics(c: StreamsConversation) -> None:
    """Repartition and changelog topics are created by the broker, with the configs of the topology."""
    c.start("m-a", c.grouping())
    c.show_group()
    c.listed_in("not_ready")
    c.listed_in("notready")
    c.wait_for_internal("by-word-repartition", 4)
    c.wait_for_internal("counts-changelog", 4)
    c.beat_as("m-a", 2)
    c.show_group()
    c.beat_as("m-a", 3, active={"0": (0, 1, 2, 3), "1": (0, 1, 2, 3)})
    c.show_group()
    c.start("m-b", c.grouping(), who="b")
    c.beat_as("m-a", 3, active={"0": (0, 1, 2, 3), "1": (0, 1, 2, 3)})
    c.show_group()
    c.log()


def fixed_counts(c: StreamsConversation) -> None:
    """A repartition topic whose count the application names, and replication factor and topics by default."""
    between = c.internal("a-repartition", 3, 0)
    first = Subtopology("0", [c.big], repartition_sink_topics=[between.name])
    second = Subtopology("1", repartition_source_topics=[between], state_changelog_topics=[c.internal("s-changelog")])
    c.start("m-a", Topology(3, [first, second]))
    c.wait_for_internal("a-repartition", 3)
    c.wait_for_internal("s-changelog", 3)
    c.beat_as("m-a", 2)
    c.show_group()
    c.log()


def creation_refused(c: StreamsConversation) -> None:
    """Internal topics that cannot be created: members hear why."""
    wrong = c.internal("s-changelog", factor=7)
    c.start("m-a", Topology(0, [Subtopology("0", [c.big], state_changelog_topics=[wrong])]))
    wait_until("the reason", lambda: "Creation failed" in c.quiet("m-a", 2).status[0].status_detail)
    c.beat_as("m-a", 2)
    c.show_group()
    c.log()


def configs_refused(c: StreamsConversation) -> None:
    """A config of an internal topic that does not exist."""
    wrong = c.internal("s-changelog", cleanup_policy="nonsense")
    c.start("m-a", Topology(0, [Subtopology("0", [c.big], state_changelog_topics=[wrong])]))
    wait_until("the reason", lambda: "Creation failed" in c.quiet("m-a", 2).status[0].status_detail)
    c.beat_as("m-a", 2)


def missing_sources(c: StreamsConversation) -> None:
    """Source topics that come, grow and go."""
    late = f"late-{c.secret}"
    topology = Topology(0, [Subtopology("0", [late])])
    c.start("m-a", topology)
    c.beat_as("m-a", 2)
    c.start("m-b", topology, endpoint=Endpoint("h", 1))
    c.show_group()
    c.make("late", 1)
    c.beat_as("m-a", 2)
    c.beat_as("m-a", 3, active=(0,))
    c.show_group()
    c.grow(late, 2)
    c.beat_as("m-a", 3, active=(0,))
    c.show_group()
    c.delete(late)
    wait_until("the deletion", lambda: c.quiet("m-a", c.member_epoch("m-a")).status)
    c.show_group()
    c.kinds()


def many_missing_sources(c: StreamsConversation) -> None:
    """Only three of them are named."""
    names = [f"{label}-{c.secret}" for label in ("d", "b", "a", "c", "e")]
    c.start("m-a", Topology(0, [Subtopology("0", names)]))


def wrong_partitions(c: StreamsConversation) -> None:
    """Topics that do not fit together."""
    two = c.make("two", 2)
    joined = CopartitionGroup([0, 1], [], [])
    c.start("m-a", Topology(0, [Subtopology("0", [c.big, two], copartition_groups=[joined])]))
    c.show_group()
    c.stop("m-a")
    c.log()
    c.ask(DeleteGroupsRequest([c.group]), 2)
    fixed = c.internal("f-repartition", 3)
    reader = Subtopology("1", [two], repartition_source_topics=[fixed])
    reader.copartition_groups = [CopartitionGroup([0], [], [0])]
    writer = Subtopology("0", [c.big], repartition_sink_topics=[fixed.name])
    c.start("m-a", Topology(0, [writer, reader]))
    c.stop("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    one, other = c.internal("one-repartition", 3), c.internal("other-repartition", 5)
    writer.repartition_sink_topics = [one.name, other.name]
    reader = Subtopology("1", repartition_source_topics=[one, other])
    reader.copartition_groups = [CopartitionGroup([], [], [0, 1])]
    c.start("m-a", Topology(0, [writer, reader]))
    c.stop("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 2)


def wrong_changelog(c: StreamsConversation) -> None:
    """An internal topic is there already, with another number of partitions."""
    name = c.make("taken-changelog", 2)
    topology = Topology(0, [Subtopology("0", [c.big], state_changelog_topics=[TopicInfo(name, 0, 1)])])
    c.start("m-a", topology)
    c.show_group()


def widths(c: StreamsConversation) -> None:
    """How repartition topics get their counts: from the widest source, evened out with what they are joined with."""
    two = c.make("two", 2)
    a, b = c.internal("a-repartition"), c.internal("b-repartition")
    topology = Topology(
        0,
        [
            Subtopology("2", repartition_source_topics=[b], state_changelog_topics=[c.internal("s-changelog")]),
            Subtopology("0", [c.big, two], repartition_sink_topics=[a.name]),
            Subtopology(
                "1",
                [two],
                repartition_source_topics=[a],
                repartition_sink_topics=[b.name],
                copartition_groups=[CopartitionGroup([0], [], [0])],
            ),
        ],
    )
    c.start("m-a", topology)
    for label, partitions in (("a-repartition", 2), ("b-repartition", 4), ("s-changelog", 4)):
        c.wait_for_internal(label, partitions)
    c.beat_as("m-a", 2)
    c.show_group()


def invalid_topologies(c: StreamsConversation) -> None:
    """Topologies that can never work."""
    a, b = c.internal("a-repartition"), c.internal("b-repartition")
    loop = [
        Subtopology("0", repartition_source_topics=[a], repartition_sink_topics=[b.name]),
        Subtopology("1", repartition_source_topics=[b], repartition_sink_topics=[a.name]),
    ]
    tag = [KeyValue("k", "1"), KeyValue("k", "2")]
    bad: list[list[Subtopology]] = [
        loop,
        [Subtopology("0", [c.big], repartition_source_topics=[a])],
        [Subtopology("0")],
        [Subtopology("0", [c.big], copartition_groups=[CopartitionGroup([3], [], [])])],
        [Subtopology("0", [c.big], copartition_groups=[CopartitionGroup([-1], [], [])])],
        [Subtopology("0", [c.big], copartition_groups=[CopartitionGroup([], [], [0])])],
        [Subtopology("0", [c.big], copartition_groups=[CopartitionGroup([], [], [])])],
        [Subtopology("0", [c.big]), Subtopology("0", [c.big])],
        [Subtopology("0", [c.big], state_changelog_topics=[c.internal("s-changelog", 2)])],
        [Subtopology("0", [c.big], state_changelog_topics=[TopicInfo(c.name("s"), 0, 1, tag)])],
        [Subtopology("0", [c.big], state_changelog_topics=[c.internal("s"), c.internal("s")])],
        [Subtopology("0", ["__consumer_offsets", "__transaction_state"])],
        [Subtopology("0", ["__share_group_state"])],
        [Subtopology("0", ["no/name", "", "."])],
        [Subtopology("0", [c.big], repartition_sink_topics=["no name"])],
        [Subtopology("0", [c.big], source_topic_regex=[".*"])],
        [],
        [Subtopology("", [c.big])],
    ]
    for subtopologies in bad:
        c.start("m-a", Topology(0, subtopologies))
        c._client("x").request(DeleteGroupsRequest([c.group]), 2)
        if subtopologies == [] or subtopologies[0].subtopology_id == "" or subtopologies[0].copartition_groups:
            c.show_group()
            c.stop("m-a")
            c._client("x").request(DeleteGroupsRequest([c.group]), 2)
    negative = c.internal("n-repartition", -3)
    sinks = Subtopology("0", [c.big], repartition_sink_topics=[negative.name])
    c.start("m-a", Topology(0, [sinks, Subtopology("1", repartition_source_topics=[negative])]))
    c.start("m-a", Topology(-1, [Subtopology("0", [c.big])]))
    c.show_group()
    c.log()
