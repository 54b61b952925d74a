"""Rights as a user writes them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import Acl
from odradek.broker.security.acl import Acl as Entry
from odradek.broker.security.acl import Operation, Pattern, Permission, Resource


def test_a_right_on_a_topic() -> None:
    entry = Entry(Resource.TOPIC, "orders", Pattern.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW)
    assert Acl("alice", "read", topic="orders").entries == [entry]
    assert Acl("User:alice", ["READ"], topic="orders").entries == [entry]


def test_several_operations_prefixes_hosts_and_denials() -> None:
    acl = Acl("*", ["WRITE", "CREATE"], topic="in-", prefixed=True, deny=True, host="10.0.0.1")
    assert [entry.operation for entry in acl.entries] == [Operation.WRITE, Operation.CREATE]
    assert {entry[1:5] for entry in acl.entries} == {("in-", Pattern.PREFIXED, "User:*", "10.0.0.1")}
    assert {entry.permission for entry in acl.entries} == {Permission.DENY}


@pytest.mark.parametrize(
    ("given", "resource", "name"),
    [
        ({"group": "g"}, Resource.GROUP, "g"),
        ({"transactional_id": "t"}, Resource.TRANSACTIONAL_ID, "t"),
        ({"delegation_token": "d"}, Resource.DELEGATION_TOKEN, "d"),
        ({"of_user": "bob"}, Resource.USER, "User:bob"),
        ({"cluster": True}, Resource.CLUSTER, "kafka-cluster"),
    ],
)
def test_every_kind_of_resource(given: dict[str, Any], resource: Resource, name: str) -> None:
    (entry,) = Acl("alice", "DESCRIBE", **given).entries
    assert (entry.resource, entry.name) == (resource, name)


@pytest.mark.parametrize(
    ("operations", "given", "message"),
    [
        ("READ", {}, "exactly one"),
        ("READ", {"topic": "a", "group": "b"}, "exactly one"),
        ("READ", {"topic": ""}, "exactly one"),
        ("ALTER", {"cluster": True, "prefixed": True}, "no prefix"),
        ("REED", {"topic": "a"}, r"unknown operation REED \(did you mean 'READ'\?\)"),
        ("ANY", {"topic": "a"}, "unknown operation ANY"),
        ([], {"topic": "a"}, "at least one operation"),
    ],
)
def test_mistakes_are_named(operations: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Acl("alice", operations, **given)


def test_it_shows_what_it_says() -> None:
    assert "principal=User:alice" in repr(Acl("alice", "READ", topic="orders"))
