"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: what the handlers add to the coordinator's rules."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.requests.parked_request import Parked
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest
from tests.fakes.data_plane import DataPlane, without_tasks


@pytest.fixture
def plane() -> DataPlane:
    plane = DataPlane()
    without_tasks(plane.cluster)
    plane.cluster.groups.topic.ensure()
    return plane


def call(plane: DataPlane, request: Any, version: int) -> Any:
    """The answer, also of a handler that could wait but need not."""

    async def main() -> Any:
        answer = plane.call(request, version)
        return await answer.response(plane.cluster.clock) if isinstance(answer, Parked) else answer

    return trio.run(main)


def joined(plane: DataPlane, version: int, **fields: Any) -> Any:
    protocols = [JoinGroupRequestProtocol("range", b"\0\0\0\0\0\0")]
    request = JoinGroupRequest("g", 10_000, 20_000, protocol_type="consumer", protocols=protocols)
    return call(plane, request.replace(**fields), version)


def test_version_0_has_no_rebalance_timeout_of_its_own(plane: DataPlane) -> None:
    for version, given in ((0, -1), (1, 20_000)):
        group_id = f"g{version}"
        protocols = [JoinGroupRequestProtocol("range", b"\0\0\0\0\0\0")]
        request = JoinGroupRequest(group_id, 10_000, given, protocol_type="consumer", protocols=protocols)
        assert isinstance(plane.call(request, version), Parked), "the answer comes when the join phase is over"
        group = plane.cluster.groups.machine_for(group_id).groups.find(group_id, ClassicGroup)
        assert group is not None
        (member,) = group.members.values()
        assert member.rebalance_timeout_ms == (10_000 if version == 0 else 20_000)
        assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")


def test_an_old_version_tells_a_refusal_with_an_empty_protocol(plane: DataPlane) -> None:
    plane.cluster.groups.shard_for("g").close()
    for version in (0, 1):
        answer = joined(plane, version, rebalance_timeout_ms=-1 if version == 0 else 20_000)
        assert (answer.error_code, answer.protocol_name) == (ErrorCode.NOT_COORDINATOR, "")


def test_join_group_refused_by_the_coordinator_tells_no_member_id(plane: DataPlane) -> None:
    """As Kafka's own ConsumerProtocolMigrationTest has it; what is wrong before that is told with the member's id."""
    plane.cluster.groups.shard_for("g").close()
    refused = joined(plane, 9, member_id="m")
    assert (refused.error_code, refused.member_id) == (ErrorCode.NOT_COORDINATOR, "")
    without_group = joined(plane, 9, group_id="", member_id="m")
    assert (without_group.error_code, without_group.member_id) == (ErrorCode.INVALID_GROUP_ID, "m")


@pytest.mark.parametrize("version", [0, 6, 7, 9])
def test_no_protocol_is_an_empty_name_before_version_7(plane: DataPlane, version: int) -> None:
    answer = joined(plane, version, group_id="", rebalance_timeout_ms=-1 if version == 0 else 20_000)
    assert answer.error_code == ErrorCode.INVALID_GROUP_ID
    assert answer.protocol_name == ("" if version < 7 else None)


def test_an_empty_group_id_is_refused(plane: DataPlane) -> None:
    for request in (HeartbeatRequest("", 1, "m"), LeaveGroupRequest("", members=[MemberIdentity("m")])):
        with pytest.raises(KafkaError) as caught:
            plane.call(request, 4)
        assert caught.value.code is ErrorCode.INVALID_GROUP_ID
    with pytest.raises(KafkaError):
        call(plane, SyncGroupRequest("", 1, "m"), 3)


def test_version_5_of_sync_names_the_protocol(plane: DataPlane) -> None:
    with pytest.raises(KafkaError) as caught:
        call(plane, SyncGroupRequest("g", 1, "m", protocol_type="consumer"), 5)
    assert caught.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert call(plane, SyncGroupRequest("g", 1, "m"), 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_heartbeat_is_answered_while_the_coordinator_loads(plane: DataPlane) -> None:
    shard = plane.cluster.groups.shard_for("g")
    shard.state = ShardState.LOADING
    assert plane.call(HeartbeatRequest("g", 1, "m"), 4).error_code == ErrorCode.NONE
    assert joined(plane, 9).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_older_versions_of_leave_have_the_members_error_at_the_top(plane: DataPlane) -> None:
    assert plane.call(LeaveGroupRequest("g", "m"), 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    answer = plane.call(LeaveGroupRequest("g", members=[MemberIdentity("m"), MemberIdentity("n")]), 3)
    assert answer.error_code == ErrorCode.NONE
    assert [member.error_code for member in answer.members] == [ErrorCode.UNKNOWN_MEMBER_ID] * 2
