"""A group machine with share groups, its log, and a share coordinator that always agrees."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

from odradek.broker.coordinator.group.groups import Sender
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import fixed_configs
from odradek.broker.coordinator.group.share import group as c
from odradek.broker.coordinator.group.share.group import ShareGroup
from odradek.broker.coordinator.group.topics import TopicFacts
from odradek.broker.runtime.machine import Command, LogRecord, Outcome
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

TOPIC = bytes(15) + b"\1"
OTHER = bytes(15) + b"\2"


class Topics:
    """Topics that a test changes."""

    def __init__(self) -> None:
        self.facts = {"t": self._topic("t", TOPIC, 2)}

    @staticmethod
    def _topic(name: str, topic_id: bytes, partitions: int) -> TopicFacts:
        return TopicFacts(name, topic_id, ((),) * partitions)

    def put(self, name: str, topic_id: bytes, partitions: int) -> None:
        self.facts[name] = self._topic(name, topic_id, partitions)

    def named(self, name: str) -> TopicFacts | None:
        return self.facts.get(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        return next((facts for facts in self.facts.values() if facts.topic_id == topic_id), None)

    def names(self) -> list[str]:
        return list(self.facts)


class Told(NamedTuple):
    """What a heartbeat is answered; ``assigned`` by topic id, None if it has not changed."""

    member_epoch: int
    heartbeat_interval_ms: int
    assigned: dict[bytes, tuple[int, ...]] | None


class ShareDriver:
    """Asks, appends, replays and executes effects, as a shard does. ``refuse``: the share coordinator is not there."""

    def __init__(self, **configs: str) -> None:
        self.configs = fixed_configs(
            {"group.share.assignment.interval.ms": "0"} | {k.replace("_", "."): v for k, v in configs.items()}
        )
        self.topics = Topics()
        self.log: list[LogRecord] = []
        self.machine = self.fresh()
        self.refuse = False
        self.now_ms = 1_000_000
        self.initialized: list[tuple[int, dict[bytes, list[int]]]] = []

    def fresh(self) -> GroupMachine:
        ids = count()
        return GroupMachine(new_id=lambda: str(next(ids)), configs=self.configs, topics=self.topics)

    def ask(self, command: Command[Any]) -> Outcome[Any]:
        outcome = self.machine.decide(command, self.now_ms)
        for new in outcome.records:
            offset = len(self.log)
            self.log.append(LogRecord(new.key, new.value, offset, -1, -1))
            self.replay(LogRecord(new.key, new.value, offset, -1, -1, new.decoded))
        more = () if outcome.then is None else outcome.then()
        for effect in (*outcome.effects, *more):
            if isinstance(effect, c.InitializeStates):
                self.initialized.append((effect.state_epoch, {k: list(v) for k, v in effect.places.items()}))
                self.ask(c.StatesInitialized(effect.group_id, effect.places, failed=self.refuse))
            elif isinstance(effect, c.DeleteStates):
                self.ask(c.EndDeleteGroup(effect.group_id))
        return outcome

    def replay(self, record: LogRecord) -> None:
        self.machine.replay(record)

    def beat(self, member: str, epoch: int, *topics: str, group: str = "g", rack: str | None = None) -> Told:
        response = self.ask(self.heartbeat(member, epoch, *topics, group=group, rack=rack)).reply
        given = None
        if response.assignment is not None:
            given = {row.topic_id: tuple(row.partitions) for row in response.assignment.topic_partitions}
        return Told(response.member_epoch, response.heartbeat_interval_ms, given)

    @staticmethod
    def heartbeat(
        member: str, epoch: int, *topics: str, group: str = "g", rack: str | None = None
    ) -> c.ShareGroupHeartbeat:
        request = ShareGroupHeartbeatRequest(group, member, epoch, rack, list(topics) or None)
        return c.ShareGroupHeartbeat(request, Sender("c", "/h", 1))

    def settle(self, *members: str) -> None:
        """Heartbeats until nothing comes of them."""
        for _ in range(6):
            for member in members:
                self.beat(member, self.group.members[member].epoch)

    @property
    def group(self) -> ShareGroup:
        group = self.machine.group("g")
        assert isinstance(group, ShareGroup)
        return group

    def loaded(self) -> GroupMachine:
        machine = self.fresh()
        for record in self.log:
            machine.replay(record)
        return machine

    def held(self) -> dict[str, set[tuple[bytes, int]]]:
        """What each member has."""
        return {
            member_id: {(topic, index) for topic, indexes in member.assigned.items() for index in indexes}
            for member_id, member in self.group.members.items()
        }
