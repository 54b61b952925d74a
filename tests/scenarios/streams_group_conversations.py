"""Conversations of raw requests about streams groups (KIP-1071), in the manner of `group_conversations`.

The transcripts of a real Kafka 4.4.0 lie in ``tests/vectors/streams_group_conversations.json.gz``.
The broker needs the settings of `tests.scenarios.target.SCENARIO_CONFIG`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    Subtopology,
    TaskOffset,
    TopicInfo,
    Topology,
)
from tests.scenarios.group_conversations import delete_offsets
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.streams_group_walks import Walk
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

# -- the conversations


def one_member(c: StreamsConversation) -> None:
    """A member's life."""
    joined = c.start("m-a", tags=[("zone", "1"), ("rack", "x")], rack="r1", endpoint=Endpoint("h", 8080))
    c.beat_as("m-a", joined.member_epoch)
    c.beat_as("m-a", joined.member_epoch, active=(0, 1, 2, 3), endpoint_epoch=1)
    c.show_group()
    c.show()
    c.listed()
    c.describe()
    c.describe(5)
    c.listed_in("stable")
    c.listed_in("empty", "not_ready")
    c.stop("m-a")
    c.show_group()
    c.listed()
    c.log()
    c.start("m-b")
    c.show_group()
    c.stop("m-b")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.show_group()
    c.log()


def two_members(c: StreamsConversation) -> None:
    """The second member gets what the first has given up."""
    c.start("m-a")
    c.start("m-b", who="b")
    c.show_group()
    c.beat_as("m-b", 3, who="b")
    c.beat_as("m-a", 2)
    c.show_group()
    c.beat_as("m-a", 2, active=(0, 1, 2, 3))
    c.beat_as("m-b", 3, who="b", active=())
    c.beat_as("m-a", 2, active=(0, 1))
    c.show_group()
    c.beat_as("m-b", 3, who="b")
    c.beat_as("m-b", 3, who="b", active=(2, 3))
    c.beat_as("m-a", 3)
    c.show_group()
    c.stop("m-b", who="b")
    c.beat_as("m-a", 3)
    c.show_group()
    c.log()


def three_members(c: StreamsConversation) -> None:
    """A third member comes while the first two are at it; one leaves in the middle."""
    c.start("m-a")
    c.start("m-b", who="b")
    c.beat_as("m-a", 2)
    c.start("m-c", who="c")
    c.show_group()
    c.beat_as("m-a", 2, active=(0, 1))
    c.beat_as("m-b", 3, who="b")
    c.show_group()
    c.beat_as("m-c", 4, who="c")
    c.stop("m-b", who="b")
    c.beat_as("m-c", 4, who="c")
    c.beat_as("m-a", 4)
    c.show_group()
    c.log()


def threads_of_one_process(c: StreamsConversation) -> None:
    """Members of one process count as one when loads are compared, and never hold a task twice."""
    c.configure(streams_num_standby_replicas="1")
    c.start("m-a", c.counting(), process="p1")
    c.wait_for_internal("counts-changelog", 4)
    c.beat_as("m-a", 2)
    c.start("m-b", c.counting(), who="b", process="p1")
    c.start("m-c", c.counting(), who="c", process="p2")
    c.beat_as("m-a", 3, active=())
    c.show_group()
    c.beat_as("m-b", 4, who="b")
    c.beat_as("m-a", 3, active=(0,))
    c.beat_as("m-a", 5, active=(0,))
    c.beat_as("m-b", 5, who="b")
    c.beat_as("m-c", 5, who="c")
    c.show_group()
    c.log()


def standbys(c: StreamsConversation) -> None:
    """Standby tasks follow on other processes; one becomes active when its process is the last."""
    c.configure(streams_num_standby_replicas="1")
    c.start("m-a", c.counting())
    c.wait_for_internal("counts-changelog", 4)
    c.beat_as("m-a", 2)
    c.show_group()
    c.start("m-b", c.counting(), who="b")
    c.beat_as("m-a", 3, active=(0, 1, 2, 3))
    c.show_group()
    c.beat_as("m-a", 3, active=(0, 1))
    c.beat_as("m-b", 4, who="b", active=())
    c.beat_as("m-a", 4, active=(0, 1), standby=(2, 3))
    c.beat_as("m-b", 4, who="b", active=(2, 3), standby=(0, 1))
    c.show_group()
    c.stop("m-a")
    c.beat_as("m-b", 4, who="b", active=(2, 3), standby=(0, 1))
    c.beat_as("m-b", 4, who="b", active=(2, 3), standby=())
    c.beat_as("m-b", 5, who="b")
    c.show_group()
    c.configure(streams_num_standby_replicas="0")
    c.beat_as("m-b", 5, who="b")
    c.beat_as("m-b", 6, who="b")
    c.log()


