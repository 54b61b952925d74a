"""The entries of a cluster, found by the resource that they concern: the cost does not follow their number.

A name is looked up whole, and once for each length that a prefixed entry has (at most a few dozen; names end at 249
characters). Below a pattern, entries lie by principal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from odradek.broker.security.acl import WILDCARD, Acl, Pattern

_ByPrincipal = dict[str, dict[Acl, None]]


class AclIndex:
    """Entries by resource type, pattern, name and principal. Owner: the authorizer."""

    __slots__ = ("_by_name", "_by_type", "_lengths", "_sorted_lengths")

    def __init__(self) -> None:
        self._by_name: dict[tuple[int, int, str], _ByPrincipal] = {}
        self._by_type: dict[tuple[int, str], dict[Acl, None]] = {}
        self._lengths: dict[int, Counter[int]] = {}
        self._sorted_lengths: dict[int, tuple[int, ...]] = {}

    def add(self, acl: Acl) -> None:
        """Take an entry in. One that is there already changes nothing."""
        key = (acl.resource, acl.pattern, acl.name)
        entries = self._by_name.get(key)
        if entries is None:
            entries = self._by_name[key] = {}
            if acl.pattern == Pattern.PREFIXED:
                self._count_length(acl, 1)
        entries.setdefault(acl.principal, {})[acl] = None
        self._by_type.setdefault((acl.resource, acl.principal), {})[acl] = None

    def remove(self, acl: Acl) -> None:
        """Drop an entry; nothing happens if it is not there."""
        key = (acl.resource, acl.pattern, acl.name)
        entries = self._by_name.get(key, {})
        if acl not in entries.get(acl.principal, {}):
            return
        _drop(entries, acl.principal, acl)
        if not entries:
            del self._by_name[key]
            if acl.pattern == Pattern.PREFIXED:
                self._count_length(acl, -1)
        _drop(self._by_type, (acl.resource, acl.principal), acl)

    def _count_length(self, acl: Acl, step: int) -> None:
        counts = self._lengths.setdefault(acl.resource, Counter())
        counts[len(acl.name)] += step
        self._sorted_lengths[acl.resource] = tuple(sorted(length for length, count in counts.items() if count))

    def concerning(self, resource: int, name: str) -> Iterator[_ByPrincipal]:
        """The entries, by principal, of each pattern that fits a resource."""
        by_name = self._by_name
        found = by_name.get((resource, Pattern.LITERAL, name))
        if found is not None:
            yield found
        for length in self._sorted_lengths.get(resource, ()):
            if length > len(name):
                break
            found = by_name.get((resource, Pattern.PREFIXED, name[:length]))
            if found is not None:
                yield found
        if name != WILDCARD:
            found = by_name.get((resource, Pattern.LITERAL, WILDCARD))
            if found is not None:
                yield found

    def of_principals(self, resource: int, principals: Iterable[str]) -> Iterator[Acl]:
        """All entries of these principals about resources of a type."""
        for principal in principals:
            yield from self._by_type.get((resource, principal), ())


def _drop(table: dict[str, dict[Acl, None]] | dict[tuple[int, str], dict[Acl, None]], key: object, acl: Acl) -> None:
    entries = table[key]  # type: ignore[index]
    del entries[acl]
    if not entries:
        del table[key]  # type: ignore[arg-type]
