"""Which process has which task of a group, in which role: what has to be given up before it can be taken up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.subscriptions import count_down, count_up
from odradek.protocol.native import mypyc_attr

_Counts = dict[str, dict[int, dict[str, int]]]


@mypyc_attr(allow_interpreted_subclasses=True)
class Holders:
    """Processes by task. Owner: the group, which tells it of each member that changes.

    For each task and process it counts the members that have the task. Never more than one member has it active, and
    never more than one of a process has a copy, while records come one by one. A log without its superseded records
    can show the next member before the one that gave the task up, and both may be of one process.
    """

    def __init__(self) -> None:
        self._active: _Counts = {}
        self._standby: _Counts = {}
        self._warmup: _Counts = {}

    def active(self, subtopology: str, partition: int) -> str | None:
        """The process that has the task active, or has to give it up and has not yet; None if nobody has it."""
        processes = self._active.get(subtopology, {}).get(partition)
        return next(reversed(processes)) if processes else None

    def has_copy(self, process: str, subtopology: str, partition: int) -> bool:
        """Whether a process has the task as a standby or a warm-up."""
        return any(
            process in copies.get(subtopology, {}).get(partition, ()) for copies in (self._standby, self._warmup)
        )

    def add(self, member: Member) -> None:
        """The member has what it has."""
        for held in (member.assigned, member.revoking):
            _hold(self._active, held.active, member.process_id)
            _hold(self._standby, held.standby, member.process_id)
            _hold(self._warmup, held.warmup, member.process_id)

    def remove(self, member: Member) -> None:
        """The member has it no more. What another member has been given meanwhile stays with that one."""
        for held in (member.assigned, member.revoking):
            _release(self._active, held.active, member.process_id)
            _release(self._standby, held.standby, member.process_id)
            _release(self._warmup, held.warmup, member.process_id)


def _hold(counts: _Counts, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        holders = counts.setdefault(subtopology, {})
        for partition in partitions:
            count_up(holders.setdefault(partition, {}), (process,))


def _release(counts: _Counts, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        holders = counts.get(subtopology, {})
        for partition in partitions:
            processes = holders.get(partition, {})
            count_down(processes, (process,))
            if not processes:
                holders.pop(partition, None)
        if not holders:
            counts.pop(subtopology, None)
