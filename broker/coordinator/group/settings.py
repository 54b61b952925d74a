"""The broker's configuration as far as groups are concerned."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from odradek.broker.config.broker_config import BrokerConfig, broker_keys
from odradek.broker.config.definition import keys_of
from odradek.broker.config.group_bounds import bounds_of
from odradek.broker.metadata.image import ResourceType

_GROUP: Final = int(ResourceType.GROUP)


class GroupSettings(NamedTuple):
    """The configs of classic groups and offsets, which Kafka reads at its start. Times in milliseconds."""

    min_session_timeout_ms: int = 6_000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 1_800_000  # group.max.session.timeout.ms
    initial_rebalance_delay_ms: int = 0  # group.initial.rebalance.delay.ms
    max_size: int = 2**31 - 1  # group.max.size
    offset_metadata_max_bytes: int = 4096  # offset.metadata.max.bytes
    offsets_retention_ms: int = 10_080 * 60_000  # offsets.retention.minutes
    offsets_check_interval_ms: int = 600_000  # offsets.retention.check.interval.ms
    commit_timeout_ms: int = 5_000  # offsets.commit.timeout.ms, for whatever a coordinator writes
    new_member_join_timeout_ms: int = 300_000  # Kafka has no key for it


class GroupConfigs(Protocol):
    """The configs in force now, by Kafka's names, as typed values. A machine looks here in `decide` only."""

    def broker(self, name: str) -> Any:
        """A config of the broker, such as `group.consumer.max.size`."""

    def group(self, group_id: str, name: str) -> Any:
        """A config of one group, such as `consumer.session.timeout.ms`: its own value, else the broker's default."""


class LiveConfigs:
    """The broker's own configs, and those of GROUP resources, as `GroupConfigs`.

    `own`: what resources set themselves, in normal form, as IncrementalAlterConfigs has stored it.
    """

    def __init__(self, config: BrokerConfig, own: Mapping[tuple[int, str], Mapping[str, str]]) -> None:
        self._config = config
        self._own = own
        self._in_force: dict[str, Any] = {}
        config.watchers.append(self._in_force.clear)

    def broker(self, name: str) -> Any:
        """See `GroupConfigs`."""
        value = self._in_force.get(name)
        if value is None:
            value = self._in_force[name] = self._config.get(name)
        return value

    def group(self, group_id: str, name: str) -> Any:
        """See `GroupConfigs`; `group.` + name is the broker config behind most of them."""
        own = self._own.get((_GROUP, group_id))
        if own is not None:
            text = own.get(name)
            if text is not None:
                return self._within_bounds(name, _parsed(name, text))
        value = self._in_force.get(name)
        if value is None:
            behind = _broker_config_behind(name)
            value = _default_of(name) if behind is None else self._config.get(behind)
            self._in_force[name] = value
        return value

    def _within_bounds(self, name: str, value: Any) -> Any:
        """What a group has set may be beyond bounds that the broker was given later: the nearest bound counts then."""
        lowest, highest = bounds_of(name)
        if highest is not None:
            value = min(value, self._config.get(highest))
        if lowest is not None:
            value = max(value, self._config.get(lowest))
        return value


def _broker_config_behind(name: str) -> str | None:
    behind = "group." + name
    return behind if behind in broker_keys() else None


def _default_of(name: str) -> Any:
    return keys_of("group")[name].default_value()


@lru_cache(maxsize=1 << 10)
def _parsed(name: str, text: str) -> Any:
    """Each heartbeat asks for the same few."""
    return keys_of("group")[name].parse(text)


def fixed_configs(
    values: Mapping[str, str] | None = None, groups: Mapping[str, Mapping[str, str]] | None = None
) -> GroupConfigs:
    """Configs of a broker with these `values` and these configs by group: for a machine without a cluster."""
    own = {(_GROUP, group_id): configs for group_id, configs in (groups or {}).items()}
    return LiveConfigs(BrokerConfig(values or {}), own)
