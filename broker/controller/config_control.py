"""Changes of configuration that the metadata log keeps: topics, brokers, groups and client-metrics subscriptions.

A change is checked as a whole; a refused one changes nothing. Codes and texts are those that Kafka 4.4.0 answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, TopicConfig, check_supported, is_list_key
from odradek.broker.config.changes import Change, Operation, check_change, checked_node, result_of
from odradek.broker.config.client_selectors import IllegalSelectorError, parse_selectors
from odradek.broker.config.definition import (
    ConfigKey,
    Update,
    by_definition,
    first_unknown,
    keys_of,
    normal_values,
    response_order,
)
from odradek.broker.config.keys import BOUNDED, LIVE_LISTENERS, base_name, bounds_of
from odradek.broker.config.listener_layout import NEEDS_OVERRIDES, OVERRIDES, PER_IP, check_connections, check_listeners
from odradek.broker.config.requirements import (
    CORDONED,
    check_cordons_changed,
    check_cordons_of_metadata,
    check_requirements,
    check_topic,
)
from odradek.broker.config.requirements import check_dynamic as check_dynamic_limits
from odradek.broker.controller.feature_levels import MIN_INSYNC_REPLICAS
from odradek.broker.controller.machine import Decision, MetadataState, each_by_itself
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, MetadataImage, ResourceType, check_topic_name
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.clear_elr_record import ClearElrRecord
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.java_maps import hash_of_text, java_order, timeline_order
from odradek.protocol.message import MetadataRecord

_AT_LEAST_ONE = frozenset({"max.connection.creation.rate", "max.connections"})
_MIN_INTERVAL_MS, _MAX_INTERVAL_MS = 100, 3_600_000


MAX_VALUE_BYTES = 32_767


def alter_configs(
    state: MetadataState, changes: Sequence[Change], node_id: int | None, *, validate_only: bool = False
) -> Decision[list[KafkaError | None]]:
    """Change the configs of resources that differ from each other; replies for each.

    `node_id`: the broker that was asked, which changes no other broker's; None for a controller, which changes all.
    """
    records, results = each_by_itself(changes, lambda change: _records_of(state, change, node_id))
    stumbled = next((each for each in results if each and each.code is ErrorCode.UNKNOWN_SERVER_ERROR), None)
    if stumbled and not changes[0].replaces:
        # Kafka's controller fails at the whole request, of which its broker has refused parts before.
        refused = ErrorCode.INVALID_REQUEST
        return [], [each if each and each.code is refused else stumbled for each in results]
    # What clears eligible leader replicas stands behind all configs of a request.
    records.sort(key=lambda record: record.RECORD_TYPE == ClearElrRecord.RECORD_TYPE)
    return [] if validate_only else records, results


def _records_of(state: MetadataState, change: Change, node_id: int | None) -> list[MetadataRecord]:
    check_change(change, fails_at_nulls=state.config.release.fails_at_null_configs)
    changed = _KINDS.get(change.type)
    if changed is None or change.type in state.config.release.unknown_resources:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {change.type}")
    after = changed(state, change, node_id)
    current = state.image.configs_of(change.type, change.name)
    # As in Kafka a broker is told again what it is told already: it reads files anew then (KAFKA-14136).
    named = [each.name for each in change.assignments]
    again = named if change.type == ResourceType.BROKER else ()
    return config_records(state.image, change.type, change.name, current, after, named, again)


# -- the kinds of resources


def _changed_topic(state: MetadataState, change: Change, node_id: int | None) -> dict[str, str]:
    current = state.image.configs_of(ResourceType.TOPIC, change.name)
    keys = state.config.keys.topic
    result = result_of(change, current, keys, _kafkas_default(keys))
    if change.name == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    check_topic_name(change.name)
    with _refused_as(ErrorCode.INVALID_CONFIG):
        checked = TopicConfig.check(result, keys)
        if "remote.storage.enable" in checked or "remote.storage.enable" in current:
            check_topic(state.config, current, checked)
    if change.name not in state.image.topics:
        text = f"The topic '{change.name}' does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
    return checked


def _changed_broker(state: MetadataState, change: Change, node_id: int | None) -> dict[str, str]:
    if node_id is None:
        target = _any_node(state, change)
    else:
        target = checked_node(change.name, node_id, "Unexpected broker id, expected {}, but received {}")
    broker = state.config
    current = state.image.configs_of(ResourceType.BROKER, change.name)
    keys = broker.keys.broker
    check_operations(change, keys)
    result = result_of(change, current, keys, _kafkas_default(keys))
    check_dynamic([a.name for a in change.assignments if a.name in result], keys)
    normal: dict[str, str] = {}
    with _refused_as(ErrorCode.INVALID_REQUEST):
        for name in by_definition(result, keys):
            key = broker.keys.find(name)
            normal[name] = result[name] if key is None else key.normal(result[name])
    checked = {name: normal[name] for name in result}
    if target is None:
        check_cluster_wide(result, keys)
    with _refused_as(ErrorCode.INVALID_REQUEST):
        for name, text in result.items():
            key = broker.keys.find(name)
            if key is None:
                if current.get(name) != text:
                    broker.warn_of_unknown(name)
                continue
            check_supported(key, text)
            if name in THREADS:
                check_threads(name, int(checked[name]), broker.get_int(name, target))
    with _refused_as(ErrorCode.INVALID_REQUEST):
        check_requirements(broker, checked, target)
        _check_connections(state, checked, target)
        check_dynamic_limits(state.config, checked, target)
        if node_id is not None:
            check_cordons_changed(broker, target, current, checked)
    if CORDONED in [each.name for each in change.assignments]:
        level = state.image.feature(METADATA_VERSION)
        before, after = (values.get(CORDONED) for values in (current, checked))
        check_cordons_of_metadata(before, after, level, by_broker=node_id is not None)
    with _refused_as(ErrorCode.INVALID_REQUEST):
        if target is not None:
            check_listeners(broker, target, checked)
        check_reconfigurables(broker, target, checked)
    _check_min_insync(state, change, target, result)
    return checked


def _any_node(state: MetadataState, change: Change) -> int | None:
    """The broker or controller that a controller is asked to change; None for all brokers."""
    if change.name == "":
        return None
    try:
        target = int(change.name)
    except ValueError:
        text = "Unable to parse broker name as a base 10 number."
        raise KafkaError(ErrorCode.INVALID_REQUEST, text) from None
    if target in state.image.brokers:
        return target
    if target not in state.image.controllers:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {target} found.")
    # What a controller that is no broker listens on is fixed.
    check_fixed(LIVE_LISTENERS, [each.name for each in change.assignments])
    return target


def _check_connections(state: MetadataState, checked: Mapping[str, str], target: int | None) -> None:
    """Limits of connections: none is 0, but for those of an address where others have their own."""
    for name, text in checked.items():
        base = base_name(name) or name
        if base in _AT_LEAST_ONE and int(text) <= 0:
            raise ConfigError(
                f"Invalid value org.apache.kafka.common.config.ConfigException: Invalid {base} {text} for "
                "configuration Invalid dynamic configuration"
            )
    if PER_IP in checked or OVERRIDES in checked:
        per_ip = checked.get(PER_IP) or state.config.text(PER_IP, target) or ""
        overrides = checked.get(OVERRIDES) if OVERRIDES in checked else state.config.text(OVERRIDES, target)
        if int(per_ip) == 0 and not overrides:
            raise ConfigError(f"requirement failed: {NEEDS_OVERRIDES}")
        check_connections(int(per_ip), overrides or "")


def _check_min_insync(state: MetadataState, change: Change, target: int | None, result: Mapping[str, str]) -> None:
    """KIP-966: with eligible leader replicas on, min.insync.replicas is always cluster-wide."""
    if state.image.feature(ELR_VERSION) < 1:
        return
    if target is None:
        if MIN_INSYNC_REPLICAS not in result:
            text = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
            raise KafkaError(ErrorCode.INVALID_CONFIG, text)
    elif any(a.name == MIN_INSYNC_REPLICAS for a in change.assignments):
        text = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)


def _changed_client_metrics(state: MetadataState, change: Change, node_id: int | None) -> dict[str, str]:
    if change.name == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    keys = keys_of("client_metrics")
    current = state.image.configs_of(ResourceType.CLIENT_METRICS, change.name)
    # Kafka's controller does not know the types of these keys, so its APPEND finds no list.
    result = result_of(change, current, {}, lambda name: "")
    unknown = first_unknown(result, keys)
    if unknown is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {unknown}")
    with _refused_as(ErrorCode.INVALID_CONFIG):
        checked = normal_values(result, keys)
    _check_client_metrics(checked)
    return checked


def _changed_group(state: MetadataState, change: Change, node_id: int | None) -> dict[str, str]:
    if change.name == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    keys = state.config.keys.group
    # Kafka's controller does not know the types of these keys either.
    result = result_of(change, state.image.configs_of(ResourceType.GROUP, change.name), {}, lambda name: "")
    with _refused_as(ErrorCode.INVALID_CONFIG):
        unknown = first_unknown(result, keys)
        if unknown is not None:
            raise ConfigError(f"Unknown group config name: {unknown}")
        check_group_texts(result)
        checked = normal_values(result, keys)
        for name, text in checked.items():
            check_supported(keys[name], text)
        check_group_configs(checked, state.config)
    return checked


_KINDS: Mapping[int, Callable[[MetadataState, Change, int | None], dict[str, str]]] = {
    ResourceType.TOPIC: _changed_topic,
    ResourceType.BROKER: _changed_broker,
    ResourceType.CLIENT_METRICS: _changed_client_metrics,
    ResourceType.GROUP: _changed_group,
}


def config_records(
    image: MetadataImage,
    kind: int,
    name: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
    named: Iterable[str],
    again: Container[str] = (),
) -> list[MetadataRecord]:
    """The records that lead a resource from the old settings to the new ones, with a ClearElrRecord where Kafka adds
    one (KIP-966).

    `named`: the keys of the request, whose records come first. `again`: keys that are written also if they stay as
    they are.
    """
    keys = dict.fromkeys([*java_order(named, hash_of_text), *timeline_order(tuple(before), len(before))])
    changes = {key: after.get(key) for key in keys if before.get(key) != after.get(key) or key in again}
    records: list[MetadataRecord] = [ConfigRecord(kind, name, key, text) for key, text in changes.items()]
    if MIN_INSYNC_REPLICAS in changes and image.feature(ELR_VERSION):
        records.append(ClearElrRecord(name if kind == ResourceType.TOPIC else ""))
    if any(text is not None and len(text) > MAX_VALUE_BYTES for text in changes.values()):
        text = (
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{MAX_VALUE_BYTES} bytes."
        )
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)
    return records


def _kafkas_default(keys: Mapping[str, ConfigKey]) -> Callable[[str], str]:
    """The start value of a list that the resource does not set: Kafka uses its own default, whatever is in force."""
    return lambda name: keys[name].default or ""


@contextmanager
def _refused_as(code: ErrorCode) -> Iterator[None]:
    """A ConfigError inside becomes a KafkaError with this code and the same text."""
    try:
        yield
    except ConfigError as error:
        raise KafkaError(code, str(error)) from None


def _check_client_metrics(values: Mapping[str, str]) -> None:
    """Interval bounds and selector patterns of KIP-714."""
    interval = int(values.get("interval.ms", _MAX_INTERVAL_MS))
    if not _MIN_INTERVAL_MS <= interval <= _MAX_INTERVAL_MS:
        text = (
            f"Invalid value {interval} for interval.ms, interval must be between {_MIN_INTERVAL_MS} and "
            f"{_MAX_INTERVAL_MS} (1 hour)"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    try:
        parse_selectors(filter(None, values.get("match", "").split(",")))
    except IllegalSelectorError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None


# -- Checks the configs of a group against the broker's own, as Kafka does, in its order.

_GROUP_KINDS = ("consumer", "share", "streams")
STREAMS_ASSIGNOR = "sticky"
_DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"


_TAGS = "streams.rack.aware.assignment.tags"
_ASSIGNOR = "streams.assignor.name"
_COMMAS = re.compile(r"\s*,\s*")


def check_group_texts(own: Mapping[str, str]) -> None:
    """ConfigError for values that Kafka refuses before it looks at their types. `own`: as they were given."""
    tags = own.get(_TAGS, "").strip()
    if len(set(_COMMAS.split(tags))) < len(_COMMAS.split(tags)):
        raise ConfigError(f"{_TAGS} must not contain duplicate tag keys.")


def check_group_configs(own: Mapping[str, str], broker: BrokerConfig) -> None:
    """ConfigError if a value that a group sets itself is out of bounds, or its sessions end before a heartbeat is due.

    `own`: in normal form. A config that the group does not set is the broker's.
    """
    if own.get(_DEAD_LETTER_TOPIC, "").startswith("__"):
        raise ConfigError(f"{_DEAD_LETTER_TOPIC}: DLQ topic name must not start with '__'")
    for name in BOUNDED:
        if name in own:
            _check_bounds(name, int(own[name]), broker)
    if own.get(_ASSIGNOR, STREAMS_ASSIGNOR) != STREAMS_ASSIGNOR:
        known = f"is not a registered task assignor. Registered assignors are: [{STREAMS_ASSIGNOR}]."
        raise ConfigError(f"{_ASSIGNOR} '{own[_ASSIGNOR]}' {known}")
    for kind in _GROUP_KINDS:
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _in_force(session, own, broker) <= _in_force(heartbeat, own, broker):
            raise ConfigError(f"{session} must be greater than {heartbeat}")


def _check_bounds(name: str, value: int, broker: BrokerConfig) -> None:
    """A release names the bounds' values, or their configs."""
    names = bounds_of(name)
    lowest, highest = (None if bound is None else broker.get_int(bound) for bound in names)
    low, high = lowest is not None and value < lowest, highest is not None and value > highest
    by_value = broker.release.tells_bounds_by_value
    if by_value and None not in names and (low or high):
        raise ConfigError(f"{name} must be in the range {lowest} to {highest} inclusive.")
    if low:
        raise ConfigError(f"{name} must be greater than or equal to {lowest if by_value else names.lowest}")
    if high:
        raise ConfigError(f"{name} must be less than or equal to {highest if by_value else names.highest}")


def _in_force(name: str, own: Mapping[str, str], broker: BrokerConfig) -> int:
    return int(own[name]) if name in own else broker.get_int(f"group.{name}")


# -- Dynamic configs of brokers: which may be set, at which level, and in which steps.


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
    for assignment in change.assignments:
        if assignment.operation not in tuple(Operation):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {assignment.operation}")
    for name, _, operation in change.assignments:
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
