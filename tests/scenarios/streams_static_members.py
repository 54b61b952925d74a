"""Conversations about what streams groups have since Kafka 4.4: static members, task offsets, changed end points.

As `streams_group_conversations`. The transcripts of a real Kafka 4.4.0 lie in
``tests/vectors/streams_static_members.json.gz``.
"""

from __future__ import annotations

from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import Endpoint, TaskOffset
from odradek.protocol.generated.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber


def successors(c: StreamsConversation) -> None:
    """A member leaves for a while, and another one with its instance id takes over what it had."""
    c.start("m-1", instance="i")
    c.beat_as("m-1", 2, instance="i")
    c.start("m-2", instance="i")
    c.beat_as("m-1", -2, instance="i")
    c.show_group()
    c.start("m-2", instance="i")
    c.show_group()
    c.beat_as("m-1", 2, instance="i")
    c.beat_as("m-2", 2, instance="i")
    c.beat_as("m-2", 2)
    c.log()


def departures(c: StreamsConversation) -> None:
    """Wrong instance ids, and the end of a static member."""
    c.start("m-1", instance="i")
    c.beat_as("m-1", 2, instance="j")
    c.beat_as("m-2", 2, instance="i")
    c.beat_as("m-1", -2, instance="j")
    c.beat_as("m-2", -2, instance="i")
    c.beat_as("m-2", -1, instance="i")
    c.beat_as("m-1", -2)
    c.beat_as("m-1", -1, instance="i")
    c.show_group()
    c.log()


def the_same_again(c: StreamsConversation) -> None:
    """A static member that comes back with its own id."""
    c.start("m-1", instance="i")
    c.start("m-1", instance="i")
    c.beat_as("m-1", -2, instance="i")
    c.start("m-1", instance="i")
    c.show_group()
    c.log()


def two_places(c: StreamsConversation) -> None:
    """A static member among others: its tasks wait for its successor."""
    c.start("m-1", instance="i")
    c.start("m-2", instance="j", who="b")
    c.beat_as("m-1", 2, instance="i", active=(0, 1))
    c.beat_as("m-1", 2, instance="i", active=(0, 1))
    c.beat_as("m-2", 3, instance="j", who="b")
    c.beat_as("m-1", -2, instance="i")
    c.show_group()
    c.beat_as("m-2", 3, instance="j", who="b")
    c.start("m-3", instance="i")
    c.beat_as("m-2", 3, instance="j", who="b")
    c.show_group()
    c.log()


def sessions(c: StreamsConversation) -> None:
    """A static member that stays away is dropped after its session timeout."""
    c.configure(streams_session_timeout_ms="600", streams_heartbeat_interval_ms="150")
    c.start("m-1", instance="i")
    c.beat_as("m-1", -2, instance="i")
    wait_until("its end", lambda: not c.described().members)
    c.show_group()
    c.log()


def changes(c: StreamsConversation) -> None:
    """What a member may change without another epoch for the group."""
    c.start("m-a")
    c.beat_as("m-a", 2, endpoint=Endpoint("h", 1))
    c.beat_as("m-a", 2, rebalance=40_000)
    c.beat_as("m-a", 2, who="b")
    c.show_group()
    c.beat_as("m-a", 2, who="b", rack="r")
    c.beat_as("m-a", 3, who="b", tags=[("zone", "z")])
    c.beat_as("m-a", 4, who="b", process="p")
    c.show_group()
    c.log()


def task_offsets(c: StreamsConversation) -> None:
    """Offsets of tasks are taken, and not stored."""
    c.start("m-a", c.plain())
    c.beat_as("m-a", 2, offsets=[TaskOffset("0", 0, 5)], end_offsets=[TaskOffset("0", 0, 9)])
    c.beat_as("m-a", 2, offsets=[TaskOffset("7", 9, -5)])
    c.beat_as("m-a", 2, offsets=[])
    c.beat_as("m-a", 2, end_offsets=[TaskOffset("7", 9, -5)])
    c.show_group()
    c.log()


def descriptions(c: StreamsConversation) -> None:
    """Topology descriptions without a plugin, and the newest version of the describing request."""
    c.start("m-a")
    c.ask(StreamsGroupDescribeRequest([c.group], False, True), 1)
    c.ask(StreamsGroupDescribeRequest([c.group], False, False), 1)
    c.ask(StreamsGroupDescribeRequest([f"{c.group}-none"], False, True), 1)
    c.ask(StreamsGroupTopologyDescriptionUpdateRequest(group_id=c.group, member_id="m-a", topology_epoch=0), 0)


def odd_first_heartbeats(c: StreamsConversation) -> None:
    """What is refused of static members and of those that say too much."""
    c.start("m-a", instance="")
    c.start("m-a", offsets=[TaskOffset("0", 0, 5)])
    c.start("m-a", warmup=(0,))
    c.beat_as("m-b", 3, instance="")
    c.show_group()


def configs(c: StreamsConversation) -> None:
    """What the configs of tags and assignors take and refuse."""
    tags, assignor = "streams.rack.aware.assignment.tags", "streams.assignor.name"
    values = ("zone", "zone,zone", "zone,", ",zone", "zone,,rack", " zone , rack ", ",", " ", "a b", "", "zone, zone")
    for name, value in [*((tags, value) for value in values), *((assignor, each) for each in ("nope", "sticky", ""))]:
        resource = AlterConfigsResource(32, c.group, [AlterableConfig(name, 0, value)])
        c.ask(IncrementalAlterConfigsRequest([resource], True), 1)


def tags(c: StreamsConversation) -> None:
    """Members hear of tags that they lack, in the newest version; the assignor does not look at them."""
    c.configure(streams_rack_aware_assignment_tags="zone,rack")
    first = {"rebalance": 30_000, "active": (), "process": "p", "topology": c.plain(), "tags": [("zone", "a")]}
    c.ask(c.request("m-a", 0, dict(first)), 1)
    c.ask(c.request("m-a", 2, {}), 0)
    c.ask(c.request("m-a", 2, {}), 1)
    c.ask(c.request("m-a", 2, {"tags": [("rack", "b"), ("zone", "a"), ("other", "c")]}), 1)
    c.ask(c.request("m-a", 3, {"tags": []}), 1)
    c.show_group()
    c.configure(streams_rack_aware_assignment_tags=" rack ")
    c.ask(c.request("m-a", 4, {}), 1)
    c.log()


def restored(c: StreamsConversation) -> None:
    """Tasks go to members that have restored them, those that have restored most first."""
    c.configure(streams_num_standby_replicas="1")
    c.start("m-a", c.counting())
    c.wait_for_internal("counts-changelog", 4)
    c.beat_as("m-a", 2)
    c.start("m-b", c.counting(), offsets=[TaskOffset("0", index, 50) for index in range(4)])
    c.show_group()
    c.start("m-c", c.counting(), offsets=[TaskOffset("0", index, 20 + 40 * index) for index in range(4)])
    c.show_group()
    c.beat_as("m-c", 5, offsets=[TaskOffset("0", index, 90) for index in range(4)])
    c.start("m-d", c.counting())
    c.show_group()
    c.stop("m-a")
    c.beat_as("m-b", 4)
    c.show_group()


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(StreamsConversation, CONVERSATIONS)
