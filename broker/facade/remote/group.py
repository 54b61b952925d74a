"""A group of a broker in another process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.generated.blocking.groups import Group
from odradek.broker.facade.groups.info import GroupInfo, SharePartitionInfo, TopicPartition
from odradek.broker.facade.groups.view import Condition, late

if TYPE_CHECKING:
    from odradek.broker.facade.remote.transport import Transport

_LOOK_EVERY_S = 0.02


class RemoteGroup(Group):
    """The same as `Group`, over HTTP. ``wait`` looks again and again: its condition is here, the group is there."""

    def __init__(self, group_id: str, remote: Transport) -> None:
        self.group_id = group_id
        self._remote = remote

    @property
    def info(self) -> GroupInfo:
        """All about the group as it is now."""
        info: GroupInfo = self._ask("info")
        return info

    @property
    def lag(self) -> int:
        """How many records it is behind; see `Group.lag`."""
        lag: int = self._ask("lag")
        return lag

    @property
    def share_partitions(self) -> Mapping[TopicPartition, SharePartitionInfo]:
        """Of a share group: where it is in the partitions from which its members fetch."""
        found: Mapping[TopicPartition, SharePartitionInfo] = self._ask("share_partitions")
        return found

    def wait_stable(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """Wait until the group is stable; see `Group.wait_stable`."""
        info: GroupInfo = self._ask("wait_stable", members=members, timeout=timeout, partitions=partitions)
        return info

    def wait(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """Wait until ``condition(info)`` holds. A state that lasts less than the moment between two looks is missed."""
        end_s = _now_s() + timeout
        while not condition(info := self.info):
            if _now_s() > end_s:
                raise late(info, timeout)
            time.sleep(_LOOK_EVERY_S)
        return info

    def _ask(self, member: str, **arguments: Any) -> Any:
        return self._remote.operate(Group, member, self.group_id, arguments)


def _now_s() -> float:
    return time.monotonic()  # noqa: TID251  a user's thread waits in real time
