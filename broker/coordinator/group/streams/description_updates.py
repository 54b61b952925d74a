"""The description of a group's topology (KIP-1331): when members are asked for it, and what becomes of it.

Kafka leaves descriptions to a plugin. This is what its `InMemoryTopologyDescriptionPlugin` does: a description ends
with the group, or with the process. The group's record says that it is stored, so nobody is asked for it again.
"""

from __future__ import annotations

from functools import partial

from odradek.broker.coordinator.group.commands import DeleteGroup
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.coordinator.group.kinds import Decision, FollowUp
from odradek.broker.coordinator.group.settings import StreamsConfigs
from odradek.broker.coordinator.group.streams.commands import StoreDescription, UpdateDescription
from odradek.broker.coordinator.group.streams.description import NOT_STORED, UNCERTAIN, as_stored
from odradek.broker.coordinator.group.streams.group import SoftState, Step, StreamsGroup
from odradek.broker.coordinator.group.streams.topology import internal_error
from odradek.broker.runtime.machine import NewRecord, Outcome, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 30_000, 3_600_000
"""How long nobody else is asked for a description: twice as long each time. Kafka varies it by a fifth."""


class DescriptionUpdates:
    """Decides on descriptions. Owner: the streams kind. ``delete``: the decision that deletes any group."""

    def __init__(self, groups: Groups, configs: StreamsConfigs, delete: Decision) -> None:
        self._groups = groups
        self._configs = configs
        self._delete = delete

    def is_wanted(self, group: StreamsGroup, topology_epoch: int, now_ms: int) -> bool:
        """Whether a member is to be asked now for the description of the topology."""
        return (
            topology_epoch not in group.description_epochs
            and now_ms >= group.soft.description_wanted_from_ms
            and self._configs.keeps_descriptions
        )

    def update(self, command: UpdateDescription, now_ms: int) -> Outcome[None]:
        """A member sends the description. The group's record first says that one is being stored."""
        group = self._groups.existing(command.group_id)
        if not isinstance(group, StreamsGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {command.group_id} is not a streams group.")
        group.member(command.member_id)
        if group.topology is None:
            raise internal_error()
        present, named = group.topology.epoch, command.topology_epoch
        if named != present:
            text = f"Topology epoch {named} does not match the group's current topology epoch {present}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        store = StoreDescription(command.group_id, named, as_stored(command.description))
        records = [] if group.description_epochs.stored == UNCERTAIN else [_record(group, UNCERTAIN)]
        return make_outcome(records, effects=[FollowUp(store)])

    def store(self, command: StoreDescription, now_ms: int) -> Outcome[None]:
        """The description is there from now on."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is None:
            return make_outcome()
        step = Step(group, now_ms)
        step.records.append(_record(group, command.topology_epoch))
        step.later.append(partial(_keep, command))
        return step.outcome(None, self._groups)

    def delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group; before that, one record says that its description is being deleted, and one that it is."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is None or not group.is_described:
            return self._delete(command, now_ms)
        group.check_delete()
        next_epoch = NOT_STORED if group.description_epochs.stored == UNCERTAIN else UNCERTAIN
        return make_outcome([_record(group, next_epoch)], effects=[FollowUp(command)])


def note_request(now_ms: int, soft: SoftState) -> None:
    """A member has been asked for a description; the next one is, if none comes for a while."""
    pause_ms = min(_FIRST_PAUSE_MS << min(soft.description_requests, 7), _LONGEST_PAUSE_MS)
    soft.description_requests += 1
    soft.description_wanted_from_ms = now_ms + pause_ms


def _keep(command: StoreDescription, soft: SoftState) -> None:
    soft.description = command.description
    soft.description_requests = soft.description_wanted_from_ms = 0


def _record(group: StreamsGroup, stored: int) -> NewRecord:
    """The record of the group with another epoch of the stored description."""
    return group.record(group.epoch, group.description_epochs._replace(stored=stored))
