"""Changes of configuration by clients: topics, brokers, loggers, groups and client-metrics subscriptions.

One :class:`Change` is what AlterConfigs (replace everything) or IncrementalAlterConfigs (single operations, KIP-339)
asks of one resource. A change is checked as a whole; a refused one changes nothing. Codes and texts are those that
Kafka 4.3.1 answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.config import loggers
from odradek.broker.config.broker_config import (
    ConfigError,
    TopicConfig,
    broker_keys,
    check_supported,
    is_list_key,
    topic_keys,
)
from odradek.broker.config.definition import ConfigKey, Update, keys_of, response_order
from odradek.broker.controller.topics import check_topic_name
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_SECURITY = ("ssl.keystore.", "ssl.truststore.", "ssl.key.password")
_THREADS = frozenset(
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
_LIKE_LISTS = frozenset({"sasl.kerberos.principal.to.local.rules"})
_CLIENT_SELECTORS = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
_MIN_INTERVAL_MS, _MAX_INTERVAL_MS = 100, 3_600_000


class ResourceType(IntEnum):
    """Kinds of configured things, as the protocol numbers them."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Operation(IntEnum):
    """What IncrementalAlterConfigs does to one key."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Assignment(NamedTuple):
    """One key of a change. The operation is a plain number: a client may send any."""

    name: str
    value: str | None
    operation: int = Operation.SET


class Change(NamedTuple):
    """What is asked of one resource. ``replaces``: keys that are not named go back to their defaults (AlterConfigs)."""

    type: int
    name: str
    assignments: Sequence[Assignment]
    replaces: bool = False


class DynamicConfigs:
    """Applies changes, and holds what groups and client-metrics subscriptions have set.

    Owner: the cluster, in the broker's task. Topic settings live in the topics, broker settings in ``cluster.config``.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.groups: dict[str, dict[str, str]] = {}
        self.client_metrics: dict[str, dict[str, str]] = {}

    def apply(self, change: Change, node_id: int, *, validate_only: bool) -> None:
        """Carry out a change that ``node_id`` was asked for, or only check it; KafkaError if Kafka would refuse it."""
        handler = {
            ResourceType.TOPIC: self._change_topic,
            ResourceType.BROKER: self._change_broker,
            ResourceType.BROKER_LOGGER: self._change_loggers,
            ResourceType.CLIENT_METRICS: self._change_client_metrics,
            ResourceType.GROUP: self._change_group,
        }.get(change.type)  # type: ignore[call-overload]
        if handler is None or (change.replaces and change.type == ResourceType.BROKER_LOGGER):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {change.type}")
        names = [assignment.name for assignment in change.assignments]
        if len(set(names)) != len(names):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
        nulls = [a.name for a in change.assignments if a.value is None and a.operation != Operation.DELETE]
        if nulls:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
        handler(change, node_id, validate_only)

    # -- the kinds of resources

    def _change_topic(self, change: Change, node_id: int, validate_only: bool) -> None:
        if change.name == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
        topic = self._cluster.topics.get(change.name)
        broker = self._cluster.config

        def default(name: str) -> str:
            value = broker.topic_default(name)
            return ",".join(value) if isinstance(value, tuple) else ""

        result = _result(change, {} if topic is None else topic.config.overrides, topic_keys(), default)
        check_topic_name(change.name)
        with _refused_as(ErrorCode.INVALID_CONFIG):
            checked = TopicConfig.check(result)
        if topic is None:
            text = f"The topic '{change.name}' does not exist."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
        if not validate_only:
            self._cluster.topics.set_overrides(topic, checked)

    def _change_broker(self, change: Change, node_id: int, validate_only: bool) -> None:
        target = _checked_node(change.name, node_id, "Unexpected broker id, expected {}, but received {}")
        broker = self._cluster.config
        current = broker.dynamic_default if target is None else broker.dynamic_nodes.get(target, {})
        keys = broker_keys()
        _check_broker_operations(change, keys)

        def default(name: str) -> str:
            value = broker.get(name, target)
            return ",".join(value) if isinstance(value, tuple) else ""

        result = _result(change, current, keys, default)
        _check_dynamic([a.name for a in change.assignments if a.name in result], keys)
        checked: dict[str, str] = {}
        with _refused_as(ErrorCode.INVALID_REQUEST):
            for name, text in result.items():
                if name not in keys:
                    raise ConfigError(f"Unknown broker config name: {name}")
                checked[name] = keys[name].normal(text)
        if target is None:
            _check_cluster_wide(result, keys)
        with _refused_as(ErrorCode.INVALID_REQUEST):
            for name, text in result.items():
                check_supported(keys[name], text)
                if name in _THREADS:
                    _check_threads(name, int(checked[name]), broker.get_int(name, target))
        if int(checked.get("log.retention.ms", "-1")) == 0:
            text = "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        self._check_min_insync(change, target, result)
        if not validate_only:
            broker.set_dynamic(target, checked)

    def _check_min_insync(self, change: Change, target: int | None, result: Mapping[str, str]) -> None:
        """KIP-966: with eligible leader replicas on, min.insync.replicas is always cluster-wide."""
        if self._cluster.features.level("eligible.leader.replicas.version") < 1:
            return
        if target is None:
            if "min.insync.replicas" not in result:
                text = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
                raise KafkaError(ErrorCode.INVALID_CONFIG, text)
        elif any(a.name == "min.insync.replicas" for a in change.assignments):
            text = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
            raise KafkaError(ErrorCode.INVALID_CONFIG, text)

    def _change_loggers(self, change: Change, node_id: int, validate_only: bool) -> None:
        if _checked_node(change.name, node_id, "Unexpected node id. Expected {}, but received {}") is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Node id must be an integer, but it is: ")
        for name, value, operation in change.assignments:
            if operation == Operation.SET:
                loggers.check(name, value or "")
            elif operation == Operation.DELETE:
                if name == loggers.ROOT:
                    text = "Removing the log level of the root logger is not allowed"
                    raise KafkaError(ErrorCode.INVALID_REQUEST, text)
                loggers.check(name)
            else:
                kind = _operation_name(operation)
                text = f"{kind} operation is not allowed for the BROKER_LOGGER resource"
                raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        if not validate_only:
            for name, value, operation in change.assignments:
                loggers.set_level(name, value if operation == Operation.SET else None)

    def _change_client_metrics(self, change: Change, node_id: int, validate_only: bool) -> None:
        if change.name == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
        keys = keys_of("client_metrics")
        # Kafka's controller does not know the types of these keys, so its APPEND finds no list.
        result = _result(change, self.client_metrics.get(change.name, {}), {}, lambda name: "")
        for name in result:
            if name not in keys:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {name}")
        with _refused_as(ErrorCode.INVALID_CONFIG):
            checked = {name: keys[name].normal(text) for name, text in result.items()}
        _check_client_metrics(checked)
        if not validate_only:
            self._store(self.client_metrics, change.name, checked)

    def _change_group(self, change: Change, node_id: int, validate_only: bool) -> None:
        if change.name == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        keys = keys_of("group")
        result = _result(change, self.groups.get(change.name, {}), keys, lambda name: "")
        with _refused_as(ErrorCode.INVALID_CONFIG):
            for name in result:
                if name not in keys:
                    raise ConfigError(f"Unknown group config name: {name}")
            checked = {name: keys[name].normal(text) for name, text in result.items()}
            for name, text in checked.items():
                self._check_group_bounds(name, text)
        if not validate_only:
            self._store(self.groups, change.name, checked)

    def _store(self, table: dict[str, dict[str, str]], name: str, values: dict[str, str]) -> None:
        """A resource that sets nothing is not listed."""
        if values:
            table[name] = values
        else:
            table.pop(name, None)
        self._cluster.metadata_changed()

    def _check_group_bounds(self, name: str, text: str) -> None:
        """A group's number must lie between the broker's ``group.<kind>.min.<rest>`` and ``.max.<rest>``."""
        kind, _, rest = name.partition(".")
        # num.standby.replicas has only an upper bound, under a name of its own.
        bounds = {"num.standby.replicas": "standby.replicas"}.get(rest, rest)
        broker = self._cluster.config
        for side, word in (("min", "greater"), ("max", "less")):
            bound = f"group.{kind}.{side}.{bounds}"
            if bound in broker_keys():
                limit = broker.get_int(bound)
                if (int(text) < limit) if side == "min" else (int(text) > limit):
                    raise ConfigError(f"{name} must be {word} than or equal to {bound}")


