"""The configs of streams groups in force now. Times in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from odradek.broker.coordinator.group.settings import GroupConfigs

STANDBYS = "num.standby.replicas"


class StreamsConfigs:
    """Reads the broker's configs and those of single groups."""

    def __init__(self, configs: GroupConfigs) -> None:
        self._configs = configs

    @property
    def max_size(self) -> int:
        """The most members of a group."""
        return int(self._configs.broker("group.streams.max.size"))

    def session_timeout_ms(self, group_id: str) -> int:
        """How long a member may be silent."""
        return int(self._configs.group(group_id, "streams.session.timeout.ms"))

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """How often members are told to be heard of."""
        return int(self._configs.group(group_id, "streams.heartbeat.interval.ms"))

    def initial_delay_ms(self, group_id: str) -> int:
        """How long an empty group waits for more members before tasks are assigned."""
        return int(self._configs.group(group_id, "streams.initial.rebalance.delay.ms"))

    def assignment_interval_ms(self, group_id: str) -> int:
        """The least time between two assignments."""
        return int(self._configs.group(group_id, "streams.assignment.interval.ms"))

    def assignment_configs(self, group_id: str) -> Mapping[str, str]:
        """What the assignor is told, as the group's record keeps it. Not to be changed."""
        return _with_standbys(self._configs.group(group_id, "streams.num.standby.replicas"))


@lru_cache
def _with_standbys(count: int) -> Mapping[str, str]:
    return {STANDBYS: str(count)}
