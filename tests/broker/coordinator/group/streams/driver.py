"""A shard with streams groups on a list, a clock that stands still, and topics that a test changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from odradek.broker.coordinator.group.groups import MetadataChanged, Sender
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import fixed_configs
from odradek.broker.coordinator.group.streams.group import (
    NO_METADATA,
    MemberMetadata,
    Owned,
    StreamsGroup,
    StreamsGroupHeartbeat,
)
from odradek.broker.coordinator.group.streams.progress import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import Status, TopicStatus, Topology
from odradek.broker.coordinator.group.topics import TopicFacts
from odradek.broker.runtime.machine import Command, Effect
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_heartbeat as h
from odradek.protocol.generated.stored.streams_group_topology import Subtopology, TopicInfo
from tests.fakes.clocks import clock_at
from tests.fakes.group_driver import START_MS
from tests.fakes.journal import FakeJournal

PLAIN = Topology(0, {"0": Subtopology("0", ["t"])})
"""Reads topic "t"."""
COUNTING = Topology(0, {"0": Subtopology("0", ["t"], state_changelog_topics=[TopicInfo("counts-changelog")])})
"""Reads topic "t" and keeps state."""
AT_ONCE = {"group.streams.initial.rebalance.delay.ms": "0", "group.streams.assignment.interval.ms": "0"}


def facts(name: str, partitions: int) -> TopicFacts:
    return TopicFacts(name, name.encode().rjust(16, b"\0")[-16:], ((),) * partitions)


class Topics:
    """See `TopicSource`."""

    def __init__(self, **counts: int) -> None:
        self.facts = {name: facts(name, partitions) for name, partitions in counts.items()}

    def put(self, name: str, partitions: int) -> None:
        self.facts[name] = facts(name, partitions)

    def named(self, name: str) -> TopicFacts | None:
        return self.facts.get(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        return next((each for each in self.facts.values() if each.topic_id == topic_id), None)

    def names(self) -> list[str]:
        return list(self.facts)


def owned(tasks: Mapping[str, Sequence[int]] | Sequence[int] | None, standby: Sequence[int] = ()) -> Owned | None:
    if tasks is None:
        return None
    active = tasks if isinstance(tasks, Mapping) else ({"0": tasks} if tasks else {})
    return Owned(active, {"0": standby} if standby else {}, {})


def heartbeat(
    group_id: str,
    member_id: str,
    epoch: int,
    *,
    host: str = "",
    client_id: str = "",
    topology: Topology | None = None,
    owned: Owned | None = None,
    endpoint: h.Endpoint | None = None,
    endpoint_epoch: int = 0,
    shutdown: bool = False,
    **options: Any,
) -> StreamsGroupHeartbeat:
    """A heartbeat; ``options``: further fields of the request."""
    active, standby, warmup = (None, None, None) if owned is None else (_rows(role) for role in owned)
    request = h.StreamsGroupHeartbeatRequest(
        group_id,
        member_id,
        epoch,
        endpoint_epoch,
        topology=None if topology is None else _sent(topology),
        active_tasks=active,
        standby_tasks=standby,
        warmup_tasks=warmup,
        user_endpoint=endpoint,
        shutdown_application=shutdown,
        **options,
    )
    return StreamsGroupHeartbeat(request, Sender(client_id, host, 0))


def _rows(tasks: Mapping[str, Sequence[int]]) -> list[h.TaskIds]:
    return [h.TaskIds(name, list(partitions)) for name, partitions in tasks.items()]


def _sent(topology: Topology) -> h.Topology:
    def topics(rows: Sequence[TopicInfo]) -> list[h.TopicInfo]:
        return [h.TopicInfo(each.name, each.partitions, each.replication_factor) for each in rows]

    subtopologies = [
        h.Subtopology(
            each.subtopology_id,
            each.source_topics,
            each.source_topic_regex,
            topics(each.state_changelog_topics),
            each.repartition_sink_topics,
            topics(each.repartition_source_topics),
        )
        for each in topology.subtopologies.values()
    ]
    return h.Topology(topology.epoch, subtopologies)


class Told(NamedTuple):
    """What a heartbeat is answered. ``assigned``: None if it has not changed."""

    member_id: str
    member_epoch: int
    statuses: list[Status]
    assigned: Owned | None
    endpoint_epoch: int
    endpoints: list[h.EndpointToPartitions] | None


def told(reply: Any) -> Any:
    """The reply to a command, that to a heartbeat as `Told`."""
    if not isinstance(reply, h.StreamsGroupHeartbeatResponse):
        return reply
    assigned = None
    if reply.active_tasks is not None and reply.standby_tasks is not None and reply.warmup_tasks is not None:
        active, standby, warmup = reply.active_tasks, reply.standby_tasks, reply.warmup_tasks
        assigned = Owned(*({row.subtopology_id: row.partitions for row in role} for role in (active, standby, warmup)))
    statuses = [Status(TopicStatus(row.status_code), row.status_detail) for row in reply.status or ()]
    return Told(
        reply.member_id,
        reply.member_epoch,
        statuses,
        assigned,
        reply.endpoint_information_epoch,
        reply.partitions_by_user_endpoint,
    )


def in_process(process_id: str) -> MemberMetadata:
    """The metadata of a member of that process."""
    return NO_METADATA.replace(process_id=process_id)


class StreamsDriver:
    """``creates``: whether internal topics that are missing come into being."""

    def __init__(
        self, configs: Mapping[str, str] | None = None, *, journal: FakeJournal | None = None, **counts: int
    ) -> None:
        self.configs = fixed_configs({**AT_ONCE, **(configs or {})})
        self.topics = Topics(**(counts or {"t": 4}))
        self.journal = journal or FakeJournal()
        self.clock = clock_at(START_MS)
        self.effects: list[Effect] = []
        self.creates = True
        self.shard = self._shard()

    def _shard(self) -> Shard[GroupMachine]:
        shard: Shard[GroupMachine] = Shard(
            "__consumer_offsets-0",
            0,
            lambda: GroupMachine(configs=self.configs, topics=self.topics),
            self.journal,
            self.clock,
            handle_effect=self._handle_effect,
        )
        shard.start()
        while shard.state is ShardState.LOADING:
            shard.load_slice()
        return shard

    def _handle_effect(self, shard: Shard[GroupMachine], effect: Effect) -> None:
        self.effects.append(effect)
        if isinstance(effect, CreateInternalTopics) and self.creates:
            for topic in effect.topics:
                self.topics.put(topic.name, topic.partitions)
            shard.post(MetadataChanged([topic.name for topic in effect.topics]))

    def reload(self) -> None:
        """What another broker would load from this log."""
        self.shard = self._shard()

    @property
    def machine(self) -> GroupMachine:
        return self.shard.machine

    @property
    def group(self) -> StreamsGroup:
        group = self.machine.group("g")
        assert isinstance(group, StreamsGroup)
        return group

    def ask(self, command: Command[Any]) -> Any:
        return told(self.shard.ask_now(command))

    def beat(self, member_id: str, epoch: int, **options: Any) -> Told:
        options["owned"] = owned(options.pop("active", None), options.pop("standby", ()))
        group_id = options.pop("group_id", "g")
        reply: Told = self.ask(heartbeat(group_id, member_id, epoch, host="/h", **options))
        return reply

    def join(self, member_id: str, topology: Topology = PLAIN, **options: Any) -> Told:
        reply: Told = self.ask(self.joining(member_id, topology, **options))
        return reply

    @staticmethod
    def joining(member_id: str, topology: Topology = PLAIN, **options: Any) -> StreamsGroupHeartbeat:
        defaults: dict[str, Any] = {"rebalance_timeout_ms": 30_000, "process_id": f"p-{member_id}"}
        told = {**defaults, **options, "topology": topology, "owned": owned(()), "host": "/h"}
        return heartbeat("g", member_id, 0, **told)

    def leave(self, member_id: str, **options: Any) -> Told:
        return self.beat(member_id, -1, **options)

    def error(self, command: Command[Any]) -> tuple[ErrorCode, str | None]:
        """What a command is refused with."""
        try:
            reply = self.shard.ask_now(command)
        except KafkaError as error:
            return error.code, error.message
        raise AssertionError(f"{command!r} was answered {reply!r}")

    def attempt(self, command: Command[Any], *refusals: ErrorCode) -> Any:
        """The reply, or None for one of these refusals; any other is the test's failure."""
        try:
            return told(self.shard.ask_now(command))
        except KafkaError as error:
            if error.code not in refusals:
                raise
            return None

    def change_topic(self, name: str, partitions: int) -> None:
        self.topics.put(name, partitions)
        self.ask(MetadataChanged([name]))

    def delete_topic(self, name: str) -> None:
        del self.topics.facts[name]
        self.ask(MetadataChanged([name]))

    def wait(self, ms: int) -> None:
        """Let time pass, a timer at a time."""
        end = self.clock.now_ms() + ms
        while (due := self.shard.timers.next_due_ms()) is not None and due <= end:
            self.clock.advance(max(0, due - self.clock.now_ms()) / 1000)
            self.shard.fire_due()
        self.clock.advance((end - self.clock.now_ms()) / 1000)

    def epoch(self, member_id: str) -> int:
        return self.group.members[member_id].epoch

    def honest_beat(self, member_id: str) -> Told:
        """A heartbeat of a member that owns exactly what it was assigned."""
        member = self.group.members[member_id]
        active = {name: list(tasks) for name, tasks in member.assigned.active.items()}
        standby = {name: list(tasks) for name, tasks in member.assigned.standby.items()}
        command = heartbeat("g", member_id, member.epoch, host="/h", owned=Owned(active, standby, {}))
        reply: Told = self.ask(command)
        return reply

    def settle(self) -> None:
        """Honest heartbeats of all until nothing comes of them."""
        before = -1
        while before != self.journal.end_offset:
            before = self.journal.end_offset
            for member_id in list(self.group.members):
                self.honest_beat(member_id)

    def tasks(self) -> dict[str, tuple[list[tuple[str, int]], list[tuple[str, int]]]]:
        """Active and standby tasks that each member has."""
        return {
            member_id: (
                sorted((name, task) for name, tasks in member.assigned.active.items() for task in tasks),
                sorted((name, task) for name, tasks in member.assigned.standby.items() for task in tasks),
            )
            for member_id, member in self.group.members.items()
        }


def durable(group: StreamsGroup) -> dict[str, Any]:
    """All that the log must be able to rebuild."""
    return {
        "group_id": group.group_id,
        "epoch": group.epoch,
        "metadata_hash": group.metadata_hash,
        "assignment_epoch": group.assignment_epoch,
        "assignment_timestamp": group.assignment_timestamp,
        "members": group.members,
        "validated_topology_epoch": group.validated_topology_epoch,
        "assignment_configs": group.assignment_configs,
        "topology": group.topology,
        "targets": group.targets,
        "holders": [getattr(group.holders, role) for role in ("_active", "_standby", "_warmup")],
    }