def refused(c: StreamsConversation) -> None:
    """Every error of every field."""
    topology = c.plain()
    c.beat_as("m-a", 1)
    c.beat_as("m-a", -1)
    c.start("")
    c.start(" ")
    c.start("m-a", group_id="")
    c.start("m-a", rack="")
    c.start("m-a", instance="i")
    c.start("m-a", instance="")
    c.start("m-a", rebalance=-1)
    c.start("m-a", active=None)
    c.start("m-a", active=(0,))
    c.start("m-a", standby=(0,))
    c.start("m-a", standby=None)
    c.start("m-a", warmup=(0,))
    c.start("m-a", warmup=None)
    c.beat_as("m-a", 0, rebalance=1000, active=())
    c.start("m-a", offsets=[TaskOffset("0", 0, 1)])
    c.start("m-a", offsets=[])
    c.start("m-a", end_offsets=[])
    c.start("m-a", process="", endpoint=Endpoint("", 65535), tags=[])
    c.start("m-t", tags=[("k", "1"), ("k", "2")])
    c.beat_as("m-a", -2)
    c.beat_as("m-a", -2, instance="i")
    c.beat_as("m-a", -3)
    c.beat_as("m-x", 2)
    c.beat_as("m-x", -1)
    c.beat_as("m-a", 2, topology=topology)
    c.beat_as("m-a", 2, active=(0,), standby=None)
    c.beat_as("m-a", 2, active=(0,), warmup=None)
    c.beat_as("m-a", 2, standby=())
    c.beat_as("m-a", 2, warmup=(0,), active=())
    c.beat_as("m-a", 2, active=(4,))
    c.beat_as("m-a", 2, active=(-1,))
    c.beat_as("m-a", 2, active={"7": (0,)})
    c.beat_as("m-a", 2, active=(), standby=(9,))
    c.beat_as("m-a", 2, rebalance=0, rack=None)
    c.show_group("", c.group, f"{c.group}-none")
    c.log()


def fencing(c: StreamsConversation) -> None:
    """Epochs that are not the member's."""
    c.start("m-a")
    c.beat_as("m-a", 3)
    c.beat_as("m-a", 1)
    c.beat_as("m-a", 1, active=())
    c.start("m-b", who="b")
    c.beat_as("m-a", 2, active=(0, 1))
    c.beat_as("m-a", 2)
    c.beat_as("m-a", 2, active=(0, 1, 2))
    c.beat_as("m-a", 2, active={"1": (0,)})
    c.beat_as("m-a", 2, active=(0,))
    c.beat_as("m-a", 2, active=(), standby=(0,))
    c.beat_as("m-b", 2, who="b", active=())
    c.start("m-a", rack="r2")
    c.start("m-a", rack="r2", process="other")
    c.show_group()
    c.log()


def topology_epochs(c: StreamsConversation) -> None:
    """Members with other topologies than the group's."""
    c.start("m-a", c.plain(2))
    c.start("m-b", c.plain(2), who="b")
    c.start("m-c", c.plain(3), who="c")
    c.start("m-c", Topology(2, [Subtopology("0", [c.big, c.topic])]), who="c")
    c.start("m-c", Topology(1, [Subtopology("9", [c.topic])]), who="c")
    c.beat_as("m-c", 4, who="c")
    c.start("m-a", c.plain(1))
    c.show_group()
    c.log()


