"""DescribeGroups (15), ListGroups (16), DeleteGroups (42): groups as an administrator sees them.

DescribeGroups 0 to 6: v3 tells what the asker may do (KIP-430); v4 shows static members; from v6 an unknown group is
GROUP_ID_NOT_FOUND, before it is a group in state Dead (KIP-1043). ListGroups 0 to 5: v4 filters by state (KIP-518), v5
by type (KIP-848); unknown states and types match nothing. DeleteGroups 0 to 2.

A group's protocol, and its members' subscriptions, show only while it is stable.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.member import Member
from odradek.broker.coordinator.group.classic.states import DEAD, STABLE
from odradek.broker.coordinator.group.commands import DeleteGroup
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.metadata.topic_names import CONSUMER_OFFSETS as GROUP_TOPIC
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_partition, hash_of_text, java_order
from odradek.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from odradek.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

ALL_GROUP_OPERATIONS = 3400
"""The bits of read, delete, describe, describe configs and alter configs."""

_NOT_FOUND_FROM = 6


@handles(DescribeGroupsRequest)
def describe_groups(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """State, protocol and members of groups."""
    groups = [_describe(ctx, group_id) for group_id in by_coordinator(ctx, request.groups)]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ALL_GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


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
        members=[_describe_member(group, member) for member in group.members.values()],
    )


def _describe_member(group: ClassicGroup, member: Member) -> DescribedGroupMember:
    stable = group.state is STABLE and group.protocol is not None
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol or "") if stable else b"",
        member_assignment=member.assignment,
    )


@handles(ListGroupsRequest)
def list_groups(ctx: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """The groups that this node coordinates."""
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    groups: list[ListedGroup] = []
    for shard in ctx.services.groups().shards(ctx.node):
        try:
            machine: GroupMachine = shard.open_machine()
        except KafkaError as error:
            if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                raise
            continue
        for group in machine.groups.all():
            if (not types or group.group_type.value in types) and (not states or group.is_in_state(states)):
                groups.append(
                    ListedGroup(
                        group_id=group.group_id,
                        protocol_type=group.protocol_type or "",
                        group_state=group.state_name,
                        group_type=group.group_type.value,
                    )
                )
    return ListGroupsResponse(groups=groups)


@handles(DeleteGroupsRequest)
def delete_groups(ctx: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Delete groups without members, and their offsets."""
    group_ids = by_coordinator(ctx, java_order(request.groups_names, hash_of_text))
    return DeleteGroupsResponse(results=[_delete(ctx, group_id) for group_id in group_ids])


def by_coordinator(ctx: RequestContext, group_ids: Iterable[str]) -> list[str]:
    """The ids as Kafka answers them: those of one partition of the offsets topic together."""
    group_ids = list(group_ids)
    groups = ctx.services.groups()
    if groups.topic.partitions is None:
        return group_ids
    by_partition: dict[tuple[str, int], list[str]] = {}
    for group_id in group_ids:
        by_partition.setdefault((GROUP_TOPIC, groups.partition_for(group_id)), []).append(group_id)
    return [group_id for key in java_order(by_partition, hash_of_partition) for group_id in by_partition[key]]


def _delete(ctx: RequestContext, group_id: str) -> DeletableGroupResult:
    try:
        ctx.services.groups().ask_now(group_id, DeleteGroup(group_id), ctx.node)
    except KafkaError as error:
        return DeletableGroupResult(group_id=group_id, error_code=error.code)
    return DeletableGroupResult(group_id=group_id)
