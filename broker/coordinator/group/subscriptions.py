"""How many members of a group subscribe to which topics; kept up to date with every member that changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from odradek.protocol.native import mypyc_attr

_Counts = dict[str, int]
Key = TypeVar("Key", bound=Hashable)


def count_up(counts: dict[Key, int], keys: Iterable[Key]) -> None:
    """One more of each."""
    for key in keys:
        counts[key] = counts.get(key, 0) + 1


def count_down(counts: dict[Key, int], keys: Iterable[Key]) -> None:
    """One less of each; what nobody has any more is forgotten."""
    for key in keys:
        left = counts.get(key, 0) - 1
        if left > 0:
            counts[key] = left
        else:
            counts.pop(key, None)


@mypyc_attr(allow_interpreted_subclasses=True)
class Subscriptions:
    """The topics of a group: how many members name each, and how many of the group's patterns match it.

    `by_name`: members by topic name. `by_regex`: resolved patterns by topic name.
    """

    __slots__ = ("by_name", "by_regex")

    def __init__(self, by_name: _Counts | None = None, by_regex: _Counts | None = None) -> None:
        self.by_name: _Counts = by_name or {}
        self.by_regex: _Counts = by_regex or {}

    def __contains__(self, topic: str) -> bool:
        return topic in self.by_name or topic in self.by_regex

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics())

    def topics(self) -> list[str]:
        """All of them: those that are named, then those that are only matched."""
        by_name = self.by_name
        topics = list(by_name)
        if self.by_regex:
            topics += [topic for topic in self.by_regex if topic not in by_name]
        return topics

    def copy(self) -> Subscriptions:
        """One to try out changes on."""
        return Subscriptions(dict(self.by_name), dict(self.by_regex))

    def all_name_the_same(self, members: int) -> bool:
        """Whether each of that many members names each of the topics, and no pattern adds any."""
        by_name = self.by_name
        for count in by_name.values():
            if count != members:
                return False
        return self.by_regex.keys() <= by_name.keys()

    def all_match_one_regex(self) -> bool:
        """Whether the topics come from one pattern alone."""
        return not self.by_name and all(count == 1 for count in self.by_regex.values())
