"""Client metrics as a user of Python asks for them and sees them (KIP-714)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.config.changes import Assignment, Change
from odradek.broker.controller.config_control import alter_configs
from odradek.broker.facade.topics import config_texts
from odradek.broker.metadata.image import ResourceType

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.telemetry.pushes import TelemetryPush


def subscribe(cluster: Cluster, name: str, config: Mapping[str, Any]) -> None:
    """Set a subscription to these configs and no others (in the broker's thread); KafkaError as Kafka refuses them."""
    assignments = [Assignment(key, text) for key, text in config_texts(config).items()]
    change = Change(ResourceType.CLIENT_METRICS, name, assignments, replaces=True)
    [refused] = cluster.controller.ask(alter_configs, [change], cluster.controller_id)
    if refused is not None:
        raise refused


def pushes(cluster: Cluster) -> list[TelemetryPush]:
    """The pushed metrics, oldest first (in the broker's thread)."""
    telemetry = cluster.services.telemetry.made
    return [] if telemetry is None else list(telemetry.pushes())
