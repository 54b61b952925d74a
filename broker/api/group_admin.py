"""DescribeGroups (15), ListGroups (16), DeleteGroups (42): groups as an administrator sees them.

DescribeGroups 0 to 6: v3 tells what the asker may do (KIP-430); v4 shows static members; from v6 an unknown group is
GROUP_ID_NOT_FOUND, before it is a group in state Dead (KIP-1043). ListGroups 0 to 5: v4 filters by state (KIP-518), v5
by type (KIP-848); unknown states and types match nothing. DeleteGroups 0 to 2.

A group's protocol, and its members' subscriptions, show only while it is stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from odradek.broker.api.lookups import repeated
from odradek.broker.coordinator.group.classic.group import ClassicGroup, Member
from odradek.broker.coordinator.group.classic.states import DEAD, STABLE
from odradek.broker.coordinator.group.epoch_group import EpochGroup
from odradek.broker.coordinator.group.groups import DeleteGroup
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Ask, Later, later_all
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from odradek.protocol.generated.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.protocol.generated.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from odradek.protocol.java_maps import hash_of_partition, hash_of_text, java_order

D = TypeVar("D", bound=Any)

_REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED
_NOT_FOUND_FROM = 6
_OPERATIONS_ON_CONFIGS = 1 << Operation.DESCRIBE_CONFIGS | 1 << Operation.ALTER_CONFIGS


@handles(DescribeGroupsRequest, access=ByItem((Operation.DESCRIBE, Resource.GROUP)), large_answers_from=0)
def describe_groups(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """State, protocol and members of groups."""
    shown, hidden = describable(ctx, request.groups)
    ordered = by_coordinator(ctx, shown)
    groups = [_describe(ctx, group_id) for group_id in dict.fromkeys(ordered)]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ctx.operations(Resource.GROUP, group.group_id)
                if not ctx.release.has_new_coordinator:
                    group.authorized_operations &= ~_OPERATIONS_ON_CONFIGS
    refused = [DescribedGroup(error_code=_REFUSED, group_id=group_id) for group_id in hidden]
    return DescribeGroupsResponse(groups=refused + repeated(groups, ordered))


def describable(ctx: RequestContext, group_ids: Iterable[str]) -> tuple[list[str], list[str]]:
    """The groups that the client may see, and those that it may not."""
    shown: list[str] = []
    hidden: list[str] = []
    for group_id in group_ids:
        (shown if ctx.allows(Operation.DESCRIBE, Resource.GROUP, group_id) else hidden).append(group_id)
    return shown, hidden


def describe_groups_of_kind(
    ctx: RequestContext,
    request: Any,
    kind: type[EpochGroup],
    row: type[D],
    show: Callable[[Any], D],
    topics_of: Callable[[D], set[str]],
    *,
    hidden_topics: str = "The group has described topic(s) that the client is not authorized to describe.",
    texts: Mapping[ErrorCode, str] | None = None,
) -> list[D]:
    """The rows of ConsumerGroupDescribe, ShareGroupDescribe or StreamsGroupDescribe, in Kafka's order.

    `show` makes the row of a group, and `topics_of` names the topics in it: the client must be allowed to see all of
    them. `texts`: of errors that have none.
    """

    def refused(code: ErrorCode, group_id: str, text: str | None = None) -> D:
        made: D = row(error_code=code, error_message=text, group_id=group_id)
        return made

    def described(group_id: str) -> D:
        try:
            group = ctx.services.groups().machine_for(group_id, ctx.node).groups.existing(group_id)
            if not isinstance(group, kind):
                text = f"Group {group_id} is not a {kind.protocol_type} group."
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text)
        except KafkaError as error:
            return refused(error.code, group_id, error.message or (texts or {}).get(error.code))
        shown: D = show(group)
        return shown

    shown, hidden = describable(ctx, request.group_ids)
    first = [refused(_REFUSED, group_id) for group_id in hidden]
    first += [refused(ErrorCode.INVALID_GROUP_ID, "") for group_id in shown if not group_id]
    ordered = by_coordinator(ctx, filter(None, shown))
    groups = [described(group_id) for group_id in dict.fromkeys(ordered)]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ctx.operations(Resource.GROUP, group.group_id)
    if ctx.authorizer is not None:
        topics = [topics_of(group) for group in groups]
        visible = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, sorted(set().union(*topics)))
        groups = [
            group if names <= visible else refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, group.group_id, hidden_topics)
            for group, names in zip(groups, topics, strict=True)
        ]
    return first + repeated(groups, ordered)


def require_topics(ctx: RequestContext, names: Sequence[str] | None) -> None:
    """TOPIC_AUTHORIZATION_FAILED unless the client may see all of these topics, as its member subscribes to them."""
    if names and len(ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, names)) < len(set(names)):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _describe(ctx: RequestContext, group_id: str) -> DescribedGroup:
    try:
        group = ctx.services.groups().machine_for(group_id, ctx.node).group(group_id)
    except KafkaError as error:
        return DescribedGroup(error_code=error.code, group_id=group_id)
    if not isinstance(group, ClassicGroup):
        missing = DescribedGroup(group_id=group_id, group_state=DEAD.value)
        if ctx.api_version >= _NOT_FOUND_FROM:
            missing.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            what = "not found" if group is None else "is not a classic group"
            missing.error_message = f"Group {group_id} {what}."
        return missing
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if group.state is STABLE else "",
        members=[
            _describe_member(group, member, always_assignment=ctx.release.has_new_coordinator)
            for member in group.in_map_order()
        ],
    )


def _describe_member(group: ClassicGroup, member: Member, *, always_assignment: bool) -> DescribedGroupMember:
    stable = group.state is STABLE and group.protocol is not None
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol or "") if stable else b"",
        member_assignment=member.assignment if stable or always_assignment else b"",
    )


@handles(ListGroupsRequest, access=ByItem((Operation.DESCRIBE, Resource.CLUSTER), (Operation.DESCRIBE, Resource.GROUP)))
def list_groups(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """The groups that this node coordinates."""
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    groups: list[ListedGroup] = []
    sees_all = ctx.allows(Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME, tell=False)
    for shard in ctx.services.groups().shards(ctx.node):
        try:
            machine: GroupMachine = shard.open_machine()
        except KafkaError as error:
            if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                raise
            continue
        for group in machine.groups.all():
            if (
                (not types or group.group_type.value in types)
                and (not states or group.is_in_state(states))
                and (sees_all or ctx.allows(Operation.DESCRIBE, Resource.GROUP, group.group_id, tell=False))
            ):
                groups.append(
                    ListedGroup(
                        group_id=group.group_id,
                        protocol_type=group.protocol_type or "",
                        group_state=group.state_name,
                        group_type=group.group_type.value,
                    )
                )
    return ListGroupsResponse(groups=groups)


@handles(DeleteGroupsRequest, access=ByItem((Operation.DELETE, Resource.GROUP)))
def delete_groups(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse | Later:
    """Delete groups without members, and their offsets."""
    group_ids = java_order(request.groups_names, hash_of_text)
    mine = ctx.allowed(Operation.DELETE, Resource.GROUP, group_ids)
    deleted = by_coordinator(ctx, [group_id for group_id in group_ids if group_id in mine])
    named = dict.fromkeys(request.groups_names)
    refused = [DeletableGroupResult(group_id, _REFUSED) for group_id in named if group_id not in mine]
    results = [DeletableGroupResult(group_id) for group_id in deleted]
    begin = ctx.services.groups().begin
    asks: list[Ask] = [
        (partial(begin, each.group_id, DeleteGroup(each.group_id), ctx.node), None, partial(_not_deleted, each))
        for each in results
    ]
    return later_all(asks, DeleteGroupsResponse(results=results + refused))


def by_coordinator(ctx: RequestContext, group_ids: Iterable[str]) -> list[str]:
    """The ids as Kafka answers them: those of one partition of the offsets topic together."""
    group_ids = list(group_ids)
    groups = ctx.services.groups()
    if groups.topic.partitions is None:
        return group_ids
    by_partition: dict[tuple[str, int], list[str]] = {}
    for group_id in group_ids:
        by_partition.setdefault((CONSUMER_OFFSETS, groups.partition_for(group_id)), []).append(group_id)
    return [group_id for key in java_order(by_partition, hash_of_partition) for group_id in by_partition[key]]


def _not_deleted(result: DeletableGroupResult, error: KafkaError) -> None:
    result.error_code = error.code
