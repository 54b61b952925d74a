"""Entries found by the resource that they concern."""

from __future__ import annotations

from odradek.broker.security.acl import Acl, Operation, Pattern, Permission, Resource
from odradek.broker.security.acl_index import AclIndex


def entry(name: str, pattern: Pattern = Pattern.LITERAL, principal: str = "User:a", host: str = "*") -> Acl:
    return Acl(Resource.TOPIC, name, pattern, principal, host, Operation.READ, Permission.ALLOW)


def found(index: AclIndex, name: str, resource: Resource = Resource.TOPIC) -> list[Acl]:
    return [acl for by_principal in index.concerning(resource, name) for acls in by_principal.values() for acl in acls]


def test_the_literal_name_the_prefixes_and_the_wildcard_are_found() -> None:
    index = AclIndex()
    literal, short, long, every = (
        entry("orders"),
        entry("o", Pattern.PREFIXED),
        entry("orders", Pattern.PREFIXED),
        entry("*"),
    )
    for acl in (literal, short, long, every, entry("order"), entry("orders.", Pattern.PREFIXED), entry("p")):
        index.add(acl)
    assert sorted(found(index, "orders")) == sorted([literal, short, long, every])
    assert found(index, "orders", Resource.GROUP) == []


def test_a_prefix_that_is_a_star_is_no_wildcard() -> None:
    index = AclIndex()
    index.add(entry("*", Pattern.PREFIXED))
    assert found(index, "orders") == []
    assert found(index, "*x") == [entry("*", Pattern.PREFIXED)]


def test_a_resource_called_star_is_found_once() -> None:
    index = AclIndex()
    index.add(entry("*"))
    assert found(index, "*") == [entry("*")]


def test_what_was_removed_is_not_found_and_its_length_is_forgotten() -> None:
    index = AclIndex()
    first, second = entry("or", Pattern.PREFIXED), entry("or", Pattern.PREFIXED, host="10.0.0.1")
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


def test_entries_of_principals() -> None:
    index = AclIndex()
    ours, theirs = entry("x"), entry("y", principal="User:b")
    index.add(ours)
    index.add(theirs)
    assert list(index.of_principals(Resource.TOPIC, ["User:b", "User:c"])) == [theirs]
