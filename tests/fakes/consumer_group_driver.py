"""A group shard with topics that change, and members of the consumer protocol that behave as clients do."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from odradek.broker.coordinator.group.consumer.group import ConsumerGroup, ConsumerGroupHeartbeat
from odradek.broker.coordinator.group.groups import MetadataChanged, Sender
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import GroupSettings, fixed_configs
from odradek.broker.coordinator.group.topics import TopicFacts
from odradek.broker.runtime.machine import Command, Effect
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.clocks import clock_at
from tests.fakes.group_driver import START_MS
from tests.fakes.journal import FakeJournal

Place = tuple[bytes, int]
NO_INTERVAL = {"group.consumer.assignment.interval.ms": "0"}


class ChangingTopics:
    """A `TopicSource` that a test changes."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicFacts] = {}
        self._numbers = count(1)

    def put(self, name: str, partitions: int) -> None:
        """Make a topic, or make it larger."""
        known = self.topics.get(name)
        topic_id = uuid.UUID(int=next(self._numbers) << 64 | 1).bytes if known is None else known.topic_id
        self.topics[name] = TopicFacts(name, topic_id, ((),) * partitions)

    def delete(self, name: str) -> None:
        self.topics.pop(name, None)

    def named(self, name: str) -> TopicFacts | None:
        return self.topics.get(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)

    def names(self) -> Iterable[str]:
        return list(self.topics)


class ConsumerDriver:
    """One shard with one group "g" and topics "t" (4 partitions) and "u" (2)."""

    def __init__(
        self,
        config: Mapping[str, str] = NO_INTERVAL,
        *,
        groups: Mapping[str, Mapping[str, str]] | None = None,
        journal: FakeJournal | None = None,
        topics: ChangingTopics | None = None,
        new_short_id: Callable[[], str] | None = None,
    ) -> None:
        self.journal = journal or FakeJournal()
        self.clock = clock_at(START_MS)
        self.topics = topics or ChangingTopics()
        if topics is None:
            self.topics.put("t", 4)
            self.topics.put("u", 2)
        self.changes: list[str] = []
        numbers = count(1)
        configs = fixed_configs(config, groups)
        self.shard: Shard[GroupMachine] = Shard(
            "__consumer_offsets-0",
            0,
            lambda: GroupMachine(
                GroupSettings(),
                lambda: str(uuid.UUID(int=next(numbers))),
                new_short_id or (lambda: uuid_to_text(next(numbers).to_bytes(16, "big"))),
                configs=configs,
                topics=self.topics,
            ),
            self.journal,
            self.clock,
            handle_effect=self._handle_effect,
        )
        self.shard.start()

    def _handle_effect(self, shard: Shard[Any], effect: Effect) -> None:
        self.changes.append(type(effect).__name__)

    @property
    def group(self) -> ConsumerGroup:
        group = self.shard.machine.groups.find("g", ConsumerGroup)
        assert group is not None
        return group

    @property
    def present(self) -> ConsumerGroup | None:
        return self.shard.machine.groups.find("g", ConsumerGroup)

    # -- asking

    def ask(self, command: Command[Any]) -> Any:
        reply = self.shard.ask_now(command)
        self.shard.fire_due()
        return reply

    def beat(
        self,
        member_id: str,
        epoch: int,
        *,
        topics: Sequence[str] | None = None,
        owned: Mapping[bytes, Iterable[int]] | None = None,
        regex: str | None = None,
        client_id: str = "",
        **options: Any,
    ) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            "g",
            member_id,
            epoch,
            subscribed_topic_names=None if topics is None else list(topics),
            subscribed_topic_regex=regex,
            topic_partitions=None if owned is None else [TopicPartitions(t, list(own)) for t, own in owned.items()],
            **options,
        )
        response: ConsumerGroupHeartbeatResponse = self.ask(ConsumerGroupHeartbeat(request, Sender(client_id, "/h", 1)))
        return response

    def join(
        self, member_id: str, topics: Sequence[str] | None = ("t",), **options: Any
    ) -> ConsumerGroupHeartbeatResponse:
        return self.beat(member_id, 0, topics=topics, owned={}, **{"rebalance_timeout_ms": 30_000, **options})

    def refusal(self, member_id: str, epoch: int, **options: Any) -> tuple[ErrorCode, str]:
        """The error of a heartbeat."""
        try:
            reply = self.beat(member_id, epoch, **options)
        except KafkaError as error:
            return error.code, error.message or ""
        raise AssertionError(f"answered {reply}")

    # -- the world

    def change_topic(self, name: str, partitions: int) -> None:
        """Make, grow or (0 partitions) delete a topic."""
        if partitions:
            self.topics.put(name, partitions)
        else:
            self.topics.delete(name)
        self.shard.post(MetadataChanged([name]))

    def wait(self, seconds: float) -> None:
        end = self.clock.now_ms() + int(1000 * seconds)
        while (due := self.shard.timers.next_due_ms()) is not None and due <= end:
            self.clock.advance(max(0, due - self.clock.now_ms()) / 1000)
            self.shard.fire_due()
        self.clock.advance((end - self.clock.now_ms()) / 1000)
        self.shard.fire_due()

    def rebuilt(self) -> ConsumerGroup | None:
        """The group that another broker would load from this log."""
        other = ConsumerDriver(journal=self.journal, topics=self.topics)
        while not other.shard.is_active:
            other.shard.load_slice()
        return other.present


