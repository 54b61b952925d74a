"""The server-side assignors by the names that `group.consumer.assignors` and members use."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.assignment import Assignor, GroupSpec, Partitions
from odradek.broker.coordinator.group.consumer.range import assign_ranges
from odradek.broker.coordinator.group.consumer.uniform import assign_evenly
from odradek.broker.coordinator.group.consumer.uniform_mixed import assign_mixed


def assign_uniform(spec: GroupSpec) -> dict[str, Partitions]:
    """The assignor `uniform`: all members equally loaded, few partitions moved."""
    if not spec.members:
        return {}
    return assign_evenly(spec) if spec.homogeneous else assign_mixed(spec)


ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_ranges}
