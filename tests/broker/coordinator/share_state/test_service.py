"""The share coordinator in a running broker: its topic, its log after a restart, pruning on the broker's clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.config.broker_config import DEFAULT_PERSISTER, NO_OP_PERSISTER, BrokerConfig, ConfigError
from odradek.broker.coordinator.share_state.commands import InitializeState, ReadState, ReadSummary, WriteState
from odradek.broker.coordinator.share_state.service import NoOpPersister, ShareStateClient
from odradek.broker.metadata.image import SHARE_GROUP_STATE
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import ShareKey
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import initialize_share_group_state as initialize
from odradek.protocol.generated.messages import read_share_group_state as read
from odradek.protocol.generated.messages import write_share_group_state as write
from tests.fakes.wire_client import WireClient

PRUNE_S = 300


def connect(broker: KafkaBroker) -> WireClient:
    return WireClient.at(broker.bootstrap_servers)


def begin(client: WireClient, topic_id: bytes) -> None:
    row = initialize.InitializeStateData(topic_id, [initialize.PartitionData(0, 1, 0)])
    answer = client.request(initialize.InitializeShareGroupStateRequest("g", [row]), 0)
    assert answer.results[0].partitions[0].error_code == 0


def store(client: WireClient, topic_id: bytes, first: int, start: int) -> None:
    data = write.PartitionData(0, 1, 0, start, 1, [write.StateBatch(first, first, 2, 1)])
    answer = client.request(write.WriteShareGroupStateRequest("g", [write.WriteStateData(topic_id, [data])]), 1)
    assert answer.results[0].partitions[0].error_code == 0


def stored(client: WireClient, topic_id: bytes) -> list[tuple[int, int]]:
    row = read.ReadStateData(topic_id, [read.PartitionData(0, 1)])
    answer = client.request(read.ReadShareGroupStateRequest("g", [row]), 0).results[0].partitions[0]
    assert answer.error_code == 0, answer
    return [(batch.first_offset, batch.last_offset) for batch in answer.state_batches]


def log_starts(broker: KafkaBroker) -> list[int]:
    topic = broker.cluster.topics.by_name(SHARE_GROUP_STATE)
    return [p.log.log_start_offset for p in topic.partitions if p.log.log_end_offset]


def test_share_states_outlive_a_restart(tmp_path: Path) -> None:
    with KafkaBroker(topics=["t"], data_dir=tmp_path) as broker, connect(broker) as client:
        topic_id = broker.cluster.topics.by_name("t").topic_id
        begin(client, topic_id)
        for offset in (3, 5, 5, 9):
            store(client, topic_id, offset, 2)
    with KafkaBroker(data_dir=tmp_path) as broker, connect(broker) as client:
        assert stored(client, topic_id) == [(3, 3), (5, 5), (9, 9)]


@pytest.mark.long
def test_the_log_is_pruned_before_the_last_snapshot(tmp_path: Path) -> None:
    with KafkaBroker(topics=["t"], data_dir=tmp_path) as broker, connect(broker) as client:
        topic_id = broker.cluster.topics.by_name("t").topic_id
        begin(client, topic_id)
        for offset in range(501):
            store(client, topic_id, offset, offset)
        assert log_starts(broker) == [0]
        broker.clock.advance(PRUNE_S + 1)
        (start,) = log_starts(broker)
        assert start >= 501
        assert stored(client, topic_id) == [(500, 500)]
    with KafkaBroker(data_dir=tmp_path) as broker, connect(broker) as client:
        assert stored(client, topic_id) == [(500, 500)]


class Refusing:
    """A share coordinator with one answer."""

    def __init__(self, code: ErrorCode) -> None:
        self._code = code

    def ask_about(self, command: Any) -> Any:
        raise KafkaError(self._code, "why")


@pytest.mark.parametrize(
    ("code", "heard"),
    [
        (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.FENCED_STATE_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_errors_of_the_share_coordinator_are_told_with_the_request(code: ErrorCode, heard: ErrorCode) -> None:
    service: Any = Refusing(code)
    client = ShareStateClient(lambda: service)
    key = ShareKey("g", bytes(16), 0)
    for ask in (lambda: client.read(key, 0), lambda: client.write(key, 0, 0, StateWrite(0, 0, []))):
        with pytest.raises(KafkaError) as caught:
            ask()
        assert (caught.value.code, caught.value.message) == (heard, "why")


PERSISTER = "group.share.persister.class.name"
KEY = ShareKey("g", bytes(16), 0)


def test_no_op_share_coordinator_takes_everything_and_knows_nothing() -> None:
    persister = NoOpPersister()
    assert persister.ask_about(InitializeState(KEY, 3, 7)) is None
    write = WriteState(KEY, state_epoch=3, leader_epoch=2, start_offset=9, delivery_complete_count=0, batches=[])
    assert persister.ask_about(write) is None
    assert persister.ask_about(ReadState(KEY, 2)) == (0, -1, [])
    assert persister.ask_about(ReadSummary(KEY)) == (0, 0, -1, -1)
    assert persister.uncommitted(KEY) is None


def test_share_partition_leaders_ask_the_share_coordinator() -> None:
    client = ShareStateClient(NoOpPersister)
    client.write(KEY, 0, 0, StateWrite(5, 0, []))
    assert client.read(KEY, 0) == (0, -1, [])
    assert client.uncommitted(KEY) is None


@pytest.mark.parametrize("name", ["", NO_OP_PERSISTER])
def test_a_cluster_without_states_has_no_topic_for_them(name: str) -> None:
    with KafkaBroker(topics=["t"], config={PERSISTER: name}) as broker:
        persister = broker.cluster.services.share_persister()
        assert isinstance(persister, NoOpPersister)
        persister.ask_about(InitializeState(KEY, 0, 0))
        assert broker.cluster.topics.get(SHARE_GROUP_STATE) is None


def test_the_share_coordinator_is_the_default() -> None:
    with KafkaBroker() as broker:
        services = broker.cluster.services
        assert services.share_persister() is services.share_states()
        assert broker.cluster.config.get(PERSISTER) == DEFAULT_PERSISTER


def test_share_coordinator_of_another_class_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Unknown persister specified com\.example\.Mine"):
        BrokerConfig({PERSISTER: "com.example.Mine"})
