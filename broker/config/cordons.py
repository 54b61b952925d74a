"""Log directories that get no new replicas: `cordoned.log.dirs` (KIP-1066).

The controller looks at the configs of the brokers themselves. Kafka's brokers tell it what is cordoned with their
heartbeats, so its metadata log repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.protocol.errors import ErrorCode, KafkaError

CORDONED = "cordoned.log.dirs"
SINCE = 30
"""The level of `metadata.version` that brought them: 4.3-IV0."""
_ALL = "*"


def cordoned(config: BrokerConfig, node_id: int) -> Collection[str]:
    """The cordoned directories of a node, by the paths that clients know."""
    names = config.get_list(CORDONED, node_id)
    return config.directories_of(node_id) if names == (_ALL,) else names


def takes_replicas(config: BrokerConfig, node_id: int, metadata_version: int) -> bool:
    """Whether a directory of the node may get new replicas."""
    if metadata_version < SINCE or not config.get_list(CORDONED, node_id):
        return True
    return not set(config.directories_of(node_id)) <= set(cordoned(config, node_id))


def check(config: BrokerConfig, node_id: int, names: Sequence[str]) -> None:
    """ConfigError, in Kafka's words, for directories that the node does not have."""
    if _ALL in names:
        if len(names) > 1:
            text = f"When {CORDONED} is set to {_ALL}, it must not contain other values"
            raise ConfigError(f"requirement failed: {text}")
        return
    unknown = [name for name in names if name not in config.directories_of(node_id)]
    if unknown:
        text = f"All entries in {CORDONED} must be present in log.dirs or log.dir. Missing entries : "
        raise ConfigError(f"requirement failed: {text}{', '.join(unknown)}")


def check_change(
    config: BrokerConfig, node_id: int | None, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    """The same for a change of dynamic configs that a broker is asked for."""
    if node_id is not None and CORDONED in after and before.get(CORDONED) != after[CORDONED]:
        check(config, node_id, [name for name in after[CORDONED].split(",") if name])


def check_by_controller(before: str | None, after: str | None, metadata_version: int, *, by_broker: bool) -> None:
    """INVALID_CONFIG where the controller does not take a value of the config (None: it is not set any more)."""
    if metadata_version < SINCE:
        text = f"The {CORDONED} configuration value cannot be set because it requires metadata.version >= 4.3-IV0"
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)
    if by_broker or not (after or "").strip():
        return
    known = _items(before or "")
    if not set(_items(after or "")) <= set(known):
        text = (
            f"When updating {CORDONED} via controllers,  the new value must be a subset of the current configuration "
            "value."
        )
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)


def _items(text: str) -> list[str]:
    return re.split(r"\s*,\s*", text.strip())
