"""Conversations about topology descriptions of streams groups (KIP-1331), with a broker that has the plugin for them.

As `streams_static_members`. The transcripts of a real Kafka 4.4.0 with the configs of `config_of` lie in
``tests/vectors/topology_descriptions.json.gz``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    TopologyDescription,
    TopologyDescriptionGlobalStore,
    TopologyDescriptionNode,
    TopologyDescriptionSubtopology,
)
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import SCENARIO_CONFIG, wait_until
from tests.scenarios.transcripts import conversations, transcriber

PLUGIN = "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
CONFIG: Mapping[str, str] = {**SCENARIO_CONFIG, "group.streams.topology.description.plugin.class": PLUGIN}
EXPIRING: Mapping[str, str] = {**CONFIG, "offsets.retention.check.interval.ms": "1000"}
"""Of a broker on which `expired` is held alone: there empty groups do not last."""
_SOURCE, _PROCESSOR, _SINK = 1, 2, 3


class DescribingConversation(StreamsConversation):
    """With the words of KIP-1331, in the newest versions."""

    def describing_start(self, member: str, **options: Any) -> None:
        first = {"rebalance": 30_000, "active": (), "process": f"p-{member}", "topology": self.plain(), **options}
        self.ask(self.request(member, 0, first), 1)

    def describing_beat(self, member: str, epoch: int) -> None:
        self.ask(self.request(member, epoch, {}), 1)

    def node(self, name: str, kind: int = _PROCESSOR, **fields: Any) -> TopologyDescriptionNode:
        return TopologyDescriptionNode(name, kind, **fields)

    def description(self) -> TopologyDescription:
        """A source, a processor with a store, and a sink."""
        source = self.node("src", _SOURCE, source_topics=[self.big], successors=["count"])
        count = self.node("count", stores=["counts"], successors=["snk"])
        sink = self.node("snk", _SINK, sink_topic="out")
        return TopologyDescription([TopologyDescriptionSubtopology("0", [source, count, sink])], [])

    def update(self, member: str = "m-a", **fields: Any) -> None:
        wanted = {"topology_epoch": 0, "topology_description": self.description(), **fields}
        request = StreamsGroupTopologyDescriptionUpdateRequest(
            **{"group_id": self.group, "member_id": member, **wanted}
        )
        self.ask(request, 0)

    def show_description(self, include: bool = True) -> None:
        self.ask(StreamsGroupDescribeRequest([self.group], False, include), 1)


def accepted(c: DescribingConversation) -> None:
    """The broker asks for a description once, shows it where somebody asks for it, and notes it in the group."""
    c.describing_start("m-a")
    c.describing_beat("m-a", 2)
    c.show_description()
    c.update()
    c.show_description()
    c.show_description(include=False)
    c.show_group()
    c.describing_beat("m-a", 2)
    c.describing_start("m-b")
    c.log()


def asked_once(c: DescribingConversation) -> None:
    """While one member is asked, others are not; nor is one that speaks version 0."""
    c.start("m-a")
    c.describing_beat("m-a", 2)
    c.describing_start("m-b")
    c.beat_as("m-a", 2, active=(0, 1, 2, 3))
    c.show_description()
    c.log()


def refused(c: DescribingConversation) -> None:
    """Updates that are refused, and that change nothing."""
    c.update()
    c.describing_start("m-a")
    c.update("")
    c.update("nobody")
    c.update(group_id="")
    c.update(group_id=f"{c.group}-none")
    c.update("nobody", topology_epoch=5)
    c.update(topology_epoch=5)
    c.update(topology_epoch=-1)
    for kind in (0, 4, -1):
        odd = TopologyDescription([TopologyDescriptionSubtopology("0", [c.node("n", kind)])], [])
        c.update(topology_description=odd)
        c.update("nobody", topology_description=odd)
    for source, processor in ((_PROCESSOR, _PROCESSOR), (_SOURCE, _SINK), (_SINK, _SOURCE), (_SOURCE, 7)):
        store = TopologyDescriptionGlobalStore(c.node("s", source), c.node("p", processor))
        c.update(topology_description=TopologyDescription([], [store]))
    c.show_description()
    c.log()


def shapes(c: DescribingConversation) -> None:
    """What is kept of a description: the fields that a kind of node has, in order, without what comes twice."""
    c.describing_start("m-a")
    every: Any = {"source_topics": ["t"], "sink_topic": "s", "stores": ["st"], "successors": ["x"]}
    nodes = [c.node(f"n{kind}", kind, **every) for kind in (_SOURCE, _PROCESSOR, _SINK)]
    store = TopologyDescriptionGlobalStore(c.node("s", _SOURCE, **every), c.node("p", _PROCESSOR, **every))
    c.update(topology_description=TopologyDescription([TopologyDescriptionSubtopology("9", nodes)], [store, store]))
    c.show_description()
    twice = {"source_topics": ["t", "t"], "stores": ["st", "st"], "successors": ["x", "x"]}
    nodes = [c.node("n", kind, **twice) for kind in (_SINK, _PROCESSOR, _SOURCE, _SOURCE)]
    parts = [TopologyDescriptionSubtopology(name, nodes) for name in ("b", "a", "a")]
    c.update(topology_description=TopologyDescription(parts, []))
    c.show_description()
    names = ["beta", "alpha", "gamma", "a-rather-long-name", "delta"]
    many = {"source_topics": names, "stores": names, "successors": names}
    nodes = [c.node("n", kind, **many) for kind in (_SINK, _PROCESSOR, _SOURCE)]
    c.update(topology_description=TopologyDescription([TopologyDescriptionSubtopology("0", nodes)], []))
    c.show_description()
    c.update(topology_description=TopologyDescription([], []))
    c.show_description()


def replaced(c: DescribingConversation) -> None:
    """A second description takes the place of the first; a member that leaves changes nothing."""
    c.describing_start("m-a")
    c.update()
    c.update(topology_description=TopologyDescription([TopologyDescriptionSubtopology("1", [])], []))
    c.show_description()
    c.stop("m-a")
    c.show_description()
    c.update()
    c.describing_start("m-b")
    c.show_description()
    c.log()


def deleted(c: DescribingConversation) -> None:
    """A description ends with its group; the next group of that name is asked anew."""
    c.describing_start("m-a")
    c.update()
    c.ask(DeleteGroupsRequest([c.group]), 3)
    c.stop("m-a")
    c.ask(DeleteGroupsRequest([c.group]), 3)
    c.log()
    c.describing_start("m-b")
    c.show_description()
    c.stop("m-b")
    c.ask(DeleteGroupsRequest([c.group]), 3)
    c.log()


def given_up(c: DescribingConversation) -> None:
    """A classic group takes the place of an empty one with a description."""
    c.describing_start("m-a")
    c.update()
    c.stop("m-a")
    c.join("", who="b")
    c.log()
    c.listed()
    c.show_description()


def expired(c: DescribingConversation) -> None:
    """An empty group with a description expires."""
    c.describing_start("m-a")
    c.update()
    c.show_description()
    c.stop("m-a")
    wait_until("no group", lambda: c.described().error_code == 69)
    c.log()
    c.describing_start("m-b")
    c.show_description()


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(DescribingConversation, CONVERSATIONS)


def config_of(name: str) -> Mapping[str, str]:
    """The configs of the broker for a conversation."""
    return EXPIRING if name == expired.__name__ else CONFIG
