"""Whether a streams group lets a member do what it asks, by its epoch, its tasks and the group's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from odradek.broker.coordinator.group.streams.configured import ConfiguredSubtopology
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import Owned
from odradek.protocol.errors import ErrorCode, KafkaError


def check_room(group: StreamsGroup, max_size: int) -> None:
    """A full group takes nobody, not even a member that joins again."""
    if len(group.members) >= max_size:
        text = f"The streams group has reached its maximum capacity of {max_size} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def check_epoch(member: Member, epoch: int, owned: Owned | None) -> None:
    """FENCED_MEMBER_EPOCH, unless the epoch is the member's.

    The one before is fine if what the member owns fits: the answer that told the new epoch may have been lost.
    """
    if epoch in (0, member.epoch):
        return
    if epoch > member.epoch:
        raise _fenced("greater", epoch, member)
    if epoch != member.previous_epoch or owned is None or not owned.all_in(member.assigned):
        raise _fenced("smaller", epoch, member)


def _fenced(how: str, epoch: int, member: Member) -> KafkaError:
    text = f"The streams group member has a {how} member epoch ({epoch}) than the one known by the group coordinator"
    abandon = "The member must abandon all its partitions and rejoin."
    return KafkaError(ErrorCode.FENCED_MEMBER_EPOCH, f"{text} ({member.epoch}). {abandon}")


def check_tasks(owned: Owned | None, subtopologies: Mapping[str, ConfiguredSubtopology]) -> None:
    """INVALID_REQUEST for tasks that the topology does not have."""
    for tasks in owned or ():
        for subtopology_id, partitions in tasks.items():
            subtopology = subtopologies.get(subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {subtopology_id} does not exist in the topology.")
            _check_partitions(subtopology_id, partitions, subtopology.tasks)


def _check_partitions(subtopology_id: str, partitions: Sequence[int], tasks: int) -> None:
    for partition in partitions:
        if not 0 <= partition < tasks:
            text = f"Task {partition} for subtopology {subtopology_id} is invalid."
            raise _invalid(f"{text} Number of tasks for this subtopology: {tasks}")


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, text)
