"""Kafka's own topics, as they are first made."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.internal_topics import internal_configs, internal_topic


def test_replicas_are_no_more_than_there_are_brokers() -> None:
    config = BrokerConfig({"offsets.topic.num.partitions": "7"})
    assert [internal_topic("__consumer_offsets", config, brokers).replication_factor for brokers in (1, 2, 5)] == [
        1,
        2,
        3,
    ]
    assert internal_topic("__consumer_offsets", config, 1).partitions == 7
    assert internal_topic("__transaction_state", config, 1).configs["min.insync.replicas"] == "1"
    assert internal_topic("__transaction_state", config, 3).configs["min.insync.replicas"] == "2"


def test_any_other_topic_is_not_internal() -> None:
    config = BrokerConfig({})
    assert internal_configs("orders", config, 1) == {}
    with pytest.raises(ValueError, match="orders"):
        internal_topic("orders", config, 1)