def shutdown(c: StreamsConversation) -> None:
    """One member asks the whole application to end."""
    c.start("m-a", shutdown=True)
    c.beat_as("m-a", 2)
    c.start("m-b", who="b")
    c.beat_as("m-a", 2, shutdown=True)
    c.beat_as("m-b", 3, who="b")
    c.beat_as("m-b", 3, who="b", shutdown=True)
    c.stop("m-b", who="b")
    c.beat_as("m-a", 2)
    c.stop("m-a")
    c.start("m-a")
    c.stop("m-x", shutdown=True)
    c.beat_as("m-a", 6)
    c.start("m-b", who="b")
    c.stop("m-a", shutdown=True)
    c.beat_as("m-b", 7, who="b")


def endpoints(c: StreamsConversation) -> None:
    """What members learn of each other's end points."""
    c.configure(streams_num_standby_replicas="1")
    c.start("m-a", c.counting(), endpoint=Endpoint("a.example", 1))
    c.wait_for_internal("counts-changelog", 4)
    c.beat_as("m-a", 2, endpoint_epoch=0)
    c.beat_as("m-a", 3, endpoint_epoch=1)
    c.beat_as("m-a", 3, endpoint_epoch=7)
    c.start("m-b", c.counting(), who="b", endpoint=Endpoint("b.example", 2))
    c.beat_as("m-a", 3, active=(0, 1), endpoint_epoch=2)
    c.beat_as("m-b", 4, who="b", endpoint_epoch=2)
    c.start("m-c", c.counting(), who="c")
    c.beat_as("m-a", 4, active=(0, 1), standby=(2, 3), endpoint_epoch=4)
    c.beat_as("m-a", 4, endpoint=Endpoint("a.example", 9), endpoint_epoch=4)
    c.show_group()


def session_expiry(c: StreamsConversation) -> None:
    """A silent member is dropped after the group's session timeout."""
    c.configure(streams_session_timeout_ms="600", streams_heartbeat_interval_ms="150")
    c.start("m-a")
    c.start("m-b", who="b")
    c.note("m-a goes silent", None)
    wait_until("its end", lambda: c.quiet("m-b", c.member_epoch("m-b"), "b") and len(c.described().members) == 1)
    c.quiet("m-b", c.member_epoch("m-b"), "b")
    c.show_group()
    c.log()


def rebalance_timeout(c: StreamsConversation) -> None:
    """A member that does not give up its tasks is dropped after its rebalance timeout."""
    c.start("m-a", rebalance=400)
    c.start("m-b", who="b")
    c.beat_as("m-a", 2, active=(0, 1, 2, 3))
    wait_until("its end", lambda: c.quiet("m-a", 2, active=(0, 1, 2, 3)).error_code == 25)
    c.beat_as("m-b", 3, who="b")
    c.show_group()
    c.log()


def initial_delay(c: StreamsConversation) -> None:
    """An empty group waits for more members before tasks are assigned."""
    c.configure(streams_initial_rebalance_delay_ms="1500")
    c.start("m-a")
    c.start("m-b", who="b")
    c.beat_as("m-a", 1)
    c.beat_as("m-b", 1, who="b")
    c.show_group()
    wait_until("the assignment", lambda: c.described().assignment_epoch > 1)
    c.show_group()
    c.beat_as("m-a", 1)
    c.beat_as("m-b", 1, who="b")
    c.show_group()
    c.stop("m-a")
    c.stop("m-b", who="b")
    c.start("m-c")
    c.log()


def assignment_interval(c: StreamsConversation) -> None:
    """Assignments follow one another at intervals."""
    c.configure(streams_assignment_interval_ms="1500")
    c.start("m-a")
    c.start("m-b", who="b")
    c.beat_as("m-a", 2)
    c.show_group()

    def moved() -> bool:
        return bool(c.quiet("m-b", 2, "b").member_epoch == 3)

    wait_until("the next assignment", moved)
    c.show_group()
    c.beat_as("m-a", 2)
    c.log()


def configs(c: StreamsConversation) -> None:
    """The configs of a streams group, and what they may not be."""
    c.configure(streams_heartbeat_interval_ms="200")
    c.start("m-a")
    c.configure(streams_session_timeout_ms="599")
    c.configure(streams_session_timeout_ms="60001")
    c.configure(streams_heartbeat_interval_ms="99")
    c.configure(streams_heartbeat_interval_ms="15001")
    c.configure(streams_num_standby_replicas="3")
    c.configure(streams_num_standby_replicas="-1")
    c.configure(streams_initial_rebalance_delay_ms="-1")
    c.configure(streams_assignment_interval_ms="15001")
    c.configure(streams_assignor_offload_enable="true")
    c.configure(streams_num_standby_replicas="2")
    c.beat_as("m-a", 2)
    c.beat_as("m-a", 3)
    c.stop("m-a")
    c.log()


