"""Epochs, tasks and room."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.configured import ConfiguredSubtopology
from odradek.broker.coordinator.group.streams.fencing import check_epoch, check_room, check_tasks
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import Held
from odradek.broker.coordinator.group.streams.topology import Subtopology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import owned

MEMBER = Member("m", 5, 4, assigned=Held({"0": {0: 5, 1: 3}}))


@pytest.mark.parametrize(("epoch", "has"), [(0, None), (5, None), (4, ()), (4, (0, 1))])
def test_fine(epoch: int, has: tuple[int, ...] | None) -> None:
    check_epoch(MEMBER, epoch, owned(has))


@pytest.mark.parametrize(
    ("epoch", "has", "how"), [(6, (), "greater"), (3, (), "smaller"), (4, None, "smaller"), (4, (0, 2), "smaller")]
)
def test_fenced(epoch: int, has: tuple[int, ...] | None, how: str) -> None:
    with pytest.raises(KafkaError, match=f"has a {how} member epoch") as error:
        check_epoch(MEMBER, epoch, owned(has))
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH


def test_tasks_that_there_are_not() -> None:
    shape = {"0": ConfiguredSubtopology(Subtopology("0", ("t",)), 2)}
    check_tasks(owned((0, 1), (1,)), shape)
    check_tasks(None, shape)
    with pytest.raises(KafkaError, match=r"Subtopology 7 does not exist in the topology\."):
        check_tasks(owned({"7": (0,)}), shape)
    for task in (2, -1):
        text = f"Task {task} for subtopology 0 is invalid. Number of tasks for this subtopology: 2"
        with pytest.raises(KafkaError, match=text):
            check_tasks(owned((), (task,)), shape)


def test_room() -> None:
    group = StreamsGroup("g")
    check_room(group, 1)
    group.put_member(Member("m"))
    with pytest.raises(KafkaError, match=r"The streams group has reached its maximum capacity of 1 members\.") as error:
        check_room(group, 1)
    assert error.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
