"""Groups as tables: against what Kafka's dump tool prints, and from a live broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

import odradek
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.jobs.kafka_dump import dumped
from tests.pipeline.test_session import produce


@pytest.fixture(scope="module")
def group_tables(spark: Any, golden_log_dir: Path) -> dict[str, Any]:
    from odradek.pipeline.jobs import groups

    return groups.run(spark, LogPlace(path=str(golden_log_dir)))


def test_commits_are_those_that_kafka_prints(group_tables: dict[str, Any], golden_dump: Path) -> None:
    found = sorted(
        (row.group_id, row.topic, row.partition, row.committed_offset, row.metadata, row.commit_time_ms)
        for row in group_tables["commits"].collect()
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
    members = group_tables["members"].where("client_id is not null").collect()
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


def test_rebalances_of_kafkas_groups(group_tables: dict[str, Any]) -> None:
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
    lag = groups.run(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers))["lag"]
    rows = lag.orderBy("commit_time_ms").collect()
    # By their timestamps all records are older than the first commit, as the broker's clock is ahead of the producer's.
    assert [(row.committed_offset, row.end_offset, row.lag) for row in rows] == [(4, 15, 11), (12, 15, 3)]
