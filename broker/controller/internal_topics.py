"""Kafka's own topics: what they look like when they are first needed."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.commands import NewTopic
from odradek.broker.metadata.topic_name_rules import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE


def internal_topic(name: str, config: BrokerConfig, brokers: int) -> NewTopic:
    """The topic of that name in a cluster of so many brokers; ValueError for one that odradek does not write to.

    A cluster of fewer brokers than Kafka's default factor of 3 must work without being told so.
    """
    if name == CONSUMER_OFFSETS:
        partitions = config.get_int("offsets.topic.num.partitions")
        factor = config.get_int("offsets.topic.replication.factor")
    elif name == TRANSACTION_STATE:
        partitions = config.get_int("transaction.state.log.num.partitions")
        factor = config.get_int("transaction.state.log.replication.factor")
    elif name == SHARE_GROUP_STATE:
        partitions = config.get_int("share.coordinator.state.topic.num.partitions")
        factor = config.get_int("share.coordinator.state.topic.replication.factor")
    else:
        raise ValueError(f"{name} is not an internal topic")
    return NewTopic(name, partitions, min(factor, brokers), configs=internal_configs(name, config, brokers))


def internal_configs(name: str, config: BrokerConfig, brokers: int) -> dict[str, str | None]:
    """The settings with which Kafka makes this topic: its own for internal topics, none for any other."""
    if name == CONSUMER_OFFSETS:
        return {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.get_int("offsets.topic.segment.bytes")),
        }
    if name == TRANSACTION_STATE:
        in_sync = min(config.get_int("transaction.state.log.min.isr"), brokers)
        return {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(in_sync),
            "segment.bytes": str(config.get_int("transaction.state.log.segment.bytes")),
            "unclean.leader.election.enable": "false",
        }
    if name == SHARE_GROUP_STATE:
        in_sync = min(config.get_int("share.coordinator.state.topic.min.isr"), brokers)
        return {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "min.insync.replicas": str(in_sync),
            "retention.ms": "-1",
            "segment.bytes": str(config.get_int("share.coordinator.state.topic.segment.bytes")),
        }
    return {}
