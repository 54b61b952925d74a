"""The configs of consumer groups, those in force now."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.config.broker_config import CONSUMER_ASSIGNORS
from odradek.broker.coordinator.group.settings import GroupConfigs

_DOWNGRADES = frozenset({"BIDIRECTIONAL", "DOWNGRADE"})
_UPGRADES = frozenset({"BIDIRECTIONAL", "UPGRADE"})


class ConsumerConfigs:
    """Typed reading of `GroupConfigs`. Times in milliseconds."""

    def __init__(self, configs: GroupConfigs) -> None:
        self._configs = configs

    def session_timeout_ms(self, group_id: str) -> int:
        """`consumer.session.timeout.ms` of a group."""
        value: int = self._configs.group(group_id, "consumer.session.timeout.ms")
        return value

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """`consumer.heartbeat.interval.ms` of a group."""
        value: int = self._configs.group(group_id, "consumer.heartbeat.interval.ms")
        return value

    def assignment_interval_ms(self, group_id: str) -> int:
        """`consumer.assignment.interval.ms` of a group."""
        value: int = self._configs.group(group_id, "consumer.assignment.interval.ms")
        return value

    @property
    def regex_refresh_interval_ms(self) -> int:
        """`group.consumer.regex.refresh.interval.ms`."""
        value: int = self._configs.broker("group.consumer.regex.refresh.interval.ms")
        return value

    @property
    def max_size(self) -> int:
        """`group.consumer.max.size`."""
        value: int = self._configs.broker("group.consumer.max.size")
        return value

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
        value: str = self._configs.broker("group.consumer.migration.policy")
        return value.upper()