@contextmanager
def _refused_as(code: ErrorCode) -> Iterator[None]:
    """A ConfigError inside becomes a KafkaError with this code and the same text."""
    try:
        yield
    except ConfigError as error:
        raise KafkaError(code, str(error)) from None


def _operation_name(operation: int) -> str:
    try:
        return Operation(operation).name
    except ValueError:
        # Kafka's controller stumbles over such a number and answers with this code and no text.
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR) from None


def _result(
    change: Change, current: Mapping[str, str], keys: Mapping[str, ConfigKey], default: Callable[[str], str]
) -> dict[str, str]:
    """The settings of a resource after the change, not yet checked. ``default`` gives a list that is not set yet."""
    result = {} if change.replaces else dict(current)
    for name, value, operation in change.assignments:
        kind = _operation_name(operation)
        if operation == Operation.DELETE:
            result.pop(name, None)
            continue
        text = value or ""
        if operation == Operation.SET:
            result[name] = text
            continue
        if not is_list_key(keys.get(name)):
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Can't {kind} to key {name} because its type is not LIST.")
        items = [item for item in (result[name] if name in result else default(name)).split(",") if item]
        given = [item.strip() for item in text.split(",")]
        if operation == Operation.APPEND:
            items += [item for item in given if item not in items]
        else:
            items = [item for item in items if item not in given]
        result[name] = ",".join(items)
    return result


