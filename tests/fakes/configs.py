"""Configs that are simply there."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.cluster import Cluster
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.controller.config_control import alter_configs


def set_configs(cluster: Cluster, kind: int, name: str, values: Mapping[str, str], node_id: int = 1) -> None:
    """Let a resource set these configs and no others; KafkaError if Kafka would refuse them."""
    change = Change(kind, name, [Assignment(*item) for item in values.items()], replaces=True)
    (error,) = cluster.controller.ask(alter_configs, [change], node_id)
    if error is not None:
        raise error
