"""Which share partitions are stored for a group, as the group coordinator keeps account of it.

The share coordinator stores the states themselves. Each change goes in two steps, so that nothing is forgotten when a
coordinator fails in between: a record says what is about to happen, then the share coordinator does it, then a record
says that it is done.
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.coordinator.group.commands import DeleteGroup
from odradek.broker.coordinator.group.kinds import KindContext
from odradek.broker.coordinator.group.share import commands as c
from odradek.broker.coordinator.group.share.group import ShareGroup, TopicStates, group_or_new, joined, states_record
from odradek.broker.runtime.machine import Effect, NewRecord, Outcome, make_outcome
from odradek.protocol.java_hash_table import HashTable
from odradek.protocol.java_maps import hash_of_uuid

_UNKNOWN = "<UNKNOWN>"


class ShareOffsets:
    """Decides on the stored share partitions of groups. Owner: `ShareKind`."""

    def __init__(self, context: KindContext, existing: Callable[[str], ShareGroup]) -> None:
        self._context = context
        self._existing = existing

    def initialized(self, command: c.StatesInitialized, now_ms: int) -> Outcome[None]:
        """Note the result of `InitializeStates`."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or not command.places:
            return make_outcome()
        still: dict[bytes, TopicStates] = {}
        for topic_id, row in group.initializing.items():
            left = row.partitions - frozenset(command.places.get(topic_id, ()))
            if left or topic_id not in command.places:
                still[topic_id] = TopicStates(row.name, left)
        done = group.initialized
        if not command.failed:
            rows = {
                topic_id: TopicStates(self._name_of(topic_id), frozenset(indexes))
                for topic_id, indexes in command.places.items()
            }
            done = joined(done, rows)
        elif not group.initializing:
            return make_outcome()
        return make_outcome([self._record(group, still, done, group.deleting)])

    def alter(self, command: c.AlterShareOffsets, now_ms: int) -> Outcome[int]:
        """Reset share partitions. If no member has joined the group yet, this creates it."""
        group = group_or_new(self._context, command.group_id)
        group.check_delete()
        if not command.offsets:
            return make_outcome(reply=group.epoch)
        wanted = {
            topic_id: TopicStates(self._name_of(topic_id), frozenset(offsets))
            for topic_id, offsets in command.offsets.items()
        }
        deleting = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in wanted}
        record = self._record(group, joined(group.initializing, wanted), group.initialized, deleting)
        return make_outcome([record], reply=group.epoch)

    def begin_delete(
        self, command: c.BeginDeleteOffsets, now_ms: int
    ) -> Outcome[tuple[dict[bytes, list[int]], list[str]]]:
        """Note the topics whose states are about to be deleted."""
        group = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return make_outcome(reply=({}, []))
        initialized, deleting = dict(group.initialized), dict(group.deleting)
        places: dict[bytes, list[int]] = {}
        unknown: list[str] = []
        for name in command.topics:
            facts = self._context.topics.named(name)
            if facts is None:
                unknown.append(name)
                continue
            row = initialized.pop(facts.topic_id, None)
            if row is not None:
                places[facts.topic_id] = sorted(row.partitions)
                deleting[facts.topic_id] = name
            elif facts.topic_id in deleting:
                places[facts.topic_id] = list(range(facts.partitions))
            else:
                unknown.append(name)
        return make_outcome([self._record(group, group.initializing, initialized, deleting)], reply=(places, unknown))

    def end_delete(self, command: c.EndDeleteOffsets, now_ms: int) -> Outcome[None]:
        """Forget topics whose states the share coordinator has deleted."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or not group.has_states:
            return make_outcome()
        left = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in command.topic_ids}
        return make_outcome([self._record(group, group.initializing, group.initialized, left)])

    def begin_delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Begin to delete a group: its stored states are deleted first."""
        group = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return self._deleted(group)
        gone = joined(group.initialized, group.initializing)
        for topic_id in group.deleting:
            facts = self._context.topics.by_id(topic_id)
            if facts is not None:
                again = {topic_id: TopicStates(facts.name, frozenset(range(facts.partitions)))}
                gone = joined(gone, again)
        record = states_record(group.group_id, {}, {}, {topic_id: row.name for topic_id, row in gone.items()})
        places = {topic_id: sorted(row.partitions) for topic_id, row in gone.items()}
        return make_outcome([record], effects=[c.DeleteStates(group.group_id, places)])

    def end_delete_group(self, command: c.EndDeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group whose states are deleted."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        return make_outcome() if group is None else self._deleted(group)

    def forget_topics(self, command: c.ForgetDeletedTopics, now_ms: int) -> Outcome[None]:
        """Forget deleted topics. The share coordinator hears of them by itself."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None:
            return make_outcome()
        known = {*group.initializing, *group.initialized, *group.deleting}
        gone = {topic_id for topic_id in known if self._context.topics.by_id(topic_id) is None}
        if not gone:
            return make_outcome()
        record = self._record(
            group,
            {topic_id: row for topic_id, row in group.initializing.items() if topic_id not in gone},
            {topic_id: row for topic_id, row in group.initialized.items() if topic_id not in gone},
            {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in gone},
        )
        return make_outcome([record])

    def _deleted(self, group: ShareGroup) -> Outcome[None]:
        effects: list[Effect] = list(group.on_removed())
        return make_outcome(group.tombstones(), effects=effects)

    def _record(
        self,
        group: ShareGroup,
        initializing: dict[bytes, TopicStates],
        initialized: dict[bytes, TopicStates],
        deleting: dict[bytes, str],
    ) -> NewRecord:
        names = {topic_id: self._name_of(topic_id) for topic_id in deleting}
        return states_record(group.group_id, _ordered(initializing), _ordered(initialized), names)

    def _name_of(self, topic_id: bytes) -> str:
        facts = self._context.topics.by_id(topic_id)
        return _UNKNOWN if facts is None else facts.name


def _ordered(rows: dict[bytes, TopicStates]) -> dict[bytes, TopicStates]:
    return {topic_id: rows[topic_id] for topic_id in HashTable(hash_of_uuid, rows)}
