"""Which configs of a running broker may change, and how: the checks of Kafka 4.4.0, with its codes and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, is_list_key
from odradek.broker.config.changes import Change, Operation
from odradek.broker.config.definition import ConfigKey, Update, response_order
from odradek.broker.config.keys import base_name
from odradek.protocol.errors import ErrorCode, KafkaError

_SECURITY = ("ssl.keystore.", "ssl.truststore.", "ssl.key.password")
THREADS = frozenset(
    {
        "background.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "remote.log.manager.copier.thread.pool.size",
        "remote.log.manager.expiration.thread.pool.size",
        "remote.log.manager.follower.thread.pool.size",
        "remote.log.reader.threads",
    }
)
"""Pools that may at most double or halve with one change."""
_LISTENERS_OF_ALL = frozenset({"max.connection.creation.rate", "max.connections", "num.network.threads"})
"""The configs that may be set for a listener of all brokers at once."""
_LIKE_LISTS = frozenset({"sasl.kerberos.principal.to.local.rules"})


def check_operations(change: Change, keys: Mapping[str, ConfigKey]) -> None:
    """The first check of a broker for the operations of a request; for other resources the controller makes it."""
    for name, _, operation in change.assignments:
        if operation not in tuple(Operation):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
        if operation in (Operation.APPEND, Operation.SUBTRACT):
            if name not in keys:
                raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {name}")
            if not _takes_items(name, keys):
                kind = Operation(operation).name.lower()
                text = f"Config value {kind} is not allowed for config key: {name}"
                raise KafkaError(ErrorCode.INVALID_CONFIG, text)


def _takes_items(name: str, keys: Mapping[str, ConfigKey]) -> bool:
    return name in _LIKE_LISTS or is_list_key(keys.get(name))


def _refuse(why: str, wrong: Sequence[str]) -> None:
    if wrong:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{why}: [{', '.join(wrong)}]")


def check_dynamic(names: Sequence[str], keys: Mapping[str, ConfigKey]) -> None:
    """INVALID_REQUEST if one of the keys cannot change while the broker runs, or only for a listener."""
    fixed = [name for name in names if name in keys and keys[name].update is Update.READ_ONLY]
    _refuse("Cannot update these configs dynamically", response_order(fixed))
    _refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        [name for name in names if name.startswith(_SECURITY)],
    )


def check_fixed(fixed: Iterable[str], names: Sequence[str]) -> None:
    """INVALID_REQUEST if one of the names is of a config that cannot change while the node runs."""
    wrong = [name for name in names if name in fixed]
    _refuse("Cannot update these configs dynamically", response_order(wrong))


def check_cluster_wide(names: Iterable[str], keys: Mapping[str, ConfigKey]) -> None:
    """INVALID_REQUEST if one of the keys can be set for single brokers only."""
    _refuse(
        "Cannot update these configs at default cluster level, broker id must be specified",
        [name for name in names if _is_per_broker(name, keys)],
    )


def _is_per_broker(name: str, keys: Mapping[str, ConfigKey]) -> bool:
    base = base_name(name)
    if base is not None:
        return base not in _LISTENERS_OF_ALL
    return name in keys and keys[name].update is Update.PER_BROKER


def check_threads(name: str, wanted: int, current: int) -> None:
    """ConfigError if a pool of `THREADS` shall grow to more than double its size, or shrink to less than half."""
    if current // 2 <= wanted <= current * 2:
        return
    why = (
        f"value should be at least half the current value {current}"
        if wanted < current
        else f"value should not be greater than double the current value {current}"
    )
    raise ConfigError(
        "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed "
        f"for {name}={wanted}, {why} for configuration Invalid dynamic configuration"
    )


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
