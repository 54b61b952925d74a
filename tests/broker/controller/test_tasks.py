"""Expired tokens go on the broker's clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio
import trio.testing

from odradek import KafkaBroker
from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.quorum_config import AUTO_JOIN
from odradek.broker.controller.tasks import remove_expired_tokens
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest
from tests.fakes.wire_client import WireClient


class Swept:
    """A controller that has so many thousands of expired tokens, and fails at first."""

    def __init__(self, thousands: int) -> None:
        self.asked = 0
        self._left = thousands

    def ask(self, command: object) -> bool:
        self.asked += 1
        if self.asked == 1:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        self._left -= 1
        return self._left > 0


def test_all_of_them_go_at_each_interval() -> None:
    trio.run(_intervals)


async def _intervals() -> None:
    clock = BrokerClock()
    clock.attach()
    clock.freeze()
    controller: Any = Swept(3)
    config = BrokerConfig({"delegation.token.expiry.check.interval.ms": "60000"})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove_expired_tokens, controller, config, clock)
        for seconds, asked in ((59, 0), (1, 1), (60, 4), (60, 5)):
            await trio.testing.wait_all_tasks_blocked()
            clock.advance(seconds)
            await trio.testing.wait_all_tasks_blocked()
            assert controller.asked == asked
        nursery.cancel_scope.cancel()


# -- Controllers that become voters by themselves. The times are those of `KafkaRaftClient` and `FollowerState`.

PERIOD = "controller.quorum.fetch.timeout.ms"
COMBINED = {
    "controller.quorum.bootstrap.servers": "127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(nodes=2, config={**COMBINED, AUTO_JOIN: True, PERIOD: 5000}) as running:
        running.clock.freeze()
        yield running
        assert not running.bugs, running.bugs[0]


def voters(broker: KafkaBroker) -> list[int]:
    return [node.id for node in broker.cluster.quorum.voters]


def remove(broker: KafkaBroker, voter: int) -> None:
    node = broker.nodes[1]
    directory = broker.cluster.members[voter].metadata_directory
    with WireClient(node.host, node.port) as client:
        assert client.request(RemoveRaftVoterRequest(None, voter, directory)).error_code == 0
    assert voter not in voters(broker)


def test_a_node_that_joins_votes_after_the_fetch_timeout(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.clock.advance(seconds=4.9)
    assert voters(broker) == [1, 2]
    offset = broker.cluster.controller.next_offset
    broker.clock.advance(seconds=0.1)
    assert voters(broker) == [1, 2, new]
    assert broker.cluster.controller.next_offset == offset + 1  # the log names the voters


def test_a_voter_that_is_removed_while_it_is_up_comes_back(broker: KafkaBroker) -> None:
    remove(broker, 2)
    broker.clock.advance(seconds=5)
    assert voters(broker) == [1, 2]


def test_one_that_is_stopped_before_comes_back_when_it_starts(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    remove(broker, 2)
    broker.clock.advance(seconds=60)
    assert voters(broker) == [1]
    broker.start_node(2)
    broker.clock.advance(seconds=5)
    assert voters(broker) == [1, 2]


def test_one_that_does_not_reach_the_leader_tries_again(broker: KafkaBroker) -> None:
    with broker.cut(1, 2):
        remove(broker, 2)
        broker.clock.advance(seconds=60)
        assert voters(broker) == [1]
    broker.clock.advance(seconds=5)
    assert voters(broker) == [1, 2]


def test_a_node_with_a_value_of_its_own(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    broker.start_node(2, config={AUTO_JOIN: False})
    remove(broker, 2)
    broker.clock.advance(seconds=60)
    assert voters(broker) == [1]
    broker.stop_node(2)
    broker.start_node(2, config={})
    broker.clock.advance(seconds=5)
    assert voters(broker) == [1, 2]


def test_nobody_joins_by_default() -> None:
    with KafkaBroker(config=COMBINED) as broker:
        broker.add_node()
        broker.clock.advance(seconds=60)
        assert voters(broker) == [1]


def test_a_broker_alone_cannot_join() -> None:
    config = {"process.roles": "broker", "controller.listener.names": "C", "controller.quorum.bootstrap.servers": "a:1"}
    with pytest.raises(ValueError, match=f"{AUTO_JOIN} is only supported when process.roles contains the 'controller'"):
        KafkaBroker(config={**config, AUTO_JOIN: True})
