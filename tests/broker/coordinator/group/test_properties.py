"""Whatever clients do: the log can rebuild the state, and every command gets one reply."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.coordinator.group.classic import rebalance
from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.classic.states import EMPTY, PREPARING_REBALANCE, STABLE
from odradek.broker.coordinator.group.groups import (
    DeleteGroup,
    DeleteOffsets,
    ForgetPartitions,
    OffsetToCommit,
)
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Command, Producer
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.primitives import ZERO_UUID
from tests.fakes.examples import examples
from tests.fakes.group_driver import GroupDriver, hard_state, leave_group, rebuilt, txn_offset_commit
from tests.fakes.shard_stage import submitted

groups = st.sampled_from(["g", "h"])
topics = st.sampled_from(["t", "u"])
partitions = st.integers(0, 1)
producers = st.integers(1, 2)
instances = st.sampled_from([None, None, "i", "j"])
protocols = st.sampled_from([("range",), ("range", "sticky"), ("sticky", "range"), ("sticky",)])
SETTINGS = GroupSettings(offsets_retention_ms=3_600_000, max_size=4)


class Client:
    """What a client remembers of its membership."""

    def __init__(self, group_id: str, instance_id: str | None, version: int) -> None:
        self.group_id = group_id
        self.instance_id = instance_id
        self.version = version
        self.member_id = ""
        self.generation = -1
        self.members: list[str] = []
        self.joining: ReplySlot[Any] | None = None

    def learn(self) -> None:
        slot, self.joining = self.joining, None
        if slot is None or not slot.done:
            self.joining = slot
            return
        try:
            answer = slot.result()
        except KafkaError:
            return
        if answer.error_code in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.member_id = answer.member_id
        if answer.error_code == ErrorCode.NONE:
            self.generation = answer.generation_id
            self.members = [m.member_id for m in answer.members]


def picture(group: ClassicGroup) -> tuple[Any, ...]:
    """All that members and administrators can see of a group at rest."""
    members = {
        m.member_id: (
            m.instance_id,
            m.client_id,
            m.client_host,
            m.session_timeout_ms,
            m.rebalance_timeout_ms,
            m.metadata(group.protocol or ""),
            m.assignment,
        )
        for m in group.members.values()
    }
    return (
        group.state,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader,
        list(members),
        members,
        group.static_members,
        group.subscribed_topics,
    )


class Groups(RuleBasedStateMachine):
    """Random clients of two groups; some forget what they were told, some come back, some never do."""

    clients = Bundle("clients")

    @initialize(delay=st.sampled_from([0, 3_000]), pauses=st.booleans())
    def begin(self, delay: int, pauses: bool) -> None:
        self.driver = GroupDriver(SETTINGS._replace(initial_rebalance_delay_ms=delay), pauses=pauses)
        self.pauses = patch.object(rebalance, "_MEMBERS_PER_PAUSE_MS", 2)
        self.pauses.start()
        self.slots: list[ReplySlot[Any]] = []

    def give(self, command: Command[Any]) -> ReplySlot[Any]:
        slot = submitted(self.driver.shard, command)
        self.slots.append(slot)
        return slot

    # -- members

    @rule(target=clients, group=groups, instance=instances, version=st.sampled_from([3, 5, 9]))
    def client(self, group: str, instance: str | None, version: int) -> Client:
        return Client(group, instance if version >= 5 else None, version)

    @rule(client=clients, protocols=protocols, forgetful=st.booleans())
    def join(self, client: Client, protocols: tuple[str, ...], forgetful: bool) -> None:
        client.learn()
        slot = self.driver.join(
            "" if forgetful else client.member_id,
            client.group_id,
            protocols=protocols,
            instance_id=client.instance_id,
            version=client.version,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
        )
        self.slots.append(slot)
        client.joining = slot
        client.learn()

    @rule(client=clients)
    def sync(self, client: Client) -> None:
        client.learn()
        assignments = {member: member.encode() for member in client.members}
        options: dict[str, Any] = {"group_id": client.group_id, "instance_id": client.instance_id}
        self.slots.append(self.driver.sync(client.member_id, client.generation, assignments, **options))

    @rule(client=clients)
    def heartbeat(self, client: Client) -> None:
        client.learn()
        self.driver.beat(client.member_id, client.generation, group_id=client.group_id)

    @rule(client=clients, by_instance=st.booleans())
    def leave(self, client: Client, by_instance: bool) -> None:
        client.learn()
        who = ("", client.instance_id) if by_instance else (client.member_id, None)
        self.give(leave_group(client.group_id, [who]))

    # -- offsets

    @rule(client=clients, topic=topics, partition=partitions, offset=st.integers(0, 99))
    def commit(self, client: Client, topic: str, partition: int, offset: int) -> None:
        client.learn()
        options: dict[str, Any] = {"member_id": client.member_id, "generation_id": client.generation}
        command = self.driver.commit_command(
            offset, topic=topic, partition=partition, group_id=client.group_id, **options
        )
        self.give(command)

    @rule(group=groups, topic=topics, partition=partitions, offset=st.integers(0, 99))
    def commit_without_membership(self, group: str, topic: str, partition: int, offset: int) -> None:
        self.give(self.driver.commit_command(offset, topic=topic, partition=partition, group_id=group))

    @rule(group=groups, topic=topics, partition=partitions, producer=producers, offset=st.integers(0, 99))
    def commit_in_transaction(self, group: str, topic: str, partition: int, producer: int, offset: int) -> None:
        offsets = [OffsetToCommit(topic, ZERO_UUID, partition, offset, -1, None)]
        self.give(txn_offset_commit(group, offsets, producer_id=producer, producer_epoch=0))

    @rule(producer=producers, commit=st.booleans())
    def end_transaction(self, producer: int, commit: bool) -> None:
        self.driver.shard.complete_transaction(Producer(producer, 0), commit, 0)

    @rule(group=groups, topic=topics, partition=partitions)
    def delete_offset(self, group: str, topic: str, partition: int) -> None:
        self.give(DeleteOffsets(group, [(topic, partition)]))

    @rule(group=groups)
    def delete_group(self, group: str) -> None:
        self.give(DeleteGroup(group))

    @rule(topic=topics)
    def delete_topic(self, topic: str) -> None:
        self.give(ForgetPartitions([(topic, 0), (topic, 1)]))

    # -- the world

    @rule(seconds=st.sampled_from([0.002, 0.06, 1, 5, 9, 21, 700, 4000]))
    def time_passes(self, seconds: float) -> None:
        self.driver.wait(seconds=seconds)

    @rule(seconds=st.sampled_from([30, 8_000]))
    def time_jumps(self, seconds: int) -> None:
        self.driver.clock.advance(seconds)
        self.driver.shard.fire_due()

    @rule()
    def reload(self) -> None:
        self.driver.shard.reload()
        self.driver.load()

    @rule(client=clients, code=st.sampled_from([ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.KAFKA_STORAGE_ERROR]))
    def the_log_refuses_a_while(self, client: Client, code: ErrorCode) -> None:
        before = hard_state(rebuilt(self.driver.journal))
        self.driver.journal.refuse = KafkaError(code)
        self.sync(client)
        self.join(client, ("range",), True)
        self.commit(client, "t", 0, 3)
        self.leave(client, False)
        self.driver.wait(seconds=25)
        self.driver.journal.refuse = None
        assert hard_state(self.driver.machine) == before

    # -- what holds

    @invariant()
    def the_log_can_rebuild_the_state(self) -> None:
        live = hard_state(self.driver.machine)
        assert hard_state(rebuilt(self.driver.journal.copy())) == live
        assert hard_state(rebuilt(self.driver.journal.compacted())) == live

    @invariant()
    def who_waits_is_parked(self) -> None:
        self.slots = [slot for slot in self.slots if not slot.done]
        assert len(self.slots) == self.driver.shard.parked

    @invariant()
    def groups_are_what_their_records_say(self) -> None:
        """A group at rest is what a coordinator that loads the log would make of it."""
        loaded = rebuilt(self.driver.journal.copy())
        for group_id, stored in self.driver.machine.classic.stored.items():
            live = self.driver.machine.groups.find(group_id, ClassicGroup)
            again = loaded.groups.find(group_id, ClassicGroup)
            assert live is not None
            assert again is not None
            if live.state not in (STABLE, EMPTY):
                assert again.generation <= live.generation
            elif live.generation == stored.generation:
                assert picture(live) == picture(again)
            else:
                assert live.state is EMPTY, "only the record of an empty group may be refused without consequence"
                assert live.generation > stored.generation

    @invariant()
    def groups_fit_together(self) -> None:
        for group_id in self.driver.machine.groups.ids():
            group = self.driver.machine.groups.find(group_id, ClassicGroup)
            assert group is not None
            assert group.awaiting_join == sum(m.join_ticket is not None for m in group.members.values())
            assert set(group.static_members.values()) <= set(group.members)
            assert group.leader is None or group.leader in group.members
            assert (group.join_phase is not None) == (group.state is PREPARING_REBALANCE)
            assert (group.state is EMPTY) <= (not group.members)

    def teardown(self) -> None:
        if not hasattr(self, "driver"):
            return
        self.pauses.stop()
        self.driver.wait(seconds=400)
        assert self.driver.shard.parked == 0, "nobody waits for ever"


Groups.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
TestGroups = Groups.TestCase
