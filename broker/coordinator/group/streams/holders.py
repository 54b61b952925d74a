"""Which process has which task of a group, in which role: what has to be given up before it can be taken up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import Held

_Copies = dict[str, dict[int, set[str]]]


class Holders:
    """Processes by task. Owner: the group, which tells it of each member that changes."""

    def __init__(self) -> None:
        self._active: dict[str, dict[int, str]] = {}
        self._standby: _Copies = {}
        self._warmup: _Copies = {}

    def active(self, subtopology: str, partition: int) -> str | None:
        """The process that has the task active, or has to give it up and has not yet; None if nobody has it."""
        return self._active.get(subtopology, {}).get(partition)

    def has_copy(self, process: str, subtopology: str, partition: int) -> bool:
        """Whether a process has the task as a standby or a warm-up."""
        return any(
            process in copies.get(subtopology, {}).get(partition, ()) for copies in (self._standby, self._warmup)
        )

    def add(self, member: Member) -> None:
        """The member has what it has."""
        for held in (member.assigned, member.revoking):
            self._add(held, member.process_id)

    def remove(self, member: Member) -> None:
        """The member has it no more. What another process has been given meanwhile stays with that one."""
        for held in (member.assigned, member.revoking):
            self._remove(held, member.process_id)

    def _add(self, held: Held, process: str) -> None:
        for subtopology, partitions in held.active.items():
            processes = self._active.setdefault(subtopology, {})
            for partition in partitions:
                processes[partition] = process
        for copies, tasks in ((self._standby, held.standby), (self._warmup, held.warmup)):
            _add_copies(copies, tasks, process)

    def _remove(self, held: Held, process: str) -> None:
        for subtopology, partitions in held.active.items():
            processes = self._active.get(subtopology, {})
            for partition in partitions:
                if processes.get(partition) == process:
                    del processes[partition]
        for copies, tasks in ((self._standby, held.standby), (self._warmup, held.warmup)):
            _remove_copies(copies, tasks, process)


def _add_copies(copies: _Copies, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        processes = copies.setdefault(subtopology, {})
        for partition in partitions:
            processes.setdefault(partition, set()).add(process)


def _remove_copies(copies: _Copies, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        processes = copies.get(subtopology, {})
        for partition in partitions:
            present = processes.get(partition)
            if present is not None:
                present.discard(process)
                if not present:
                    del processes[partition]
