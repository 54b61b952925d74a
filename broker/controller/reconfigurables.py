"""Changes of broker configs that parts of a running broker act on: they may refuse them."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError


def check_reconfigurables(config: BrokerConfig, node_id: int | None, values: Mapping[str, str]) -> None:
    """ConfigError, in Kafka's words, if these dynamic configs of a node (None: of all) cannot take effect."""
    if node_id is None:
        return
    try:
        for each in config.reconfigurables:
            each.check(node_id, values)
    except ConfigError as error:
        raise ConfigError(
            f"Invalid value org.apache.kafka.common.config.ConfigException: {error} for configuration Invalid dynamic "
            "configuration"
        ) from None
