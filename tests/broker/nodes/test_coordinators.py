"""Coordinators that a test keeps from loading."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.metadata.image import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from odradek.protocol.errors import ErrorCode as E
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from tests.fakes.brokers import broker_fixture
from tests.fakes.lagging import TRANSACTION, Lagging

broker = broker_fixture(topics=["t"])


def test_a_transaction_coordinator_that_loads(broker: KafkaBroker) -> None:
    tx = Lagging(broker, "tx", TRANSACTION)
    with broker.hold_load(TRANSACTION_STATE, tx.index, now=True):
        assert tx.ask(InitProducerIdRequest("tx", 1000), 4).error_code == E.COORDINATOR_LOAD_IN_PROGRESS
        assert tx.ask(ListTransactionsRequest(), 0).error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    assert tx.ask(InitProducerIdRequest("tx", 1000), 4).error_code == 0
    tx.close()


def test_a_hold_of_the_next_load_leaves_what_is_loaded(broker: KafkaBroker) -> None:
    group = Lagging(broker, "g")
    assert group.fetched() == (0, -1)
    hold = broker.hold_load(CONSUMER_OFFSETS, group.index)
    assert group.fetched() == (0, -1)
    broker.reload_coordinator(group.index)
    assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
    assert group.ask(ListGroupsRequest(), 4).error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    second = broker.hold_load(CONSUMER_OFFSETS)
    hold.undo()
    assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
    second.undo()
    assert group.fetched() == (0, -1)
    group.close()


def test_a_shard_that_is_started_while_its_load_is_held(broker: KafkaBroker) -> None:
    with broker.hold_load(CONSUMER_OFFSETS):
        group = Lagging(broker, "new")
        assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
    assert group.fetched() == (0, -1)
    group.close()


def test_wrong_names_are_the_users_mistakes(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="use one of __consumer_offsets"):
        broker.hold_load("t")
    with pytest.raises(ValueError, match="partition=50: __share_group_state has 50"):
        broker.hold_load(SHARE_GROUP_STATE, 50)


@pytest.mark.parametrize("topic", [CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE])
def test_each_coordinator_can_load_again(topic: str) -> None:
    with KafkaBroker() as broker:
        with pytest.raises(ValueError, match=f"partition=3: {topic} does not exist yet"):
            broker.reload_coordinator(3, topic)
        broker.hold_load(topic, 3).undo()  # makes the topic
        broker.reload_coordinator(3, topic)
        for partition in (-1, 50):
            with pytest.raises(ValueError, match=f"partition={partition}: {topic} has 50"):
                broker.reload_coordinator(partition, topic)


def test_a_topic_without_a_coordinator_cannot_be_reloaded(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="no coordinator loads from 'orders'"):
        broker.reload_coordinator(0, "orders")