class Client:
    """A consumer: it gives up what it is no longer given, takes what it is given, and tells what it owns.

    A slow one does so with its next heartbeat only; an answer may get lost.
    """

    def __init__(self, driver: ConsumerDriver, member_id: str, instance_id: str | None = None) -> None:
        self.driver = driver
        self.member_id = member_id
        self.instance_id = instance_id
        self.epoch = 0
        self.topics: tuple[str, ...] = ()
        self.owned: set[Place] = set()
        self._given: set[Place] = set()

    def join(self, *topics: str) -> None:
        """Join, or subscribe to other topics."""
        self.topics = topics
        self.epoch = 0
        self.owned = self._given = set()
        self._take(self.driver.join(self.member_id, topics, instance_id=self.instance_id))

    def beat(self, *, lost: bool = False, slow: bool = False) -> None:
        """One heartbeat; a client that is fenced gives up everything and joins anew.

        A static one has to try until its old session has ended.
        """
        if not slow:
            self.owned = self._given
        try:
            reply = self.driver.beat(
                self.member_id,
                self.epoch,
                instance_id=self.instance_id,
                rebalance_timeout_ms=30_000,
                topics=self.topics,
                owned=by_topic(self.owned),
            )
        except KafkaError as error:
            if error.code is ErrorCode.UNRELEASED_INSTANCE_ID:
                return
            if error.code not in (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID):
                raise
            self._join_again()
            return
        if not lost:
            self._take(reply, slow=slow)

    def _join_again(self) -> None:
        try:
            self.join(*self.topics)
        except KafkaError as error:
            if error.code is not ErrorCode.UNRELEASED_INSTANCE_ID:
                raise

    def leave(self, epoch: int = -1) -> None:
        self.driver.beat(self.member_id, epoch, instance_id=self.instance_id)
        self.owned = set()

    def _take(self, reply: ConsumerGroupHeartbeatResponse, *, slow: bool = False) -> None:
        self.epoch = reply.member_epoch
        if (assigned := given(reply)) is not None:
            self._given = {(topic_id, index) for topic_id, own in assigned.items() for index in own}
        if not slow:
            self.owned = self._given


def given(response: ConsumerGroupHeartbeatResponse) -> dict[bytes, tuple[int, ...]] | None:
    """The assignment in a response by topic id; None without one."""
    if response.assignment is None:
        return None
    return {row.topic_id: tuple(row.partitions) for row in response.assignment.topic_partitions}


def by_topic(places: Iterable[Place]) -> dict[bytes, list[int]]:
    owned: dict[bytes, list[int]] = {}
    for topic_id, index in sorted(places):
        owned.setdefault(topic_id, []).append(index)
    return owned


def hard_state(group: ConsumerGroup | None) -> tuple[Any, ...] | None:
    """All of a group that the log must be able to rebuild."""
    if group is None:
        return None
    return (
        group.epoch,
        group.metadata_hash,
        group.stored_topics,
        group.assignment_epoch,
        group.assignment_timestamp,
        group.members,
        group.static_ids,
        dict(group.target.by_member),
        group.subscriptions.by_name,
        group.subscriptions.by_regex,
        group.regexes,
        group.members_by_regex,
        group.members_by_assignor,
        group.classic_members,
        group.classic_protocols,
        group.holders,
    )
