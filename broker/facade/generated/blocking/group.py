"""A group of a running broker.

Generated from facade/verbs/group.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S, blocking_settled
from odradek.broker.facade.group_info import GroupInfo
from odradek.broker.facade.group_watch import Condition, GroupWatch, is_stable, late
from odradek.broker.facade.groups import GroupView


class Group(GroupView):
    """A group by its id; it need not exist yet. Every property is a fresh look.

    A wait returns as soon as the coordinator gets there, without polling.
    """

    def wait_stable(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """Wait until the group is stable with ``members`` members and every partition has been assigned.

        Every partition of the topics that members subscribe to; with ``partitions`` instead exactly so many, for
        assignors that leave some out. A generation of a cooperative rebalance that only takes partitions away is thus
        not stable. Of share groups only ``partitions`` is looked at. TimeoutError, which says what is missing, after
        seconds.
        """
        return self.wait(is_stable(members, partitions), timeout)

    def wait(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """Wait until ``condition(info)`` holds; it is looked at whenever the group enters another state.

        TimeoutError, which says how the group stands, after seconds.
        """
        with GroupWatch(self, condition) as reached:
            if not blocking_settled(reached, timeout):
                raise late(self.info, timeout)
            return reached.result()
