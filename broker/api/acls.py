"""DescribeAcls (key 29), CreateAcls (key 30) and DeleteAcls (key 31).

Versions 1 to 3 (v2 is flexible, v3 brings the resource type User, KIP-373). Without an authorizer all three are
SECURITY_DISABLED.

As in Kafka the number 0 (UNKNOWN) closes the connection, another number that Kafka does not know is an error of its
entry or filter, and ANY or MATCH in a creation fails the whole request.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.controller import acl_control
from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.broker.requests.handlers import ByItem, Whole, handles
from odradek.broker.security.acl import Acl, AclFilter, Operation, Pattern, Permission, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from odradek.protocol.generated.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from odradek.protocol.generated.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

_UNKNOWN = 0


@handles(DescribeAclsRequest, access=ByItem((Operation.DESCRIBE, Resource.CLUSTER)))
def describe_acls(ctx: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """The entries that a filter means, by what they are about."""
    wanted = _filter(request)
    _check(ctx, [wanted], Operation.DESCRIBE, "No Authorizer is configured on the broker")
    found: dict[tuple[int, str, int], list[AclDescription]] = {}
    for acl in sorted(filter(wanted.matches, map(Acl.of_record, ctx.services.image.acls.values()))):
        described = AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
        found.setdefault((acl.resource, acl.name, acl.pattern), []).append(described)
    return DescribeAclsResponse(
        resources=[DescribeAclsResource(*resource, acls=described) for resource, described in found.items()]
    )


@handles(CreateAclsRequest, access=ByItem((Operation.ALTER, Resource.CLUSTER)))
def create_acls(ctx: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    """Make entries, each for itself."""
    acls = [_acl(creation) for creation in request.creations]
    _check(ctx, acls, Operation.ALTER)
    if any(map(_is_indefinite, acls)):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    results = ctx.services.controller.ask(acl_control.create_acls, acls)
    return CreateAclsResponse(
        results=[
            AclCreationResult() if error is None else AclCreationResult(error.code, error.message) for error in results
        ]
    )


def _acl(creation: AclCreation) -> Acl:
    return Acl(
        creation.resource_type,
        creation.resource_name,
        creation.resource_pattern_type,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _is_indefinite(acl: Acl) -> bool:
    return (
        acl.resource == Resource.ANY
        or acl.pattern in (Pattern.ANY, Pattern.MATCH)
        or acl.operation == Operation.ANY
        or acl.permission == Permission.ANY
    )


@handles(DeleteAclsRequest, access=ByItem((Operation.ALTER, Resource.CLUSTER)))
def delete_acls(ctx: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    """Delete the entries that filters mean, and tell which these were."""
    filters = [_filter(asked) for asked in request.filters]
    _check(ctx, filters, Operation.ALTER)
    outcomes = ctx.services.controller.ask(acl_control.delete_acls, filters)
    return DeleteAclsResponse(filter_results=[_deleted(outcome) for outcome in outcomes])


def _filter(asked: DeleteAclsFilter | DescribeAclsRequest) -> AclFilter:
    return AclFilter(
        asked.resource_type_filter,
        asked.resource_name_filter,
        asked.pattern_type_filter,
        asked.principal_filter,
        asked.host_filter,
        asked.operation,
        asked.permission_type,
    )


def _deleted(outcome: list[Acl] | KafkaError) -> DeleteAclsFilterResult:
    if isinstance(outcome, KafkaError):
        return DeleteAclsFilterResult(outcome.code, outcome.message, [])
    return DeleteAclsFilterResult(
        ErrorCode.NONE, None, [DeleteAclsMatchingAcl(ErrorCode.NONE, None, *acl) for acl in outcome]
    )


def _check(
    ctx: RequestContext,
    asked: Iterable[Acl | AclFilter],
    operation: Operation,
    without: str = "No Authorizer is configured.",
) -> None:
    """CloseConnection for the number 0, which Kafka takes for a request that it cannot read, whoever sends it;
    SECURITY_DISABLED, with the text `without`, where there is no authorizer; an error for a client without the right
    to the operation on the cluster.
    """
    for one in asked:
        if _UNKNOWN in (one.resource, one.pattern, one.operation, one.permission):
            raise CloseConnection("an access control entry, or a filter for them, with an UNKNOWN part")
    if ctx.authorizer is None:
        raise KafkaError(ErrorCode.SECURITY_DISABLED, without)
    Whole(operation).check(ctx)
