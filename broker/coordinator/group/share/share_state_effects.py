"""The effects of share groups on the states of their share partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.share.commands import (
    DeleteStates,
    EndDeleteGroup,
    InitializeStates,
    Places,
    StatesInitialized,
)
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState
from odradek.broker.coordinator.share_state.persister import Persister
from odradek.broker.coordinator.share_state.stored_states import UNINITIALIZED
from odradek.broker.partitions.share.states import ShareKey
from odradek.broker.runtime.machine import Effect
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import KafkaError

Performer = Callable[[Shard[GroupMachine], Any], None]


def performers(states: Callable[[], Persister], start_of_added: Callable[[], int]) -> dict[type[Effect], Performer]:
    """The functions that carry out the effects of share groups.

    `start_of_added`: see `Release.share_start_of_added_partitions`.
    """

    def initialize(shard: Shard[GroupMachine], effect: InitializeStates) -> None:
        failed = False
        try:
            for key in keys_of(effect.group_id, effect.places):
                start = start_of_added() if key.topic_id in effect.grown else UNINITIALIZED
                states().ask_about(InitializeState(key, effect.state_epoch, start))
        except KafkaError:
            failed = True
        shard.submit(StatesInitialized(effect.group_id, effect.places, failed=failed))

    def delete(shard: Shard[GroupMachine], effect: DeleteStates) -> None:
        for key in keys_of(effect.group_id, effect.places):
            states().ask_about(DeleteState(key))
        shard.submit(EndDeleteGroup(effect.group_id))

    return {InitializeStates: initialize, DeleteStates: delete}


def keys_of(group_id: str, places: Places) -> Iterator[ShareKey]:
    """The share partitions of a group at these places."""
    for topic_id, indexes in places.items():
        for index in indexes:
            yield ShareKey(group_id, topic_id, index)
