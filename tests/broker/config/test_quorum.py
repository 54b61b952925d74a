"""Roles and voters; what Kafka says of single configs is in test_listener_layout."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.quorum import check_quorum, voters_of


def test_voters() -> None:
    assert voters_of(("1@kafka-1:9093", "2@[::1]:9093")) == {1: ("kafka-1", 9093), 2: ("::1", 9093)}
    assert voters_of(()) == {}


def test_the_nodes_of_the_process_vote() -> None:
    voters = {"controller.quorum.voters": "1@a:1,2@b:2"}
    check_quorum(BrokerConfig(voters, node_ids=(1, 2)))
    with pytest.raises(ConfigError, match="names node 2, which this process does not run"):
        check_quorum(BrokerConfig(voters, node_ids=(1,)))
    with pytest.raises(ConfigError, match="the node id 3 must be included"):
        check_quorum(BrokerConfig(voters, node_ids=(1, 2, 3)))
