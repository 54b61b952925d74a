"""Access control entries, the filters that find them, and an index by resource.

The numbers are those of the protocol and of the metadata log. UNKNOWN stands for a number that Kafka 4.4.0 does not
know. ANY and MATCH occur only in filters.

A look-up does not depend on the number of entries: the index looks up a name as a whole, and once for each length of a
prefixed entry (at most a few dozen; names have at most 249 characters). Below a pattern, entries are grouped by
principal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.metadata.image import acl_content
from odradek.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord


WILDCARD = "*"
"""Any resource, in a literal entry; any host; any user, in `User:*`."""
CLUSTER_NAME = "kafka-cluster"
"""The one name of a resource of type CLUSTER."""


class Resource(IntEnum):
    """The type of an entry's resource."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Pattern(IntEnum):
    """The pattern type of an entry: how its name matches the name of a resource."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """An operation on a resource."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """The permission type of an entry: allow or deny."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


_O = Operation
SUPPORTED: Mapping[int, tuple[Operation, ...]] = MappingProxyType(
    {
        Resource.TOPIC: (
            _O.READ,
            _O.WRITE,
            _O.CREATE,
            _O.DELETE,
            _O.ALTER,
            _O.DESCRIBE,
            _O.DESCRIBE_CONFIGS,
            _O.ALTER_CONFIGS,
        ),
        Resource.GROUP: (_O.READ, _O.DELETE, _O.DESCRIBE, _O.DESCRIBE_CONFIGS, _O.ALTER_CONFIGS),
        Resource.CLUSTER: (
            _O.CREATE,
            _O.ALTER,
            _O.DESCRIBE,
            _O.CLUSTER_ACTION,
            _O.DESCRIBE_CONFIGS,
            _O.ALTER_CONFIGS,
            _O.IDEMPOTENT_WRITE,
        ),
        Resource.TRANSACTIONAL_ID: (_O.WRITE, _O.DESCRIBE, _O.TWO_PHASE_COMMIT),
        Resource.DELEGATION_TOKEN: (_O.DESCRIBE,),
        Resource.USER: (_O.CREATE_TOKENS, _O.DESCRIBE_TOKENS),
    }
)
"""The operations of each resource type, for the authorized-operations fields of answers."""

REFUSAL_TEXTS: Mapping[int, str] = MappingProxyType(
    {
        Resource.TOPIC: "Topic authorization failed.",
        Resource.GROUP: "Group authorization failed.",
        Resource.CLUSTER: "Cluster authorization failed.",
        Resource.TRANSACTIONAL_ID: "Transactional Id authorization failed.",
        Resource.DELEGATION_TOKEN: "Delegation Token authorization failed.",
        Resource.USER: "Delegation Token authorization failed.",
    }
)
"""Kafka's own texts for these errors."""

REFUSALS: Mapping[int, ErrorCode] = MappingProxyType(
    {
        Resource.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        Resource.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
        Resource.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        Resource.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        Resource.DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        Resource.USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    }
)
"""The error for a missing right, by resource type."""


_ALL = {resource: sum(1 << operation for operation in operations) for resource, operations in SUPPORTED.items()}


def all_operations(resource: int) -> int:
    """The authorized-operations field of a client that may do everything: bit n stands for operation n."""
    return _ALL[resource]


class Acl(NamedTuple):
    """One entry: principal, host, operation, resource, permission. `principal` is text: `User:alice`."""

    resource: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int

    @classmethod
    def of_record(cls, record: AccessControlEntryRecord) -> Acl:
        """The entry in a record of the metadata log."""
        return cls(*acl_content(record))

    def __str__(self) -> str:
        """One line as Kafka's tools write it."""
        return (
            f"(principal={self.principal}, host={self.host}, operation={Operation(self.operation).name}, "
            f"permissionType={Permission(self.permission).name}) on {Resource(self.resource).name} "
            f"{Pattern(self.pattern).name} {self.name}"
        )


class AclFilter(NamedTuple):
    """Selects entries.

    None stands for any name, principal or host, ANY for any number. The pattern MATCH selects all entries that apply to
    a resource of this name: literal ones, prefixes of it, the wildcard.
    """

    resource: int = Resource.ANY
    name: str | None = None
    pattern: int = Pattern.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    def matches(self, acl: Acl) -> bool:
        """Whether the filter selects this entry."""
        return (
            self.resource in (Resource.ANY, acl.resource)
            and self.pattern in (Pattern.ANY, Pattern.MATCH, acl.pattern)
            and (self.name is None or self._matches_name(self.name, acl))
            and (self.principal is None or self.principal == acl.principal)
            and (self.host is None or self.host == acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
        )

    def _matches_name(self, name: str, acl: Acl) -> bool:
        if self.pattern != Pattern.MATCH:
            return name == acl.name
        if acl.pattern == Pattern.PREFIXED:
            return name.startswith(acl.name)
        return acl.name in (name, WILDCARD)


_ByPrincipal = dict[str, dict[Acl, None]]


class AclIndex:
    """Entries by resource type, pattern, name and principal. Owner: the authorizer."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[int, int, str], _ByPrincipal] = {}
        self._by_type: dict[tuple[int, str], dict[Acl, None]] = {}
        self._lengths: dict[int, Counter[int]] = {}
        self._sorted_lengths: dict[int, tuple[int, ...]] = {}

    def add(self, acl: Acl) -> None:
        """Add an entry. An existing one changes nothing."""
        key = (acl.resource, acl.pattern, acl.name)
        entries = self._by_name.get(key)
        if entries is None:
            entries = self._by_name[key] = {}
            if acl.pattern == Pattern.PREFIXED:
                self._count_length(acl, 1)
        entries.setdefault(acl.principal, {})[acl] = None
        self._by_type.setdefault((acl.resource, acl.principal), {})[acl] = None

    def remove(self, acl: Acl) -> None:
        """Remove an entry, if it exists."""
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
        """The entries, by principal, of each pattern that matches a resource."""
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