def commits(c: StreamsConversation) -> None:
    """Which commits and fetches the group takes."""
    c.start("m-a")
    c.commit_as("m-a", 2)
    c.commit_as("m-a", 2, version=8)
    c.commit_as("m-a", 3)
    c.commit_as("m-a", 1)
    c.commit_as("m-a", -1)
    c.commit_as("m-x", 2)
    c.commit_as("", -1)
    c.fetch_as("m-a", 2)
    c.fetch_as("m-a", 1)
    c.fetch_as("m-x", 2)
    c.fetch_as(None, -1)
    c.start("m-b", who="b")
    c.beat_as("m-a", 2, active=(0, 1, 2, 3))
    c.commit_as("m-a", 2, (0, 1, 2, 3))
    c.beat_as("m-a", 2, active=(0, 1))
    c.beat_as("m-b", 3, who="b")
    c.commit_as("m-a", 2, (0, 1))
    c.commit_as("m-a", 2, (2,))
    c.commit_as("m-b", 2, (2,))
    c.commit([(0, 7)], 9, topic=c.topic, member="m-a", generation=2)
    for member, epoch in (("m-a", 3), ("m-a", 2), ("m-a", 1), ("m-a", 4), ("m-x", 3), ("", -1), ("m-b", 2)):
        c.commit_in_transaction(member, epoch)
    delete_offsets(c, (c.big, [0, 1]))
    c.listed()
    c.kinds()


def commits_of_nobody(c: StreamsConversation) -> None:
    """An empty group takes commits without a member, and gives its offsets to be deleted."""
    c.start("m-a")
    c.stop("m-a")
    c.commit_as("", -1)
    c.commit_as("m-a", 2)
    c.fetch_as(None, -1)
    delete_offsets(c, (c.big, [0, 1]))
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.fetch_as(None, -1)
    c.kinds()


def other_kinds(c: StreamsConversation) -> None:
    """Groups of other kinds, empty and not."""
    joined = c.classic_join("")
    c.classic_join(joined.member_id)
    c.start("m-a")
    c.beat_as("m-a", 1)
    c.leave((joined.member_id, None))
    c.start("m-a")
    c.listed()
    c.classic_join("")
    c.enter_group("m-c")
    c.hb("m-a", 2)
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.stop("m-a")
    c.enter_group("m-c")
    c.listed()
    c.classic_join("")
    c.listed()
    c.kinds()


def consumer_groups(c: StreamsConversation) -> None:
    """A consumer group is no streams group, not even an empty one."""
    c.enter_group("m-c")
    c.start("m-a")
    c.beat_as("m-a", 2)
    c.stop("m-c")
    c.show_group()
    c.quit("m-c")
    c.start("m-a")
    c.commit_as("", -1)
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.commit_as("", -1)
    c.start("m-a")
    c.listed()
    c.fetch_as(None, -1)
    c.kinds()


def full(c: StreamsConversation) -> None:
    """A group has room for so many members."""
    for number in range(6):
        c.quiet_start(f"m-{number}")
    c.start("m-6")
    c.start("m-0")
    c.beat_as("m-0", c.member_epoch("m-0"))
    c.stop("m-5")
    c.start("m-6")


def deleted_group(c: StreamsConversation) -> None:
    """A group with members is not deleted."""
    c.start("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.ask(DeleteGroupsRequest([f"{c.group}-b"]), 2)
    c.stop("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.beat_as("m-a", 2)
    c.start("m-a")
    c.log()


def walk(seed: int, c: StreamsConversation) -> None:
    Walk(c, seed).go()


# -- topics: which an application needs, which are made for it, what is wrong


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


CONVERSATIONS: dict[str, Callable[[StreamsConversation], None]] = {
    **conversations(__name__),
    **{f"walk_{seed}": partial(walk, seed) for seed in range(20)},
}
transcribe = transcriber(StreamsConversation, CONVERSATIONS)
