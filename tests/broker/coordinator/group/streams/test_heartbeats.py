"""Heartbeats and topology descriptions, beyond what the recorded conversations say."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.coordinator.group.classic.commands import LeaveGroup
from odradek.broker.coordinator.group.streams.group import ExpireRevocation, FenceMember, StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.progress import CreateInternalTopics
from odradek.broker.coordinator.group.streams.records import Endpoint, Owned
from odradek.broker.coordinator.group.streams.topology import TopicStatus
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import (
    CONFIG,
    CONVERSATIONS,
    PLUGIN,
    DescribingConversation,
    config_of,
    transcribe,
)


@pytest.mark.long("expired")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_topology_descriptions_are_answered_as_by_kafka(name: str) -> None:
    with KafkaBroker(config=config_of(name), clock=PatientClock(), kafka_version="4.4") as broker:
        host, port = broker.bootstrap_servers.split(":")
        told, expected = transcribe(name, host, int(port)), recorded("topology_descriptions")[name]
        if name == "given_up":  # Kafka stores in a batch of its own that the description is being deleted
            told, expected = without_batches(told), without_batches(expected)
        assert told == expected
        assert broker.bugs == []


def without_batches(transcript: list[Any]) -> list[Any]:
    """The transcript, with only what the records say."""
    return [[what, [row[1:] for row in said] if what.startswith("log of ") else said] for what, said in transcript]


def talk_to(broker: KafkaBroker) -> DescribingConversation:
    host, port = broker.bootstrap_servers.split(":")
    return DescribingConversation(host, int(port))


def wanted(conversation: DescribingConversation) -> bool:
    """Whether the newest heartbeat was answered with the wish for a description."""
    answer: dict[str, bool] = conversation.transcript[-1][1]
    return answer["topologyDescriptionRequired"]


def test_asked_again_after_pauses_that_double() -> None:
    configs = {**CONFIG, "group.streams.max.session.timeout.ms": "90000000", "connections.max.idle.ms": "-1"}
    with KafkaBroker(config=configs) as broker, closing(talk_to(broker)) as c:
        c.configure(streams_session_timeout_ms="80000000")
        broker.clock.freeze()
        c.describing_start("m-a")
        assert wanted(c)
        for pause_s in (30, 60, 120, 240, 480, 960, 1920, 3600, 3600):
            broker.clock.advance(pause_s - 1)
            c.describing_beat("m-a", 2)
            assert not wanted(c)
            broker.clock.advance(1)
            c.describing_beat("m-a", 2)
            assert wanted(c)
        c.update()
        broker.clock.advance(7200)
        c.describing_beat("m-a", 2)
        assert not wanted(c)


def test_a_restart_loses_the_description_and_asks_nobody(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        group = c.group
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.group = group
        c.describing_beat("m-a", 2)
        assert not wanted(c)
        c.show_description()
        described = c.transcript[-1][1]["groups"][0]
        assert (described["topologyDescriptionStatus"], described["topologyDescription"]) == (1, None)


def test_a_member_with_an_older_topology_is_not_asked() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.start("m-a", c.plain(epoch=3))
        c.describing_start("m-b", topology=c.plain(epoch=2))
        assert [status["statusCode"] for status in c.transcript[-1][1]["status"]] == [0]
        assert not wanted(c)
        c.describing_start("m-c", topology=c.plain(epoch=3))
        assert wanted(c)


def test_a_copy_has_the_description() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        with broker.fork() as fork, closing(talk_to(fork)) as other:
            other.group = c.group
            other.show_description()
            assert other.transcript[-1][1]["groups"][0]["topologyDescriptionStatus"] == 3


def test_other_plugins_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^plugin 'com\.example\.Mine' is not supported by odradek: .* or nothing$"):
        BrokerConfig({"group.streams.topology.description.plugin.class": "com.example.Mine"})


def test_older_releases_have_no_plugin() -> None:
    with pytest.raises(ConfigError, match=r"topology\.description\.plugin\.class"):
        BrokerConfig({"odradek.kafka.version": "4.3", "group.streams.topology.description.plugin.class": PLUGIN})
    with KafkaBroker(kafka_version="4.3") as broker, closing(talk_to(broker)) as c:
        c.start("m-a")
        assert c.transcript[-1][1]["errorCode"] == 0


def test_a_heartbeat_of_a_settled_member_writes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    before = driver.journal.end_offset
    for _ in range(5):
        reply = driver.beat("a", 2)
        assert (reply.assigned, list(reply.statuses)) == (None, [])
    assert driver.journal.end_offset == before


def test_a_settled_member_hears_of_what_has_changed_since() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6
    driver.ask(StreamsGroupHeartbeat("g", "a", 3, host="/elsewhere"))
    assert driver.group.members["a"].client_host == "/elsewhere"
    driver.settle()
    epoch = driver.group.epoch
    end = driver.beat("a", epoch, shutdown=True)
    assert [status.code for status in end.statuses] == [TopicStatus.SHUTDOWN_APPLICATION]
    assert [status.code for status in driver.beat("a", epoch).statuses] == [TopicStatus.SHUTDOWN_APPLICATION]


def test_internal_topics_come_with_the_next_heartbeat() -> None:
    driver = StreamsDriver()
    first = driver.join("a", COUNTING)
    assert [status.code for status in first.statuses] == [TopicStatus.MISSING_INTERNAL_TOPICS]
    assert [type(effect) for effect in driver.effects].count(CreateInternalTopics) == 1
    second = driver.beat("a", 2)
    assert (list(second.statuses), second.member_epoch) == ([], 3)
    assert second.assigned is not None
    assert sorted(second.assigned.active["0"]) == [0, 1, 2, 3]


def test_a_refused_append_changes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    beat = StreamsGroupHeartbeat("g", "a", 2, host="/h")
    assert driver.error(beat)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert driver.error(StreamsGroupHeartbeat("g", "b", 0, topology=PLAIN))[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.group.epoch == 2
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6


def test_a_new_group_that_could_not_be_stored_does_not_wait() -> None:
    driver = StreamsDriver({"group.streams.initial.rebalance.delay.ms": "1000"})
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    joining = StreamsGroupHeartbeat("g", "a", 0, topology=PLAIN, owned=Owned({}, {}, {}), rebalance_timeout_ms=1)
    assert driver.error(joining)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.shard.timers.next_due_ms() is None or driver.machine.group("g") is None
    reply = driver.ask(joining)
    assert [status.code for status in reply.statuses] == [TopicStatus.ASSIGNMENT_DELAYED]


def test_end_points_are_numbered_anew_after_a_load() -> None:
    driver = StreamsDriver()
    driver.join("a", endpoint=Endpoint("h", 1))
    driver.join("b", endpoint=Endpoint("h", 2))
    driver.settle()
    known = driver.group.soft.endpoint_epoch
    assert driver.beat("a", 3, endpoint_epoch=known).endpoints is None
    driver.reload()
    told = driver.beat("a", 3, endpoint_epoch=known)
    assert told.endpoint_epoch == 0
    assert told.endpoints is not None
    assert {each.endpoint.port for each in told.endpoints} == {1, 2}


def test_other_kinds_are_no_streams_groups() -> None:
    driver = StreamsDriver()
    unknown = driver.error(StreamsGroupHeartbeat("g", "a", 3))
    assert unknown == (ErrorCode.GROUP_ID_NOT_FOUND, "Streams group g not found.")
    driver.join("a")
    left = driver.ask(LeaveGroup("g", [("a", None)]))
    assert left == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_a_member_leaves() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.join("b")
    reply = driver.leave("a")
    assert (reply.member_id, reply.member_epoch, list(reply.statuses)) == ("a", -1, [])
    assert list(driver.group.members) == ["b"]
    assert driver.group.epoch == 4
    driver.settle()
    assert driver.tasks()["b"][0] == [("0", task) for task in range(4)]


def test_leaving_what_is_not_there() -> None:
    driver = StreamsDriver()
    leaving = StreamsGroupHeartbeat("g", "x", -1)
    assert driver.error(leaving) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    driver.join("a")
    assert driver.error(leaving) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member x is not a member of group g.")


def test_silence_ends_a_session_and_heartbeats_keep_it() -> None:
    driver = StreamsDriver({"group.streams.session.timeout.ms": "50000"})
    driver.join("a")
    driver.join("b")
    for _ in range(3):
        driver.wait(20_000)
        driver.honest_beat("b")
    assert list(driver.group.members) == ["b"]
    driver.wait(60_000)
    assert driver.group.state_name == "Empty"


def test_tasks_are_given_up_in_time_or_the_member_is_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(900)
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(200)
    assert list(driver.group.members) == ["b"]


def test_a_member_that_got_on_is_not_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.beat("a", 2, active=(0, 1))
    driver.wait(2000)
    assert set(driver.group.members) == {"a", "b"}


def test_late_timers_find_nobody() -> None:
    driver = StreamsDriver()
    assert driver.ask(FenceMember("g", "a")) is None
    driver.join("a")
    driver.ask(FenceMember("g", "x"))
    driver.ask(ExpireRevocation("g", "a", 1))
    driver.ask(ExpireRevocation("g", "x", 2))
    assert list(driver.group.members) == ["a"]