def _checked_node(name: str, node_id: int, wrong: str) -> int | None:
    """The node that a resource name means, None for the empty one; INVALID_REQUEST unless it is the asked node."""
    if name == "":
        return None
    try:
        asked = int(name)
    except ValueError:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}") from None
    if asked != node_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, wrong.format(node_id, asked))
    return asked


def _check_broker_operations(change: Change, keys: Mapping[str, ConfigKey]) -> None:
    """What a broker says to operations before it looks at anything else; other resources' are up to the controller."""
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


def _check_dynamic(names: Sequence[str], keys: Mapping[str, ConfigKey]) -> None:
    """INVALID_REQUEST if one of the keys cannot change while the broker runs, or only for a listener."""
    fixed = [name for name in names if name in keys and keys[name].update is Update.READ_ONLY]
    _refuse("Cannot update these configs dynamically", response_order(fixed))
    _refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        [name for name in names if name.startswith(_SECURITY)],
    )


def _check_cluster_wide(names: Iterable[str], keys: Mapping[str, ConfigKey]) -> None:
    _refuse(
        "Cannot update these configs at default cluster level, broker id must be specified",
        [name for name in names if keys[name].update is Update.PER_BROKER],
    )


def _check_threads(name: str, wanted: int, current: int) -> None:
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


def _check_client_metrics(values: Mapping[str, str]) -> None:
    """Interval bounds and selector patterns of KIP-714."""
    interval = int(values.get("interval.ms", _MAX_INTERVAL_MS))
    if not _MIN_INTERVAL_MS <= interval <= _MAX_INTERVAL_MS:
        text = (
            f"Invalid value {interval} for interval.ms, interval must be between {_MIN_INTERVAL_MS} and "
            f"{_MAX_INTERVAL_MS} (1 hour)"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    for pattern in filter(None, values.get("match", "").split(",")):
        selector, equals, expression = pattern.partition("=")
        try:
            re.compile(expression.strip())
        except re.error:
            equals = ""
        if not equals or selector.strip() not in _CLIENT_SELECTORS:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")
