"""Brokers: which records a registration, a fencing and a shutdown are."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.broker_control import (
    fence_broker,
    register_broker,
    shut_down_brokers,
    unfence_brokers,
    unregister_controller,
)
from odradek.broker.controller.machine import MetadataState
from odradek.broker.metadata.image import Endpoint
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.register_broker_record import RegisterBrokerRecord


def kinds(records: object) -> list[str]:
    return [type(record).__name__ for record in records]  # type: ignore[attr-defined]


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(nodes=2)
    made.create_topic("a", assignments={0: [1, 2]})
    return made


def test_a_registration_tells_all_that_the_broker_is(cluster: Cluster) -> None:
    endpoint = Endpoint("PLAINTEXT", "h", 9092)
    state = MetadataState(ImageWriter().image, cluster.config, 1)
    records, epoch = register_broker(state, 2, b"i" * 16, 77, [endpoint], "r", [b"d" * 16])
    (record,) = records
    assert isinstance(record, RegisterBrokerRecord)
    assert (record.broker_id, record.broker_epoch, epoch, record.fenced) == (2, 77, 77, True)
    assert (record.rack, record.log_dirs) == ("r", [b"d" * 16])
    assert {
        each.name: (each.min_supported_version, each.max_supported_version) for each in record.features
    } == state.supported(2)


def test_a_shutdown_hands_over_before_it_fences(cluster: Cluster) -> None:
    records, _ = shut_down_brokers(cluster.controller.state, [1])
    assert kinds(records) == [
        "BrokerRegistrationChangeRecord",
        "PartitionChangeRecord",
        "BrokerRegistrationChangeRecord",
    ]


def test_fencing_and_unfencing_twice_is_nothing(cluster: Cluster) -> None:
    assert unfence_brokers(cluster.controller.state, [1])[0] == []
    records, _ = fence_broker(cluster.controller.state, 1)
    assert kinds(records) == ["PartitionChangeRecord", "BrokerRegistrationChangeRecord"]
    cluster.controller.ask(fence_broker, 1)
    assert fence_broker(cluster.controller.state, 1)[0] == []
    assert shut_down_brokers(cluster.controller.state, [1])[0] == []


def test_an_unknown_broker_is_refused(cluster: Cluster) -> None:
    with pytest.raises(KafkaError) as refused:
        fence_broker(cluster.controller.state, 9)
    assert refused.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


def test_unregister_controller_forgets_another_one_only(cluster: Cluster) -> None:
    state = cluster.controller.state
    other = next(number for number in state.image.controllers if number != state.controller_id)
    assert kinds(unregister_controller(state, other)[0]) == ["UnregisterControllerRecord"]
    for number, code, text in (
        (state.controller_id, ErrorCode.INVALID_REQUEST, "Controller cannot unregister itself while it is active."),
        (99, ErrorCode.CONTROLLER_ID_NOT_REGISTERED, "Controller ID 99 is not currently registered."),
    ):
        with pytest.raises(KafkaError) as refused:
            unregister_controller(state, number)
        assert (refused.value.code, refused.value.message) == (code, text)
