"""Roles and voters; what Kafka says of single configs is in test_listener_layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.quorum_config import Quorum, check_roles, quorum_of, voters_of
from tests.scenarios.listener_rules import recorded

VOTERS = "controller.quorum.voters"
SERVERS = "controller.quorum.bootstrap.servers"
BROKERS_ONLY = {"process.roles": "broker", "controller.listener.names": "CONTROLLER"}


def quorum(values: Mapping[str, str], node_ids: Sequence[int] = (1,)) -> Quorum:
    return quorum_of(BrokerConfig(values, node_ids=node_ids))


def test_quorum_voters_are_read_from_their_text() -> None:
    assert voters_of(("1@kafka-1:9093", "2@[::1]:9093")) == {1: ("kafka-1", 9093), 2: ("::1", 9093)}
    assert voters_of(()) == {}


def test_every_node_votes_unless_voters_are_named() -> None:
    assert quorum({}, (1, 2, 3)) == Quorum((1, 2, 3), {}, static=True)
    assert quorum({VOTERS: "1@a:1,2@b:2"}, (1, 2)) == Quorum((1, 2), {}, static=True)
    assert quorum({VOTERS: "2@b:2"}, (1, 2, 3)) == Quorum((2,), {}, static=True)
    assert quorum({SERVERS: "a:1"}, (1, 2)) == Quorum((1, 2), {}, static=False)


def test_voters_that_nobody_runs() -> None:
    with pytest.raises(ConfigError, match="names node 2, which this process does not run"):
        quorum({VOTERS: "1@a:1,2@b:2"})
    with pytest.raises(ConfigError, match="the node id 3 must be included"):
        quorum({VOTERS: "1@a:1,2@b:2"}, (3, 4))


def test_separate_controllers() -> None:
    named = quorum({**BROKERS_ONLY, VOTERS: "3000@a:1,3001@[::1]:2"}, (1, 2))
    assert named == Quorum((), {3000: ("a", 1), 3001: ("::1", 2)}, static=True)
    addressed = quorum({**BROKERS_ONLY, SERVERS: "a:1,b:2"}, (1, 2))
    assert addressed == Quorum((), {3000: ("a", 1), 3001: ("b", 2)}, static=False)
    with pytest.raises(ConfigError, match="node 3000 is a broker"):
        quorum({**BROKERS_ONLY, SERVERS: "a:1"}, (3000,))


def test_controllers_of_their_own_beside_nodes_that_are_both() -> None:
    config = BrokerConfig({VOTERS: "1@a:1,3@b:2"}, nodes={3: {"process.roles": "controller"}}, node_ids=(1, 2))
    assert quorum_of(config) == Quorum((1,), {3: ("b", 2)}, static=True)


def test_a_process_has_brokers() -> None:
    with pytest.raises(ConfigError, match="roles=controller is not supported"):
        check_roles(BrokerConfig({"process.roles": "controller"}))


@pytest.mark.parametrize("release", ["4.3", "4.4"])
def test_two_ids_of_a_node_are_refused_in_the_words_of_the_release(release: str) -> None:
    _, (refused, why) = recorded(release)["node id differs"]
    assert refused == "refused"
    with pytest.raises(ConfigError) as raised:
        check_roles(BrokerConfig({"odradek.kafka.version": release, "node.id": "1", "broker.id": "2"}))
    assert str(raised.value) == why
