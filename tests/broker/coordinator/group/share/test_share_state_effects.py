"""What the group coordinator has the share coordinator do."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.share.commands import (
    DeleteStates,
    EndDeleteGroup,
    InitializeStates,
    StatesInitialized,
)
from odradek.broker.coordinator.group.share.share_state_effects import performers
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState
from odradek.protocol.errors import ErrorCode, KafkaError

TOPIC = bytes(16)


class States:
    """A share coordinator that notes what it is asked."""

    def __init__(self, error: KafkaError | None = None) -> None:
        self.asked: list[Any] = []
        self._error = error

    def ask_about(self, command: Any) -> None:
        if self._error is not None:
            raise self._error
        self.asked.append(command)


class Shard:
    """The group's shard: notes what is submitted."""

    def __init__(self) -> None:
        self.submitted: list[Any] = []

    def submit(self, command: Any) -> None:
        self.submitted.append(command)


def perform(effect: Any, states: Any) -> list[Any]:
    shard: Any = Shard()
    performers(lambda: states, lambda: 0)[type(effect)](shard, effect)
    return list(shard.submitted)


def test_states_are_initialized() -> None:
    states = States()
    (told,) = perform(InitializeStates("g", 3, {TOPIC: [0, 2]}, set()), states)
    assert [(type(c), c.key, c.state_epoch, c.start_offset) for c in states.asked] == [
        (InitializeState, ("g", TOPIC, 0), 3, -1),
        (InitializeState, ("g", TOPIC, 2), 3, -1),
    ]
    assert isinstance(told, StatesInitialized)
    assert (told.group_id, told.places, told.failed) == ("g", {TOPIC: [0, 2]}, False)


def test_partitions_that_a_topic_got_later_begin_where_the_release_says() -> None:
    states = States()
    perform(InitializeStates("g", 3, {TOPIC: [2], bytes([1] * 16): [0]}, {TOPIC}), states)
    assert [(c.key.partition, c.start_offset) for c in states.asked] == [(2, 0), (0, -1)]


def test_a_refusal_is_told() -> None:
    (told,) = perform(InitializeStates("g", 3, {TOPIC: [0]}, set()), States(KafkaError(ErrorCode.NOT_COORDINATOR)))
    assert told.failed


def test_a_group_goes_when_its_states_are_gone_and_not_before() -> None:
    states = States()
    (told,) = perform(DeleteStates("g", {TOPIC: [1]}), states)
    assert [(type(c), c.key) for c in states.asked] == [(DeleteState, ("g", TOPIC, 1))]
    assert isinstance(told, EndDeleteGroup)
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        perform(DeleteStates("g", {TOPIC: [1]}), States(KafkaError(ErrorCode.NOT_COORDINATOR)))
