"""Groups as tables: against what Kafka's dump tool prints, and from a live broker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

import odradek
from odradek.__main__ import main
from odradek.pipeline.jobs.groups import timeline
from odradek.pipeline.jobs.logs import LogPlace
from odradek.protocol.generated.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeStateData,
    PartitionData,
)
from odradek.protocol.uuids import uuid_from_text
from tests.fakes.wire_client import WireClient
from tests.pipeline.jobs.kafka_dump import dumped
from tests.pipeline.test_session import produce
from tests.scenarios.target import wait_until


@pytest.fixture(scope="module")
def group_tables(spark: Any, golden_log_dir: Path) -> dict[str, Any]:
    from odradek.pipeline.jobs import groups

    return groups.run(spark, LogPlace(path=str(golden_log_dir)))


def test_commits_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    found = sorted(
        (row.group_id, row.topic, row.partition, row.committed_offset, row.metadata, row.commit_time_ms)
        for row in group_tables["commits"].selectExpr("*", "unix_millis(commit_time) as commit_time_ms").collect()
    )
    expected = sorted(
        (key["group"], key["topic"], key["partition"], value["offset"], value["metadata"], value["commitTimestamp"])
        for kind, _, _, _, key, value in dumped(golden_dump, "__consumer_offsets")
        if kind == "1" and value is not None
    )
    assert len(expected) > 30
    assert found == expected


def test_generations_and_members_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    classic = [
        (partition, offset, key["group"], value)
        for kind, partition, offset, _, key, value in dumped(golden_dump, "__consumer_offsets")
        if kind == "2" and value is not None
    ]
    generations = group_tables["generations"].where("protocol_type is not null").collect()
    assert sorted(
        (row.log_partition, row.log_offset, row.group_id, row.generation, row.members) for row in generations
    ) == [
        (partition, offset, group, value["generation"], len(value["members"]))
        for partition, offset, group, value in sorted(classic, key=lambda each: each[:2])
    ]
    members = group_tables["members"].where("group_type = 'classic'").collect()
    assert sorted((row.group_id, row.log_offset, row.member_id, row.client_host) for row in members) == sorted(
        (group, offset, member["memberId"], member["clientHost"])
        for _, offset, group, value in classic
        for member in value["members"]
    )


def test_tombstones_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    expected = sorted(
        (partition, offset)
        for _, partition, offset, _, _, value in dumped(golden_dump, "__consumer_offsets")
        if value is None
    )
    assert expected
    rows = group_tables["tombstones"].collect()
    assert sorted((row.log_partition, row.log_offset) for row in rows) == expected


def test_groups_job_tells_the_rebalances_of_recorded_groups(group_tables: dict[str, Any]) -> None:
    events = group_tables["rebalances"].collect()
    assert {"generation", "joined", "left", "assigned"} <= {row.event for row in events}
    for group in {row.group_id for row in events}:
        mine = sorted((row for row in events if row.group_id == group), key=lambda each: each.log_offset)
        joined: set[str] = set()
        for row in mine:
            if row.event == "joined":
                assert row.member_id not in joined
                joined.add(row.member_id)
            elif row.event == "left":
                joined.remove(row.member_id)


@pytest.mark.kafka(topics={"in": 1}, config={"group.initial.rebalance.delay.ms": 0})
def test_lag_over_time_from_a_live_broker(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import groups

    consumer = Consumer({"bootstrap.servers": kafka_broker.bootstrap_servers, "group.id": "g"})
    produce(kafka_broker, "in", [str(n) for n in range(10)])
    for committed, further in ((4, 5), (12, 0)):
        kafka_broker.clock.advance(minutes=1)  # records carry the client's time, commits the broker's: later
        consumer.commit(offsets=[TopicPartition("in", 0, committed)], asynchronous=False)
        produce(kafka_broker, "in", [str(n) for n in range(further)])
    consumer.close()
    tables = groups.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers))
    rows = tables["lag_over_time"].orderBy("commit_time").collect()
    # By their timestamps all records are older than the first commit, as the broker's clock is ahead of the producer's.
    assert [(row.committed_offset, row.end_offset, row.lag) for row in rows] == [(4, 15, 11), (12, 15, 3)]
    [now] = tables["lag"].collect()
    assert (now.group_id, now.topic, now.partition, now.committed_offset, now.end_offset, now.lag) == (
        "g",
        "in",
        0,
        12,
        15,
        3,
    )
    assert now.commit_time == max(row.commit_time for row in rows)


@pytest.mark.kafka(topics={"in": 1})
def test_a_cluster_that_never_had_a_group(
    spark: Any, kafka_broker: odradek.KafkaBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--bootstrap-servers", kafka_broker.bootstrap_servers]
    for job, topic, last in (
        ("groups", "__consumer_offsets", "lag_over_time"),
        ("transactions", "__transaction_state", "hanging"),
    ):
        assert main(["pipeline", job, *where]) == 0
        told = capsys.readouterr()
        assert f"no topic {topic}: there has been no {job.removesuffix('s')} yet\n" in told.err
        tables = dict(re.findall(r"^== (\w+)\n(.+?)\n\n", told.out, re.MULTILINE | re.DOTALL))
        assert last in tables
        for name, table in tables.items():
            assert [line[0] for line in table.splitlines()] == ["+", "|", "+", "+"], f"{name} has no rows"


def test_newer_groups_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    """Epochs, members and targets of consumer, share and streams groups."""
    found = list(dumped(golden_dump, "__consumer_offsets"))
    epochs = {"3": "consumer", "11": "share", "17": "streams"}
    generations = group_tables["generations"].where("group_type != 'classic'").collect()
    assert sorted((row.group_type, row.group_id, row.log_offset, row.generation) for row in generations) == sorted(
        (epochs[kind], key["groupId"], offset, value["epoch"])
        for kind, _, offset, _, key, value in found
        if kind in epochs and value is not None
    )
    members = {"5": "consumer", "10": "share", "19": "streams"}
    rows = group_tables["members"].where("group_type != 'classic' and client_id is not null").collect()
    assert sorted(
        (row.group_type, row.group_id, row.member_id, row.log_offset, row.client_host) for row in rows
    ) == sorted(
        (members[kind], key["groupId"], key["memberId"], offset, value["clientHost"])
        for kind, _, offset, _, key, value in found
        if kind in members and value is not None
    )
    targets = {"7", "13", "21"}
    assert sorted((row.group_id, row.member_id, row.log_offset) for row in group_tables["targets"].collect()) == sorted(
        (key["groupId"], key["memberId"], offset)
        for kind, _, offset, _, key, value in found
        if kind in targets and value is not None
    )


@pytest.mark.kafka(topics={"read": 2, "unread": 2, "shared": 1}, config={"group.initial.rebalance.delay.ms": 0})
def test_lag_of_those_who_never_committed_and_share_states(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import groups

    produce(kafka_broker, "unread", ["a", "b", "c"])
    idle = Consumer(
        {
            "bootstrap.servers": kafka_broker.bootstrap_servers,
            "group.id": "idle",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    idle.subscribe(["unread"])
    classic = Consumer({"bootstrap.servers": kafka_broker.bootstrap_servers, "group.id": "classic"})
    classic.subscribe(["read"])

    def both_in() -> bool:
        idle.poll(0.1)
        classic.poll(0.1)
        return bool(idle.assignment() and classic.assignment())

    wait_until("both to be in their groups", both_in)
    classic.commit(offsets=[TopicPartition("read", 0, 0)], asynchronous=False)
    shared_id = uuid_from_text(kafka_broker.topics["shared"].topic_id)
    with WireClient.at(kafka_broker.bootstrap_servers) as client:
        state = InitializeStateData(shared_id, [PartitionData(partition=0, state_epoch=1, start_offset=7)])
        answer = client.request(InitializeShareGroupStateRequest("workers", [state]))
        assert answer.results[0].partitions[0].error_code == 0
    tables = groups.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers))
    rows = {(row.group_id, row.topic, row.partition): row for row in tables["lag"].collect()}
    assert set(rows) == {
        (group, topic, index) for group, topic in (("idle", "unread"), ("classic", "read")) for index in (0, 1)
    }
    assert {rows["idle", "unread", index].lag for index in (0, 1)} == {None}
    assert sum(rows["idle", "unread", index].end_offset for index in (0, 1)) == 3
    assert (rows["classic", "read", 0].committed_offset, rows["classic", "read", 0].lag) == (0, 0)
    assert (rows["classic", "read", 1].committed_offset, rows["classic", "read", 1].commit_time) == (None, None)
    [state_row] = tables["share_states"].collect()
    assert (state_row.kind, state_row.group_id, state_row.partition) == ("ShareSnapshot", "workers", 0)
    assert (state_row.state_epoch, state_row.start_offset, state_row.batches) == (1, 7, [])
    idle.close()
    classic.close()


@pytest.mark.kafka(topics={"in": 1, "out": 1})
def test_what_a_sink_commits_is_no_position(spark: Any, kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    """A sink counts its micro-batches in a group of its own."""
    from pyspark.sql import Row
    from pyspark.sql.types import StringType, StructField, StructType

    from odradek.pipeline.jobs import groups
    from odradek.pipeline.sink import SinkOptions, StreamWriter

    produce(kafka_broker, "in", ["a", "b"])
    kafka_broker.group("reader").set_offsets({("in", 0): 1})
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    given = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers, "topic": "out"}
    writer = StreamWriter(SinkOptions.parse(given, StructType([StructField("value", StringType())])))
    writer.commit([as_task(writer, 0, Row(value="a"))], 0)
    tables = groups.run(spark, place)
    commits = {row.group_id: row.metadata for row in tables["commits"].collect()}
    assert commits == {"reader": "", "odradek-query-0": "micro-batches of a sink odradek"}
    for name in ("lag", "lag_over_time"):
        assert [(row.group_id, row.lag) for row in tables[name].collect()] == [("reader", 1)]


def _classic(offset: int, generation: int, **members: list[str]) -> dict[str, Any]:
    shown = [{"member_id": name, "assignment": parts} for name, parts in members.items()]
    return {
        "kind": "GroupMetadata",
        "tombstone": False,
        "group_id": "g",
        "log_offset": offset,
        "time_ms": offset * 10,
        "generation": generation,
        "members": shown,
    }


def test_groups_job_tells_a_rebalance_step_by_step() -> None:
    rows = [
        _classic(1, 1, a=["t-0", "t-1"]),
        _classic(2, 2, a=["t-0"], b=["t-1"]),
        _classic(3, 3, b=["t-0", "t-1"]),
        {**_classic(4, 3), "tombstone": True},
    ]
    assert [(each.generation, each.event, each.member_id, each.partitions) for each in timeline(rows)] == [
        (1, "generation", None, []),
        (1, "joined", "a", []),
        (1, "assigned", "a", ["t-0", "t-1"]),
        (2, "generation", None, []),
        (2, "revoked", "a", ["t-1"]),
        (2, "joined", "b", []),
        (2, "assigned", "b", ["t-1"]),
        (3, "generation", None, []),
        (3, "left", "a", ["t-0"]),
        (3, "assigned", "b", ["t-0"]),
        (3, "deleted", None, []),
    ]
