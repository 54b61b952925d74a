"""The configs of groups: the broker's, and each kind's with the group's own values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from odradek.broker.config.broker_config import CONSUMER_ASSIGNORS, BrokerConfig
from odradek.broker.config.definition import ConfigKey
from odradek.broker.config.keys import bounds_of
from odradek.broker.metadata.image import ResourceType
from odradek.broker.partitions.share.states import ShareSettings
from odradek.broker.releases.release import Release
from odradek.protocol.text_cache import text_cache

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


def read_settings(config: BrokerConfig) -> GroupSettings:
    """Read the settings of groups from the broker's configuration."""
    return GroupSettings(
        min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
        max_size=config.get_int("group.max.size"),
        offset_metadata_max_bytes=config.get_int("offset.metadata.max.bytes"),
        offsets_retention_ms=config.get_int("offsets.retention.minutes") * 60_000,
        offsets_check_interval_ms=config.get_int("offsets.retention.check.interval.ms"),
        commit_timeout_ms=config.get_int("offsets.commit.timeout.ms"),
    )


class GroupConfigs:
    """The configs in force now, by Kafka's names, as typed values. A machine looks here in `decide` only.

    `own`: what GROUP resources set themselves, in normal form, as IncrementalAlterConfigs has stored it. `release`: the
    Kafka that the cluster behaves as.
    """

    def __init__(self, config: BrokerConfig, own: Mapping[tuple[int, str], Mapping[str, str]]) -> None:
        self._config = config
        self._own = own
        self._in_force: dict[str, Any] = {}
        self.release = config.release
        config.watchers.append(self._changed)

    def _changed(self) -> None:
        self._in_force.clear()
        self.release = self._config.release

    def broker(self, name: str) -> Any:
        """A config of the broker, such as `group.consumer.max.size`."""
        value = self._in_force.get(name)
        if value is None:
            value = self._in_force[name] = self._config.get(name)
        return value

    def group(self, group_id: str, name: str) -> Any:
        """A config of one group, such as `consumer.session.timeout.ms`: its own value, else the broker's default.

        `group.` + name is the broker config behind most of them.
        """
        own = self._own.get((_GROUP, group_id))
        if own is not None:
            text = own.get(name)
            if text is not None:
                return self._within_bounds(name, _parsed(self._config.keys.group[name], text))
        value = self._in_force.get(name)
        if value is None:
            behind, keys = f"group.{name}", self._config.keys
            if behind in keys.broker:
                value = self._config.get(behind)
            elif name in keys.group:
                value = keys.group[name].default_value()
            else:
                value = _BEFORE[name]
            self._in_force[name] = value
        return value

    def _within_bounds(self, name: str, value: Any) -> Any:
        """The value, or the nearest bound.

        The broker's bounds may have changed after a group's own value was set.
        """
        lowest, highest = bounds_of(name)
        if highest is not None:
            value = min(value, self._config.get(highest))
        if lowest is not None:
            value = max(value, self._config.get(lowest))
        return value


@text_cache(1 << 10)
def _parsed(key: ConfigKey, text: str) -> Any:
    """Each heartbeat asks for the same few."""
    return key.parse(text)


def fixed_configs(
    values: Mapping[str, str] | None = None, groups: Mapping[str, Mapping[str, str]] | None = None
) -> GroupConfigs:
    """Configs of a broker with these `values` and these configs by group: for a machine without a cluster."""
    own = {(_GROUP, group_id): configs for group_id, configs in (groups or {}).items()}
    return GroupConfigs(BrokerConfig(values or {}), own)


_BEFORE: Mapping[str, Any] = {
    "consumer.assignment.interval.ms": 0,
    "share.assignment.interval.ms": 0,
    "streams.assignment.interval.ms": 0,
    "share.renew.acknowledge.enable": True,
}
"""What groups do as releases that have no config for it."""

_DOWNGRADES = frozenset({"BIDIRECTIONAL", "DOWNGRADE"})
_UPGRADES = frozenset({"BIDIRECTIONAL", "UPGRADE"})


