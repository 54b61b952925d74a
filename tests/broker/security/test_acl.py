"""Entries and the filters that find them."""

from __future__ import annotations

import pytest

from odradek.broker.security.acl import (
    REFUSALS,
    SUPPORTED,
    Acl,
    AclFilter,
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
