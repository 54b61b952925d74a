"""Share groups as command-line tools, formatters and librdkafka's share consumer see them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.java_host import JavaHost
from tests.scenarios.python_clients import Out, Settings
from tests.scenarios.share_member import Delivery, Kind, ShareMember
from tests.scenarios.target import Target, unique, wait_until
from tests.scenarios.test_console_tools import CONFLUENT, Shell, internal_records

COMMAND = "consumer.group.ShareGroupCommand"
NewGroup = Callable[..., str]


@pytest.fixture
def shell(java: JavaHost, broker: Target) -> Shell:
    return Shell(java, broker.bootstrap)


@pytest.fixture
def new_group(broker: Target) -> NewGroup:
    """Makes the name of a group that starts at the beginning, with these configs."""

    def make(**configs: str) -> str:
        group = unique("share")
        entries = [
            ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
            for name, value in {"share_auto_offset_reset": "earliest", **configs}.items()
        ]
        resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=entries)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for future in admin.incremental_alter_configs([resource]).values():
            future.result(30)
        return group

    return make


def _some(consumer: ShareMember) -> list[Delivery]:
    """Messages, once some came."""
    messages = wait_until("a message", lambda: consumer.poll(0.2))
    assert {message.error for message in messages} == {None}
    return messages


def _fill(bootstrap: str, topic: str, *values: str) -> None:
    CONFLUENT.produce(bootstrap, topic, [Out(value.encode()) for value in values], Settings())


# -- librdkafka


def test_librdkafka_accepts_releases_and_rejects(broker: Target, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(), new_group()
    _fill(broker.bootstrap, topic, *"abcd")
    kinds: dict[Any, Kind] = dict.fromkeys((b"a", b"d"), "ACCEPT")
    kinds.update({b"b": "RELEASE", b"c": "REJECT"})
    seen: list[tuple[int | None, int | None]] = []
    with ShareMember(broker.bootstrap, group, topic, **{"share.acknowledgement.mode": "explicit"}) as consumer:
        while len(seen) < 5:
            for message in _some(consumer):
                seen.append((message.offset, message.delivery_count))
                first_time = message.delivery_count == 1
                consumer.acknowledge(message, kinds[message.value] if first_time else "ACCEPT")
            assert set(consumer.commit_sync().values()) == {None}
        assert sorted(map(str, seen)) == ["(0, 1)", "(1, 1)", "(1, 2)", "(2, 1)", "(3, 1)"]
        assert not consumer.poll(0.5)


def test_librdkafka_members_share_a_partition(broker: Target, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(), new_group()
    _fill(broker.bootstrap, topic, *map(str, range(300)))
    came: list[Any] = []
    with ShareMember(broker.bootstrap, group, topic) as one, ShareMember(broker.bootstrap, group, topic) as other:

        def all_came() -> bool:
            for consumer in (one, other):
                came.extend(message.value for message in consumer.poll(0.1))
            return len(came) >= 300

        wait_until("all records", all_came)
        # A member of librdkafka 2.16 that is closed just when it gets its first partition may never come back, though
        # all that it has asked is answered: each has asked for records when this is over.
        assert not [*one.poll(1), *other.poll(1)]
    assert sorted(came) == sorted(str(n).encode() for n in range(300))


def test_librdkafka_leaves_and_another_gets_its_records(
    broker: Target, make_topic: MakeTopic, new_group: NewGroup
) -> None:
    topic, group = make_topic(), new_group()
    _fill(broker.bootstrap, topic, "only")
    with ShareMember(broker.bootstrap, group, topic, **{"share.acknowledgement.mode": "explicit"}) as first:
        assert [message.delivery_count for message in _some(first)] == [1]
    with ShareMember(broker.bootstrap, group, topic) as second:
        assert [message.delivery_count for message in _some(second)] == [2]


# -- tools


@pytest.mark.jdk
def test_console_share_consumer(shell: Shell, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(), new_group()
    _fill(shell.bootstrap, topic, "one", "two", "three")
    wanted = ["--topic", topic, "--group", group, "--timeout-ms", "60000", "--max-messages"]
    shown = [argument for what in ("offset", "delivery") for argument in ("--formatter-property", f"print.{what}=true")]
    tool = "consumer.ConsoleShareConsumer"
    assert shell.lines(tool, *wanted, "3", "--release", *shown) == [
        f"Offset:{offset}\tDelivery:1\t{value}" for offset, value in enumerate(("one", "two", "three"))
    ]
    assert shell.lines(tool, *wanted, "3", *shown) == [
        f"Offset:{offset}\tDelivery:2\t{value}" for offset, value in enumerate(("one", "two", "three"))
    ]
    _fill(shell.bootstrap, topic, "four")
    assert shell.lines(tool, *wanted, "1", "--reject", *shown) == ["Offset:3\tDelivery:1\tfour"]


@pytest.mark.jdk
def test_share_groups_tool(shell: Shell, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(partitions=1), new_group()
    about = ("--describe", "--group", group)
    reset = ("--reset-offsets", "--group", group, "--topic", topic, "--execute")
    _fill(shell.bootstrap, topic, *"abcdef")
    with ShareMember(shell.bootstrap, group, topic, **{"client.id": "watched"}) as consumer:
        assert len(_some(consumer)) == 6
        assert set(consumer.commit_sync().values()) == {None}
        assert group in shell.lines(COMMAND, "--list")
        assert re.search(rf"{group}\s+Stable", shell.run(COMMAND, "--list", "--state").stdout)
        assert shell.lines(COMMAND, *about, "--state", "--verbose")[-1].split()[-4::3] == ["Stable", "1"]
        member = shell.lines(COMMAND, *about, "--members", "--verbose")[-1].split()
        assert (member[0], member[3], member[-1]) == (group, "watched", f"{topic}:0")
        refused = shell.run(COMMAND, *reset, "--to-earliest", status=1)
        assert "is not empty" in refused.stderr
    wait_until("nobody is left", lambda: "has no active members" in shell.run(COMMAND, *about, "--members").stderr)
    assert shell.lines(COMMAND, *about, "--offsets", "--verbose")[-1].split() == [group, topic, "0", "0", "0", "0"]
    assert shell.lines(COMMAND, *reset, "--to-latest")[-1].split() == [group, topic, "0", "6"]
    assert shell.lines(COMMAND, *about)[-1].split() == [group, topic, "0", "6", "0"]
    assert shell.lines(COMMAND, *reset, "--to-earliest")[-1].split() == [group, topic, "0", "0"]
    assert shell.lines(COMMAND, *about)[-1].split() == [group, topic, "0", "0", "6"]
    deleted = shell.run(COMMAND, "--delete-offsets", "--group", group, "--topic", topic).stdout
    assert re.search(rf"{topic}\s+Successful", deleted)
    assert "was successful" in shell.run(COMMAND, "--delete", "--group", group).stdout
    assert group not in shell.lines(COMMAND, "--list")


@pytest.mark.jdk
def test_the_formatters_print_records_of_share_groups(shell: Shell, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(), new_group()
    _fill(shell.bootstrap, topic, "a", "b", "c")
    with ShareMember(shell.bootstrap, group, topic, **{"share.acknowledgement.mode": "explicit"}) as consumer:
        messages = _some(consumer)
        for message in messages:
            consumer.acknowledge(message, "RELEASE" if message.value == b"b" else "ACCEPT")
        assert set(consumer.commit_sync().values()) == {None}
    state = ("__share_group_state", "group.share.ShareGroupStateMessageFormatter", group)
    records = wait_until("an update", lambda: _with_updates(internal_records(shell, *state)))
    snapshot = records[0]
    assert (snapshot["key"]["type"], snapshot["key"]["data"]["partition"]) == (0, 0)
    assert snapshot["value"]["data"]["startOffset"] in (-1, 0)
    update = next(record for record in records if record["key"]["type"] == 1)
    batches = [
        (batch["firstOffset"], batch["lastOffset"], batch["deliveryState"], batch["deliveryCount"])
        for batch in update["value"]["data"]["stateBatches"]
    ]
    assert (1, 1, 0, 1) in batches, "b is available"
    log = ("__consumer_offsets", "ShareGroupMessageFormatter", group)
    found = wait_until("records of the group", lambda: internal_records(shell, *log))
    assert {10, 11, 12, 13, 14, 15} <= {record["key"]["type"] for record in found}


def _with_updates(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return records if any(record["key"]["type"] == 1 for record in records) else []


def test_records_of_an_aborted_transaction(broker: Target, make_topic: MakeTopic, new_group: NewGroup) -> None:
    topic, group = make_topic(), new_group(share_isolation_level="read_committed")
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("t")})
    producer.init_transactions(60)
    for end in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        for n in range(3):
            producer.produce(topic, f"{end.__name__} {n}")
        assert producer.flush(60) == 0
        end(60)
    with ShareMember(broker.bootstrap, group, topic) as consumer:
        values = [message.value for message in _some(consumer)]
    assert values == [f"commit_transaction {n}".encode() for n in range(3)]
