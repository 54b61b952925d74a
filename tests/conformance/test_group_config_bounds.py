"""What groups have stored, on a broker that was started anew with other bounds: odradek as a real Kafka."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import odradek
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.conformance.real_kafka import RealKafka
from tests.fakes.wire_client import WireClient

Started = Callable[[Mapping[str, str], Path], AbstractContextManager[int]]
NAME = "consumer.heartbeat.interval.ms"
STORED = {"high": "15000", "low": "5000"}
PATIENCE_S = 60


@contextmanager
def real_kafka(config: Mapping[str, str], folder: Path) -> Iterator[int]:
    node = RealKafka(config=config, folder=folder)
    if not node.log_dir.exists():
        node.prepare()
    with node.running():
        yield node.port


@contextmanager
def own_broker(config: Mapping[str, str], folder: Path) -> Iterator[int]:
    with odradek.KafkaBroker(config=config, data_dir=folder) as broker:
        yield int(broker.bootstrap_servers.rpartition(":")[2])


def interval_of(client: WireClient, group_id: str, member_id: str) -> int:
    """The heartbeat interval that a new member is told."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        client.request(FindCoordinatorRequest(coordinator_keys=[group_id], key_type=0))
        joining = ConsumerGroupHeartbeatRequest(group_id, member_id, 0, rebalance_timeout_ms=60_000)
        joining.subscribed_topic_names, joining.topic_partitions = ["t"], []
        answer = client.request(joining, 1)
        if answer.error_code == ErrorCode.NONE:
            return int(answer.heartbeat_interval_ms)
        assert answer.error_code in (
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ), answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)


def store(client: WireClient) -> None:
    """Have each group set an interval of its own."""
    resources = [
        AlterConfigsResource(ResourceType.GROUP, group_id, [AlterableConfig(NAME, 0, value)])
        for group_id, value in STORED.items()
    ]
    for answer in client.request(IncrementalAlterConfigsRequest(resources)).responses:
        assert answer.error_code == ErrorCode.NONE, answer


@pytest.mark.parametrize("started", [real_kafka, own_broker])
def test_group_configs_of_before_are_held_within_the_bounds_of_today(started: Started, tmp_path: Path) -> None:
    with started({}, tmp_path) as port, WireClient(port=port) as client:
        store(client)
        assert {group_id: interval_of(client, group_id, "a") for group_id in STORED} == {"high": 15_000, "low": 5_000}
    lower = {"group.consumer.max.heartbeat.interval.ms": "10000"}
    with started(lower, tmp_path) as port, WireClient(port=port) as client:
        assert {group_id: interval_of(client, group_id, "b") for group_id in STORED} == {"high": 10_000, "low": 5_000}
    higher = {"group.consumer.min.heartbeat.interval.ms": "8000", "group.consumer.heartbeat.interval.ms": "9000"}
    with started(higher, tmp_path) as port, WireClient(port=port) as client:
        assert {group_id: interval_of(client, group_id, "c") for group_id in STORED} == {"high": 15_000, "low": 8_000}
