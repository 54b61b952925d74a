"""Share groups whose states nobody keeps (`group.share.persister.class.name`)."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.config.broker_config import DEFAULT_PERSISTER, NO_OP_PERSISTER, BrokerConfig, ConfigError
from odradek.broker.coordinator.share_state.commands import InitializeState, ReadState, ReadSummary, WriteState
from odradek.broker.coordinator.share_state.persister import NoOpPersister
from odradek.broker.coordinator.share_state.service import ShareStateClient
from odradek.broker.metadata.topic_name_rules import SHARE_GROUP_STATE
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import ShareKey

PERSISTER = "group.share.persister.class.name"
KEY = ShareKey("g", bytes(16), 0)


def test_it_takes_everything_and_knows_nothing() -> None:
    persister = NoOpPersister()
    assert persister.ask_about(InitializeState(KEY, 3, 7)) is None
    write = WriteState(KEY, state_epoch=3, leader_epoch=2, start_offset=9, delivery_complete_count=0, batches=[])
    assert persister.ask_about(write) is None
    assert persister.ask_about(ReadState(KEY, 2)) == (0, -1, [])
    assert persister.ask_about(ReadSummary(KEY)) == (0, 0, -1, -1)
    assert persister.uncommitted(KEY) is None


def test_leaders_ask_it() -> None:
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


def test_another_class_is_refused_as_by_kafka() -> None:
    with pytest.raises(ConfigError, match=r"Unknown persister specified com\.example\.Mine"):
        BrokerConfig({PERSISTER: "com.example.Mine"})
