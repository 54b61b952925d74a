"""Groups of the consumer protocol (KIP-848) with librdkafka, and in Kafka's command-line tools."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.java_host import JavaHost
from tests.scenarios.python_clients import Out, Settings, confluent_consumer
from tests.scenarios.target import Target, unique, wait_until
from tests.scenarios.test_console_tools import CONFLUENT, Shell

COMMAND = "consumer.group.ConsumerGroupCommand"
Place = tuple[str, int]


class Consumer:
    """A member that polls on a thread of its own, until it leaves or dies."""

    def __init__(self, bootstrap: str, group: str, topics: Sequence[str], **more: Any) -> None:
        options = {"group.id": group, "group.protocol": "consumer", "topic.metadata.refresh.interval.ms": 500}
        self._consumer = confluent_consumer(bootstrap, **{**options, **more})
        self._consumer.subscribe(list(topics))
        self._ending = threading.Event()
        self._commits: SimpleQueue[tuple[Place, int]] = SimpleQueue()
        self._committed: SimpleQueue[Exception | None] = SimpleQueue()
        self.owned: set[Place] = set()
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            message = self._consumer.poll(0.02)
            if message is not None and message.error():
                self.failure = confluent_kafka.KafkaException(message.error())
                break
            self.owned = {(each.topic, each.partition) for each in self._consumer.assignment()}
            self._commit_what_is_asked()
        self.owned = set()
        self._consumer.close()

    def commit(self, place: Place, offset: int) -> None:
        """Commit one offset. The polling thread does it: beside its polls, librdkafka may never send a commit."""
        self._commits.put((place, offset))
        failure = self._committed.get(timeout=60)
        if failure is not None:
            raise failure

    def _commit_what_is_asked(self) -> None:
        while not self._commits.empty():
            place, offset = self._commits.get()
            wanted = [confluent_kafka.TopicPartition(*place, offset)]
            try:
                (done,) = self._consumer.commit(offsets=wanted, asynchronous=False)
                self._committed.put(None if done.error is None else confluent_kafka.KafkaException(done.error))
            except confluent_kafka.KafkaException as error:
                self._committed.put(error)

    def leave(self) -> None:
        self._ending.set()
        self._thread.join(60)


Join = Callable[..., Consumer]


@pytest.fixture
def shell(java: JavaHost, broker: Target) -> Shell:
    return Shell(java, broker.bootstrap)


@pytest.fixture
def group(bootstrap: str) -> str:
    """A group whose members tell of themselves ten times a second."""
    name = unique("g848")
    change = ConfigEntry("consumer.heartbeat.interval.ms", "100", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.GROUP, name, incremental_configs=[change])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([resource])[resource].result(60)
    return name


@pytest.fixture
def join(bootstrap: str, group: str) -> Iterator[Join]:
    members: list[Consumer] = []

    def start(*topics: str, **more: Any) -> Consumer:
        members.append(Consumer(bootstrap, group, topics, **more))
        return members[-1]

    yield start
    for member in members:
        member.leave()


def _shared(members: Sequence[Consumer], topic: str, partitions: int) -> None:
    everything = {(topic, index) for index in range(partitions)}

    def even() -> bool:
        for member in members:
            if member.failure is not None:
                raise member.failure
        owned = [member.owned for member in members]
        share = partitions // len(members)
        return set().union(*owned) == everything and all(len(each) == share for each in owned)

    wait_until(f"{partitions} partitions shared by {len(members)}", even)


def test_members_of_the_consumer_protocol_join_and_leave(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=6)
    members = [join(topic)]
    _shared(members, topic, 6)
    for _ in range(2):
        members.append(join(topic))
        _shared(members, topic, 6)
    members.pop(1).leave()
    _shared(members, topic, 6)
    members[0].commit((topic, min(index for _, index in members[0].owned)), 3)


def test_a_static_member_comes_back(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    first, second = join(topic, **{"group.instance.id": "a"}), join(topic, **{"group.instance.id": "b"})
    _shared([first, second], topic, 4)
    had = second.owned
    second.leave()
    again = join(topic, **{"group.instance.id": "b"})
    wait_until("the same partitions", lambda: again.owned == had)
    _shared([first, again], topic, 4)


def test_classic_and_consumer_members(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    strategy = {"partition.assignment.strategy": "cooperative-sticky", "heartbeat.interval.ms": 100}
    classic = join(topic, **{"group.protocol": "classic", **strategy})
    _shared([classic], topic, 4)
    modern = join(topic)
    _shared([classic, modern], topic, 4)
    classic.leave()
    _shared([modern], topic, 4)
    back = join(topic, **{"group.protocol": "classic", **strategy})
    _shared([modern, back], topic, 4)
    modern.leave()
    _shared([back], topic, 4)


@pytest.mark.jdk
def test_the_groups_tool(shell: Shell, group: str, join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    CONFLUENT.produce(shell.bootstrap, topic, [Out(b"x")] * 10, Settings())
    member = join(topic, **{"client.id": "watched", "enable.auto.commit": False})
    _shared([member], topic, 2)
    member.commit((topic, 0), 4)
    (listed,) = [line.split() for line in shell.lines(COMMAND, "--list", "--state", "--type") if group in line]
    assert listed == [group, "Consumer", "Stable"]
    rows = [line.split() for line in shell.lines(COMMAND, "--describe", "--group", group, "--verbose") if topic in line]
    epochless = sorted(rows)[0]
    assert [*epochless[:3], *epochless[4:7]] == [group, topic, "0", "4", "10", "6"]
    members = shell.lines(COMMAND, "--describe", "--group", group, "--members", "--verbose")
    assert members[-1].split()[0] == group
    assert f"{topic}:0,1" in members[-1]
    state = shell.lines(COMMAND, "--describe", "--group", group, "--state", "--verbose")[-1].split()
    assert state[0] == group
    assert "uniform" in state
    assert "Stable" in state
    member.leave()
    wait_until("an empty group", lambda: "Empty" in shell.lines(COMMAND, "--describe", "--group", group, "--state")[-1])
    to_start = ("--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
    assert any(line.split()[-1] == "0" for line in shell.lines(COMMAND, *to_start) if topic in line)
    assert "was successful" in shell.run(COMMAND, "--delete", "--group", group).stdout