class EpochConfigs:
    """Typed reading of `GroupConfigs` for one protocol of groups with epochs. Times in milliseconds.

    `protocol`: the word for it in the names of configs.
    """

    protocol: ClassVar[str]

    def __init__(self, configs: GroupConfigs) -> None:
        self._configs = configs
        self._session = f"{self.protocol}.session.timeout.ms"
        self._heartbeat = f"{self.protocol}.heartbeat.interval.ms"
        self._interval = f"{self.protocol}.assignment.interval.ms"

    @property
    def release(self) -> Release:
        return self._configs.release

    @property
    def max_size(self) -> int:
        """The most members of a group."""
        return int(self._configs.broker(f"group.{self.protocol}.max.size"))

    def session_timeout_ms(self, group_id: str) -> int:
        """The session timeout of a group's members."""
        value: int = self._configs.group(group_id, self._session)
        return value

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """The heartbeat interval in answers to members."""
        value: int = self._configs.group(group_id, self._heartbeat)
        return value

    def may_assign(self, group_id: str, last_ms: int, now_ms: int) -> bool:
        """Whether the least time between two assignments has passed since `last_ms` (0: there was none)."""
        interval_ms: int = self._configs.group(group_id, self._interval)
        return last_ms == 0 or interval_ms == 0 or now_ms >= last_ms + interval_ms


class ShareConfigs(EpochConfigs):
    """The configs of share groups' members."""

    protocol: ClassVar[str] = "share"


class ConsumerConfigs(EpochConfigs):
    """The configs of consumer groups."""

    protocol: ClassVar[str] = "consumer"

    @property
    def regex_refresh_interval_ms(self) -> int:
        """`group.consumer.regex.refresh.interval.ms`."""
        return int(self._configs.broker("group.consumer.regex.refresh.interval.ms"))

    @property
    def first_assignor(self) -> str:
        """The first of `group.consumer.assignors`: for groups whose members ask for none."""
        listed: Sequence[str] = self._configs.broker("group.consumer.assignors")
        return CONSUMER_ASSIGNORS[listed[0]]

    @property
    def upgrades(self) -> bool:
        """Whether a classic group becomes a consumer group when a consumer member joins."""
        return self._migration in _UPGRADES

    @property
    def downgrades(self) -> bool:
        """Whether a consumer group becomes a classic one when only classic members are left."""
        return self._migration in _DOWNGRADES

    @property
    def mixes(self) -> bool:
        """Whether classic members may join a consumer group at all."""
        return self._migration != "DISABLED"

    @property
    def _migration(self) -> str:
        return str(self._configs.broker("group.consumer.migration.policy")).upper()


STANDBYS = "num.standby.replicas"
TAGS = "rack.aware.assignment.tags"
_DESCRIPTION_PLUGIN: Final = "group.streams.topology.description.plugin.class"


class StreamsConfigs(EpochConfigs):
    """The configs of streams groups."""

    protocol: ClassVar[str] = "streams"

    def initial_delay_ms(self, group_id: str) -> int:
        """How long an empty group waits for more members before it assigns tasks."""
        return int(self._configs.group(group_id, "streams.initial.rebalance.delay.ms"))

    def assignment_configs(self, group_id: str) -> Mapping[str, str]:
        """The assignor's configs, as the group's record stores them. Do not change them."""
        knows_tags = self.release.knows_tags_of_standbys
        tags = self._configs.group(group_id, "streams.rack.aware.assignment.tags") if knows_tags else ()
        return _assignment_configs(self._configs.group(group_id, "streams.num.standby.replicas"), tuple(tags))

    @property
    def keeps_descriptions(self) -> bool:
        """Whether there is a plugin that keeps descriptions of topologies."""
        return self.release.knows_topology_descriptions and bool(self._configs.broker(_DESCRIPTION_PLUGIN))


@lru_cache
def _assignment_configs(standbys: int, tags: tuple[str, ...]) -> Mapping[str, str]:
    return {STANDBYS: str(standbys), **({TAGS: ",".join(tags)} if tags else {})}


def share_settings(configs: GroupConfigs, group_id: str, *, queues: bool = False) -> ShareSettings:
    """The value in force for the group: its own config, else the broker's. `queues`: there are dead letter queues."""
    queue = configs.group(group_id, "errors.deadletterqueue.topic.name") if queues else ""
    return ShareSettings(
        lock_duration_ms=configs.group(group_id, "share.record.lock.duration.ms"),
        delivery_limit=configs.group(group_id, "share.delivery.count.limit"),
        max_locks=configs.group(group_id, "share.partition.max.record.locks"),
        renew_enabled=configs.group(group_id, "share.renew.acknowledge.enable"),
        isolation_level=configs.group(group_id, "share.isolation.level"),
        auto_offset_reset=configs.group(group_id, "share.auto.offset.reset"),
        dead_letter_topic=queue,
        copies_dead_letters=bool(queue) and configs.group(group_id, "errors.deadletterqueue.copy.record.enable"),
    )
