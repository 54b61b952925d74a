"""The words of the streams protocol (KIP-1071) for `Conversation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    CopartitionGroup,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.scenarios.consumer_group_conversations import ConsumerConversation

Tasks = Mapping[str, Sequence[int]] | Sequence[int]
_MISSING = "Internal topics are missing: "
_ENDPOINTS = {"partitionsByUserEndpoint": lambda row: row["userEndpoint"]["port"]}
_TOPICS = frozenset({"activePartitions", "standbyPartitions"})


class StreamsConversation(ConsumerConversation):
    """A `Conversation` with the words of the streams protocol; `big` has four partitions."""

    def _clean(self, value: Any, key: str = "") -> Any:
        if key == "statusDetail" and value.startswith(_MISSING):
            # Kafka lists topics by the hashes of their names, which are new in each run.
            names, mark, rest = value.removeprefix(_MISSING).partition(";")
            value = _MISSING + ", ".join(sorted(names.split(", "))) + mark + rest
        cleaned = super()._clean(value, key)
        if isinstance(cleaned, list) and key in _ENDPOINTS:
            cleaned.sort(key=_ENDPOINTS[key])
        if isinstance(cleaned, list) and key in _TOPICS and cleaned and isinstance(cleaned[0], dict):
            cleaned.sort(key=lambda row: str(row["topic"]))
        return cleaned

    def configure(self, group: str | None = None, **configs: str | None) -> None:
        """Set configs of the group, and wait for the coordinator to go by them.

        A real one learns of changes in their order: it has learned of this one when it knows a topic made after it.
        """
        super().configure(group, **configs)
        self.made += 1
        self.make(f"after-{self.made}", 1)

    def _prepare(self) -> None:
        self.made = 0
        super()._prepare()

    # -- topologies

    def name(self, label: str) -> str:
        """The name of an internal topic of the application."""
        return f"{self.group}-{label}"

    def internal(self, label: str, partitions: int = 0, factor: int = 1, **configs: str) -> TopicInfo:
        """An internal topic."""
        rows = [KeyValue(key.replace("_", "."), value) for key, value in configs.items()]
        return TopicInfo(self.name(label), partitions, factor, rows)

    def plain(self, epoch: int = 0) -> Topology:
        """One subtopology without state that reads `big`."""
        return Topology(epoch, [Subtopology("0", [self.big])])

    def counting(self, epoch: int = 0) -> Topology:
        """One subtopology that reads `big` and keeps state."""
        changelog = self.internal("counts-changelog", cleanup_policy="compact")
        return Topology(epoch, [Subtopology("0", [self.big], state_changelog_topics=[changelog])])

    def grouping(self) -> Topology:
        """Two subtopologies with a repartition topic between them."""
        between = self.internal("by-word-repartition", cleanup_policy="delete", retention_ms="-1")
        first = Subtopology("0", [self.big], repartition_sink_topics=[between.name])
        changelog = self.internal("counts-changelog", cleanup_policy="compact")
        second = Subtopology("1", repartition_source_topics=[between], state_changelog_topics=[changelog])
        second.copartition_groups = [CopartitionGroup([], [], [0])]
        return Topology(0, [first, second])

    # -- short forms

    def tasks(self, tasks: Tasks | None) -> list[TaskIds] | None:
        if tasks is None:
            return None
        by_id = tasks if isinstance(tasks, Mapping) else ({"0": tasks} if tasks else {})
        return [TaskIds(name, list(partitions)) for name, partitions in by_id.items()]

    def request(self, member: str, epoch: int, options: dict[str, Any]) -> StreamsGroupHeartbeatRequest:
        active = options.pop("active", None)
        if active is not None:
            options.setdefault("standby", ())
            options.setdefault("warmup", ())
        tags = options.pop("tags", None)
        request = StreamsGroupHeartbeatRequest(
            group_id=options.pop("group_id", self.group),
            member_id=member,
            member_epoch=epoch,
            endpoint_information_epoch=options.pop("endpoint_epoch", 0),
            instance_id=options.pop("instance", None),
            rack_id=options.pop("rack", None),
            rebalance_timeout_ms=options.pop("rebalance", -1),
            topology=options.pop("topology", None),
            active_tasks=self.tasks(active),
            standby_tasks=self.tasks(options.pop("standby", None)),
            warmup_tasks=self.tasks(options.pop("warmup", None)),
            process_id=options.pop("process", None),
            user_endpoint=options.pop("endpoint", None),
            client_tags=None if tags is None else [KeyValue(*tag) for tag in tags],
            task_offsets=options.pop("offsets", None),
            task_end_offsets=options.pop("end_offsets", None),
            shutdown_application=options.pop("shutdown", False),
        )
        assert not options, options
        return request

    def beat_as(self, member: str, epoch: int, who: str = "a", **options: Any) -> Any:
        """A heartbeat."""
        return self.ask(self.request(member, epoch, options), 0, who)

    def start(self, member: str, topology: Topology | None = None, who: str = "a", **options: Any) -> Any:
        """The first heartbeat of a member."""
        defaults: dict[str, Any] = {
            "rebalance": 30_000,
            "active": (),
            "process": f"p-{member}",
            "topology": topology or self.plain(),
        }
        return self.beat_as(member, 0, who, **{**defaults, **options})

    def stop(self, member: str, who: str = "a", **options: Any) -> Any:
        return self.beat_as(member, -1, who, **options)

    def quiet(self, member: str, epoch: int, who: str = "a", **options: Any) -> Any:
        """A heartbeat that is not written down. A member that comes with another client id has changed."""
        return self._client(who).request(self.request(member, epoch, options), 0)

    def show_group(self, *groups: str) -> Any:
        """What StreamsGroupDescribe says."""
        return self.ask(StreamsGroupDescribeRequest(list(groups or (self.group,)), True), 0)

    def quiet_start(self, member: str) -> None:
        """A member joins, and it is not written down."""
        kept, self.transcript = self.transcript, []
        self.start(member)
        self.transcript = kept

    def member_epoch(self, member: str) -> int:
        """The epoch that a member is in."""
        return next(int(each.member_epoch) for each in self.described().members if each.member_id == member)

    def described(self) -> Any:
        return self._client("x").request(StreamsGroupDescribeRequest([self.group], False), 0).groups[0]

    def make_named(self, name: str, partitions: int) -> None:
        """Create a topic of that name."""
        topics = [CreatableTopic(name, partitions, 1)]
        self._client("setup").request(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 7)
        self.wait_for_topic(name, partitions)

    def wait_for_internal(self, label: str, partitions: int) -> None:
        """Until the coordinator has learned of an internal topic; then write down what it is like."""
        name = self.name(label)
        self.wait_for_topic(name, partitions)
        request = DescribeConfigsRequest([DescribeConfigsResource(2, name, None)], False, False)
        configs = self._client("x").request(request, 4).results[0].configs
        own = sorted([each.name, each.value] for each in configs if each.config_source == 1)
        self.note(f"topic {label}", [partitions, own])

    def listed_in(self, *states: str) -> None:
        """What ListGroups says for state filters."""
        response = self._client("lister").request(ListGroupsRequest(list(states), ["streams"]), 5)
        self.note(f"listed in {states}", [g.group_state for g in response.groups if g.group_id == self.group])
