"""DescribeAcls, CreateAcls and DeleteAcls, in all versions. What is expected was heard from a real Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import CloseConnection
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Pattern, Permission, Resource
from odradek.broker.security.principal import ANONYMOUS, Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

ALICE = Principal("User", "alice")
READ = (Resource.TOPIC, "t", Pattern.LITERAL, "User:alice", "*", Operation.READ, Permission.ALLOW)
WRITE = (Resource.TOPIC, "t", Pattern.LITERAL, "User:alice", "10.0.0.1", Operation.WRITE, Permission.DENY)
PREFIX = (Resource.GROUP, "g", Pattern.PREFIXED, "User:bob", "*", Operation.ALL, Permission.ALLOW)
VERSIONS = pytest.mark.parametrize("version", [1, 2, 3])


def create(cluster: Cluster, *acls: tuple[Any, ...], version: int = 3, principal: Principal = ANONYMOUS) -> Any:
    request = CreateAclsRequest(creations=[AclCreation(*acl) for acl in acls])
    return ask(cluster, request, version, principal=principal).results


def everything(**changed: Any) -> DescribeAclsRequest:
    request = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
    for field, value in changed.items():
        setattr(request, field, value)
    return request


def deletion(*filters: tuple[Any, ...]) -> DeleteAclsRequest:
    return DeleteAclsRequest(filters=[DeleteAclsFilter(*asked) for asked in filters])


@VERSIONS
def test_entries_are_made_shown_and_deleted(version: int) -> None:
    cluster = Cluster(config=SECURED)
    made = create(cluster, READ, WRITE, PREFIX, version=version)
    assert [(result.error_code, result.error_message) for result in made] == [(0, "")] * 3
    shown = ask(cluster, everything(), version)
    assert (shown.error_code, shown.error_message) == (0, "")
    assert [
        (r.resource_type, r.resource_name, r.pattern_type, [(a.principal, a.host, a.operation) for a in r.acls])
        for r in shown.resources
    ] == [
        (2, "t", 3, [("User:alice", "*", 3), ("User:alice", "10.0.0.1", 4)]),
        (3, "g", 4, [("User:bob", "*", 2)]),
    ]
    assert [acl.permission_type for resource in shown.resources for acl in resource.acls] == [3, 2, 3]
    gone = ask(cluster, deletion((2, "t", 3, None, None, 1, 2), (3, "gg", 2, None, None, 1, 1)), version)
    assert [(result.error_code, result.error_message) for result in gone.filter_results] == [(0, None)] * 2
    ((denied,), (prefix,)) = (result.matching_acls for result in gone.filter_results)
    assert (denied.error_code, denied.error_message, denied.host, denied.operation) == (0, None, "10.0.0.1", 4)
    assert (prefix.resource_type, prefix.resource_name, prefix.pattern_type, prefix.permission_type) == (3, "g", 4, 3)
    (left,) = ask(cluster, everything(), version).resources
    assert [acl.operation for acl in left.acls] == [3]


@VERSIONS
def test_acl_requests_without_an_authorizer_are_refused(version: int) -> None:
    cluster = Cluster()
    shown = ask(cluster, everything(), version)
    text = "No Authorizer is configured on the broker"
    assert (shown.error_code, shown.error_message) == (ErrorCode.SECURITY_DISABLED, text)
    for results in (
        create(cluster, READ, WRITE, version=version),
        ask(cluster, deletion((1, None, 1, None, None, 1, 1)), version).filter_results,
    ):
        told = {(result.error_code, result.error_message) for result in results}
        assert told == {(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured.")}


@pytest.mark.parametrize(
    ("config", "principal"),
    [(SECURED, ANONYMOUS), (SECURED, ALICE), ({}, ANONYMOUS)],
    ids=["allowed", "denied", "no authorizer"],
)
@pytest.mark.parametrize("place", [0, 2, 5, 6])
def test_the_number_of_unknown_closes_the_connection(place: int, config: dict[str, str], principal: Principal) -> None:
    cluster = Cluster(config=config)
    acl: list[Any] = list(READ)
    acl[place] = 0
    with pytest.raises(CloseConnection):
        create(cluster, tuple(acl), principal=principal)
    with pytest.raises(CloseConnection):
        ask(cluster, deletion(tuple(acl)), principal=principal)
    with pytest.raises(CloseConnection):
        ask(cluster, DescribeAclsRequest(*acl), principal=principal)


@pytest.mark.parametrize(("place", "number"), [(0, 1), (2, 1), (2, 2), (5, 1), (6, 1)])
def test_any_and_match_fail_a_whole_creation(place: int, number: int) -> None:
    cluster = Cluster(config=SECURED)
    acl: list[Any] = list(READ)
    acl[place] = number
    told = [(result.error_code, result.error_message) for result in create(cluster, tuple(acl), WRITE)]
    assert told == [(ErrorCode.UNKNOWN_SERVER_ERROR, None)] * 2
    assert ask(cluster, everything()).resources == []


def test_filters_with_numbers_that_nobody_knows_mean_nothing() -> None:
    cluster = Cluster(config=SECURED)
    create(cluster, READ)
    for field in ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"):
        shown = ask(cluster, everything(**{field: 99}))
        assert (shown.error_code, shown.resources) == (0, [])


def test_an_entry_has_its_effect_at_once() -> None:
    cluster = Cluster(config=SECURED)
    assert create(cluster, READ, principal=ALICE)[0].error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    create(cluster, (Resource.CLUSTER, CLUSTER_NAME, Pattern.LITERAL, "User:alice", "*", Operation.ALTER, 3))
    assert create(cluster, READ, principal=ALICE)[0].error_code == ErrorCode.NONE
    assert len(ask(cluster, everything(), principal=ALICE).resources) == 2


@pytest.mark.parametrize("operation", [Operation.DESCRIBE, Operation.ALTER])
def test_describe_is_enough_to_see_them_alter_is_needed_to_change_them(operation: Operation) -> None:
    cluster = Cluster(config=SECURED)
    assert ask(cluster, everything(), principal=ALICE).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    allow(cluster, "User:alice", operation, Resource.CLUSTER, CLUSTER_NAME)
    assert ask(cluster, everything(), principal=ALICE).error_code == ErrorCode.NONE
    (deleted,) = ask(cluster, deletion((2, "x", 3, None, None, 1, 1)), principal=ALICE).filter_results
    expected = ErrorCode.NONE if operation is Operation.ALTER else ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert deleted.error_code == expected
