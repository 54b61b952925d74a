"""Groups of the consumer protocol (KIP-848) with librdkafka, and in Kafka's command-line tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.group_members import Joining, Member
from tests.scenarios.java_host import JavaHost
from tests.scenarios.python_clients import Out, Settings
from tests.scenarios.target import Target, unique, wait_until
from tests.scenarios.test_console_tools import CONFLUENT, Shell

COMMAND = "consumer.group.ConsumerGroupCommand"


Join = Callable[..., Member]


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
    members: list[Member] = []

    def start(topic: str, protocol: str = "consumer", **more: Any) -> Member:
        members.append(Member("confluent-kafka", Joining(bootstrap, group, (topic,), protocol=protocol, **more)))
        return members[-1]

    yield start
    for member in members:
        member.leave()


def _shared(members: Sequence[Member], topic: str, partitions: int) -> None:
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
    members[0].commit({(topic, min(index for _, index in members[0].owned)): (3, "")})


def test_a_static_member_comes_back(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    first, second = join(topic, instance="a"), join(topic, instance="b")
    _shared([first, second], topic, 4)
    had = second.owned
    second.leave()
    again = join(topic, instance="b")
    wait_until("the same partitions", lambda: again.owned == had)
    _shared([first, again], topic, 4)


def test_classic_and_consumer_members(join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=4)
    classic = join(topic, "classic", assignor="cooperative-sticky")
    _shared([classic], topic, 4)
    modern = join(topic)
    _shared([classic, modern], topic, 4)
    classic.leave()
    _shared([modern], topic, 4)
    back = join(topic, "classic", assignor="cooperative-sticky")
    _shared([modern, back], topic, 4)
    modern.leave()
    _shared([back], topic, 4)


@pytest.mark.jdk
def test_the_groups_tool(shell: Shell, group: str, join: Join, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    CONFLUENT.produce(shell.bootstrap, topic, [Out(b"x")] * 10, Settings())
    member = join(topic, client_id="watched")
    _shared([member], topic, 2)
    member.commit({(topic, 0): (4, "")})
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
