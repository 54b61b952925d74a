"""Which groups subscribe to which topics, so that a topic that changes finds its groups."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.protocol.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class TopicGroups:
    """Group ids by topic name. Owner: a kind of groups, which keeps it up to date in `replay`."""

    def __init__(self) -> None:
        self._groups: dict[str, set[str]] = {}

    def update(self, group_id: str, before: Iterable[str], after: Iterable[str]) -> None:
        """A group that subscribed to the topics `before` now subscribes to those `after`."""
        old, new = set(before), set(after)
        for topic in new - old:
            self._groups.setdefault(topic, set()).add(group_id)
        for topic in old - new:
            groups = self._groups.get(topic)
            if groups is not None:
                groups.discard(group_id)
                if not groups:
                    del self._groups[topic]

    def subscribed_to(self, topics: Iterable[str]) -> set[str]:
        """The ids of the groups that subscribe to any of these topics."""
        found: set[str] = set()
        for topic in topics:
            found |= self._groups.get(topic, set())
        return found
