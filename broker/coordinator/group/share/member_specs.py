"""A share group as its assignor sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, subscribed_ids
from odradek.broker.coordinator.group.share.members import ShareMember
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.broker.coordinator.group.topic_source import TopicSource


def group_spec(members: Mapping[str, ShareMember], target: TargetAssignment, topics: TopicSource) -> GroupSpec:
    """The group as it is going to be. ``members``: by id, in Kafka's order; topics that do not exist are left out."""
    counts: dict[bytes, int] = {}
    topic_ids: dict[frozenset[str], Sequence[bytes]] = {}
    for member in members.values():
        if member.topics not in topic_ids:
            topic_ids[member.topics] = subscribed_ids(sorted(member.topics), counts, topics)
    specs = {
        member_id: MemberSpec(None, topic_ids[member.topics], len(member.topics))
        for member_id, member in members.items()
    }
    return GroupSpec(specs, len(topic_ids) <= 1, counts, target)
