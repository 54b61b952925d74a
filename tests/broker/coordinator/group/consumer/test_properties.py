"""Whatever happens to a consumer group: nobody owns what another one owns, and the log rebuilds it."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.coordinator.group.classic.group import Heartbeat
from odradek.broker.coordinator.group.epoch_group import AWAY
from odradek.protocol.consumer_protocol import (
    ConsumerProtocolSubscription,
    OwnedPartitions,
    decode_assignment,
    encode_subscription,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from tests.fakes.consumer_group_driver import Client, ConsumerDriver, Place, hard_state
from tests.fakes.examples import examples
from tests.fakes.group_driver import join_group, leave_group, sync_group

TOPICS = ("t", "u", "v")
NAMES = ("a", "b", "c", "d")
CONFIG = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.session.timeout.ms": "5000",
    "group.consumer.session.timeout.ms": "10000",
    "group.consumer.migration.policy": "UPGRADE",
}
joining = st.sampled_from([("t",), ("t",), ("t", "u"), ("u", "v"), ("t", "u", "v")])
"""Topics of a member that joins: at least one. To Kafka a newcomer without topics changes no subscription. So an
assignment that is due then still takes the group as homogeneous, and gives partitions to a member that wants none."""
subscriptions = joining | st.just(())


class ClassicClient:
    """A consumer of the classic protocol in a consumer group: it joins again whenever it is told to."""

    def __init__(self, driver: ConsumerDriver, member_id: str) -> None:
        self.driver = driver
        self.member_id = member_id
        self.topics: tuple[str, ...] = ()
        self.generation = -1
        self.owned: set[Place] = set()

    def join(self, *topics: str) -> None:
        self.topics = topics
        rows: dict[str, list[int]] = {}
        for topic_id, index in sorted(self.owned):
            facts = self.driver.topics.by_id(topic_id)
            if facts is not None:
                rows.setdefault(facts.name, []).append(index)
        owned = [OwnedPartitions(name, indexes) for name, indexes in rows.items()]
        metadata = encode_subscription(ConsumerProtocolSubscription(list(topics), None, owned), 1)
        command = join_group(
            "g",
            self.member_id,
            [("cooperative-sticky", metadata)],
            client_id="",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=30_000,
            version=9,
        )
        joined = self.driver.ask(command)
        assert joined.error_code == ErrorCode.NONE, joined
        self.generation = joined.generation_id
        synced = self.driver.ask(sync_group("g", self.member_id, self.generation))
        if synced.error_code == ErrorCode.NONE:
            assignment, _ = decode_assignment(synced.assignment)
            places = {
                (self._id(row.topic), index) for row in assignment.assigned_partitions for index in row.partitions
            }
            gone = self.owned - places
            self.owned = places
            if gone:
                self.join(*topics)

    def _id(self, name: str) -> bytes:
        facts = self.driver.topics.named(name)
        assert facts is not None
        return facts.topic_id

    def beat(self, *, lost: bool = False, slow: bool = False) -> None:
        try:
            code = self.driver.ask(Heartbeat(HeartbeatRequest("g", self.generation, self.member_id))).error_code
        except KafkaError as error:
            code = error.code
        if code != ErrorCode.NONE:
            if code != ErrorCode.REBALANCE_IN_PROGRESS:
                self.owned = set()
            self.join(*self.topics)

    def leave(self) -> None:
        self.driver.ask(leave_group("g", [(self.member_id, None)]))
        self.owned = set()


class GroupLife(RuleBasedStateMachine):
    """Members of both protocols that come, go, die and are slow; topics that change; a coordinator that moves."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = ConsumerDriver(CONFIG)
        self.clients: dict[str, Client | ClassicClient] = {}
        self.away: dict[str, str] = {}
        self.number = 0

    def _free_name(self) -> str:
        return next(name for name in NAMES if name not in self.clients)

    def _fresh(self, name: str) -> str:
        self.number += 1
        return f"{name}{self.number}"

    # -- members

    @initialize(topics=st.tuples(joining, joining))
    def begin(self, topics: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        for each in topics:
            self.join(each, static=False)

    @precondition(lambda self: len(self.clients) < len(NAMES))
    @rule(topics=joining, static=st.booleans())
    def join(self, topics: tuple[str, ...], static: bool) -> None:
        name = self._free_name()
        client = Client(self.driver, self._fresh(name), f"i-{name}" if static else None)
        if name in self.away:
            client.instance_id = self.away.pop(name)
        self.clients[name] = client
        try:
            client.join(*topics)
        except KafkaError as error:
            _expect(error, ErrorCode.UNRELEASED_INSTANCE_ID)
            del self.clients[name]

    @precondition(lambda self: len(self.clients) < len(NAMES))
    @rule(topics=joining)
    def join_as_classic(self, topics: tuple[str, ...]) -> None:
        name = self._free_name()
        if name in self.away or not any(isinstance(client, Client) for client in self.clients.values()):
            return
        client = ClassicClient(self.driver, self._fresh(name))
        self.clients[name] = client
        client.join(*topics)

    @rule(name=st.sampled_from(NAMES), lost=st.booleans(), slow=st.booleans())
    def beat(self, name: str, lost: bool, slow: bool) -> None:
        if name in self.clients:
            self.clients[name].beat(lost=lost, slow=slow)

    @rule(name=st.sampled_from(NAMES), topics=subscriptions)
    def subscribe(self, name: str, topics: tuple[str, ...]) -> None:
        client = self.clients.get(name)
        if client is not None:
            client.topics = topics
            if isinstance(client, ClassicClient):
                client.join(*topics)
            else:
                client.beat()

    @rule(name=st.sampled_from(NAMES))
    def leave(self, name: str) -> None:
        client = self.clients.pop(name, None)
        if client is not None:
            _quietly(client.leave)

    @rule(name=st.sampled_from(NAMES))
    def go_away(self, name: str) -> None:
        client = self.clients.get(name)
        if isinstance(client, Client) and client.instance_id is not None:
            del self.clients[name]
            self.away[name] = client.instance_id
            _quietly(client.leave, AWAY)

    @rule(name=st.sampled_from(NAMES))
    def die(self, name: str) -> None:
        self.clients.pop(name, None)

    # -- the world

    @rule(name=st.sampled_from(TOPICS), partitions=st.integers(0, 5))
    def change_topic(self, name: str, partitions: int) -> None:
        known = self.driver.topics.named(name)
        if partitions == 0 or known is None or partitions > known.partitions:
            self.driver.change_topic(name, partitions)

    @rule(seconds=st.sampled_from([0.1, 3, 9, 31]))
    def wait(self, seconds: float) -> None:
        """Time passes; who has not died tells so in between."""
        for _ in range(int(seconds // 3) + 1):
            for client in list(self.clients.values()):
                client.beat()
            self.driver.wait(min(seconds, 3))

    @rule()
    def reload(self) -> None:
        self.driver.shard.reload()
        while not self.driver.shard.is_active:
            self.driver.shard.load_slice()

    # -- what holds

    @invariant()
    def nobody_owns_what_another_one_has(self) -> None:
        group = self.driver.present
        if group is None:
            return
        holders: dict[Place, str] = {}
        for member in group.members.values():
            for epochs in (member.assigned, member.revoking):
                for topic_id, partitions in epochs.items():
                    for index in partitions:
                        assert (topic_id, index) not in holders, (member, holders)
                        holders[topic_id, index] = member.member_id
                        assert group.is_held(topic_id, index)
        for client in self.clients.values():
            if client.member_id in group.members:
                for place in client.owned:
                    assert holders.get(place) == client.member_id, (place, client.member_id, holders)

    @rule()
    def the_log_rebuilds_it(self) -> None:
        assert hard_state(self.driver.rebuilt()) == hard_state(self.driver.present)

    def teardown(self) -> None:
        """Left alone, the group settles, and every partition of its topics has one owner.

        Where only classic members are left and the group may not be downgraded, nothing tells them to join again when
        the last other member dies, or a topic changes (as in Kafka): the assignment waits for somebody who joins.
        """
        for _ in range(20):
            for client in list(self.clients.values()):
                client.beat()
            self.driver.wait(3)
            if self.clients and self._only_classic_members_are_left():
                client = self.clients[min(self.clients)]
                client.join(*client.topics)
        group = self.driver.present
        if group is None:
            return
        assert set(group.members) == {client.member_id for client in self.clients.values()}
        if not self.clients:
            assert group.state_name == "Empty"
            return
        assert group.state_name == "Stable"
        assert self._owned() == self._wanted()

    def _only_classic_members_are_left(self) -> bool:
        group = self.driver.present
        alone = group is not None and 0 < len(group.members) == group.classic_members
        return alone and group is not None and (group.state_name == "Assigning" or self._owned() != self._wanted())

    def _wanted(self) -> list[Place]:
        wanted: set[Place] = set()
        for client in self.clients.values():
            for facts in filter(None, map(self.driver.topics.named, client.topics)):
                wanted |= {(facts.topic_id, index) for index in range(facts.partitions)}
        return sorted(wanted)

    def _owned(self) -> list[Place]:
        return sorted(place for client in self.clients.values() for place in client.owned)


def _quietly(action: Any, *arguments: Any) -> None:
    try:
        action(*arguments)
    except KafkaError as error:
        _expect(error, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)


def _expect(error: KafkaError, *codes: ErrorCode) -> None:
    if error.code not in codes:
        raise error


TestGroupLife = GroupLife.TestCase
TestGroupLife.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
