"""Producer ids are unique in the cluster and grow on every node."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import Adopt
from odradek.broker.controller.producer_ids import MAX_PRODUCER_ID, ProducerIdBlocks
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord


@pytest.fixture
def ids() -> ProducerIdBlocks:
    return Cluster(nodes=3).controller.producer_ids


def test_ids_of_one_node_count_up_from_zero(ids: ProducerIdBlocks) -> None:
    assert [ids.allocate(1) for _ in range(3)] == [0, 1, 2]


def test_each_node_works_through_blocks_of_its_own(ids: ProducerIdBlocks) -> None:
    assert ids.allocate(1) == 0
    assert ids.allocate(2) == 1000
    assert ids.allocate(1) == 1
    for _ in range(998):
        ids.allocate(1)
    assert ids.allocate(1) == 2000


def test_a_block_is_a_record_before_an_id_of_it_is_given() -> None:
    cluster = Cluster()
    assert cluster.image.next_producer_id == 0
    cluster.controller.producer_ids.allocate(1)
    before = cluster.image.offset
    assert cluster.image.next_producer_id == 1000
    cluster.controller.producer_ids.allocate(1)
    assert cluster.image.offset == before


def test_while_the_controller_is_at_work_a_new_block_has_to_be_waited_for() -> None:
    cluster = Cluster()
    codes: list[ErrorCode] = []

    def publish(delta: object, image: object) -> None:
        try:
            cluster.controller.producer_ids.allocate(1)
        except KafkaError as error:
            codes.append(error.code)

    cluster.controller.publishers.append(publish)
    cluster.create_topic("a")
    assert codes == [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    assert cluster.controller.producer_ids.allocate(1) == 0


def test_running_out_is_an_error() -> None:
    cluster = Cluster()
    cluster.controller.ask(Adopt([ProducerIdsRecord(1, -1, MAX_PRODUCER_ID - 10)]))
    with pytest.raises(KafkaError) as caught:
        cluster.controller.producer_ids.allocate(1)
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
