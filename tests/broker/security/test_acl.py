"""Entries and the filters that find them."""

from __future__ import annotations

import pytest

from odradek.broker.security.acl import (
    REFUSALS,
    SUPPORTED,
    Acl,
    AclFilter,
    AclIndex,
    Operation,
    Pattern,
    Permission,
    Resource,
    all_operations,
)
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord


def entry(name: str = "orders", pattern: Pattern = Pattern.LITERAL, host: str = "*") -> Acl:
    return Acl(Resource.TOPIC, name, pattern, "User:alice", host, Operation.READ, Permission.ALLOW)


def test_the_empty_filter_means_every_entry() -> None:
    assert AclFilter().matches(entry())
    assert AclFilter().matches(entry("x", Pattern.PREFIXED))


@pytest.mark.parametrize(
    "wanted",
    [
        AclFilter(resource=Resource.GROUP),
        AclFilter(name="order"),
        AclFilter(pattern=Pattern.PREFIXED),
        AclFilter(principal="User:bob"),
        AclFilter(principal="User:*"),
        AclFilter(host="127.0.0.1"),
        AclFilter(operation=Operation.WRITE),
        AclFilter(operation=Operation.ALL),
        AclFilter(permission=Permission.DENY),
    ],
)
def test_each_part_of_a_filter_has_to_fit(wanted: AclFilter) -> None:
    assert not wanted.matches(entry())


@pytest.mark.parametrize(
    ("acl", "literal", "match"),
    [
        (entry("orders"), True, True),
        (entry("*"), False, True),
        (entry("ord", Pattern.PREFIXED), False, True),
        (entry("orders", Pattern.PREFIXED), False, True),
        (entry("orders.eu", Pattern.PREFIXED), False, False),
        (entry("order"), False, False),
    ],
)
def test_match_means_what_concerns_a_resource_of_the_name(acl: Acl, literal: bool, match: bool) -> None:
    assert AclFilter(name="orders", pattern=Pattern.LITERAL).matches(acl) is literal
    assert AclFilter(name="orders", pattern=Pattern.MATCH).matches(acl) is match


def test_any_pattern_compares_the_name_as_it_is() -> None:
    assert AclFilter(name="ord").matches(entry("ord", Pattern.PREFIXED))
    assert not AclFilter(name="orders").matches(entry("ord", Pattern.PREFIXED))
    assert not AclFilter(name="orders").matches(entry("*"))


def test_an_entry_is_what_its_record_says() -> None:
    record = AccessControlEntryRecord(bytes(16), 3, "g", 4, "User:a", "10.0.0.1", 8, 2)
    assert Acl.of_record(record) == Acl(
        Resource.GROUP, "g", Pattern.PREFIXED, "User:a", "10.0.0.1", Operation.DESCRIBE, Permission.DENY
    )
    assert str(Acl.of_record(record)) == (
        "(principal=User:a, host=10.0.0.1, operation=DESCRIBE, permissionType=DENY) on GROUP PREFIXED g"
    )


def test_operations_of_somebody_who_may_do_everything() -> None:
    # What a real broker without an authorizer answers.
    assert all_operations(Resource.TOPIC) == 3576
    assert all_operations(Resource.CLUSTER) == 8096
    assert all_operations(Resource.GROUP) == 3400


def test_every_kind_of_resource_has_operations_and_an_error() -> None:
    concrete = {kind for kind in Resource if kind > Resource.ANY}
    assert set(SUPPORTED) == concrete
    assert set(REFUSALS) == concrete


def indexed_entry(name: str, pattern: Pattern = Pattern.LITERAL, principal: str = "User:a", host: str = "*") -> Acl:
    return Acl(Resource.TOPIC, name, pattern, principal, host, Operation.READ, Permission.ALLOW)


def found(index: AclIndex, name: str, resource: Resource = Resource.TOPIC) -> list[Acl]:
    return [acl for by_principal in index.concerning(resource, name) for acls in by_principal.values() for acl in acls]


def test_the_literal_name_the_prefixes_and_the_wildcard_are_found() -> None:
    index = AclIndex()
    literal, short, long, every = (
        indexed_entry("orders"),
        indexed_entry("o", Pattern.PREFIXED),
        indexed_entry("orders", Pattern.PREFIXED),
        indexed_entry("*"),
    )
    for acl in (
        literal,
        short,
        long,
        every,
        indexed_entry("order"),
        indexed_entry("orders.", Pattern.PREFIXED),
        indexed_entry("p"),
    ):
        index.add(acl)
    assert sorted(found(index, "orders")) == sorted([literal, short, long, every])
    assert found(index, "orders", Resource.GROUP) == []


def test_a_prefix_that_is_a_star_is_no_wildcard() -> None:
    index = AclIndex()
    index.add(indexed_entry("*", Pattern.PREFIXED))
    assert found(index, "orders") == []
    assert found(index, "*x") == [indexed_entry("*", Pattern.PREFIXED)]


def test_a_resource_called_star_is_found_once() -> None:
    index = AclIndex()
    index.add(indexed_entry("*"))
    assert found(index, "*") == [indexed_entry("*")]


def test_what_was_removed_is_not_found_and_its_length_is_forgotten() -> None:
    index = AclIndex()
    first, second = indexed_entry("or", Pattern.PREFIXED), indexed_entry("or", Pattern.PREFIXED, host="10.0.0.1")
    index.add(first)
    index.add(second)
    index.remove(first)
    assert found(index, "orders") == [second]
    index.remove(second)
    index.remove(second)
    assert found(index, "orders") == []
    assert list(index.of_principals(Resource.TOPIC, ["User:a"])) == []
    index.add(first)
    assert found(index, "orders") == [first]


def test_acl_index_finds_entries_of_principals() -> None:
    index = AclIndex()
    ours, theirs = indexed_entry("x"), indexed_entry("y", principal="User:b")
    index.add(ours)
    index.add(theirs)
    assert list(index.of_principals(Resource.TOPIC, ["User:b", "User:c"])) == [theirs]
