"""The order in which groups and their members are listed: that of Kafka's hash maps, so a matter of their names alone.

The names are many enough for the tables to have grown, and for some of them to share a slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.share_group_describe import ShareGroupDescribeRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.protocol.java_maps import concurrent_order, hash_of_partition, hash_of_text, java_order, timeline_order
from tests.fakes.wire_client import WireClient
from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.target import SCENARIO_CONFIG, Target, unique, wait_until

OFFSETS = "__consumer_offsets"
PARTITIONS = int(SCENARIO_CONFIG["offsets.topic.num.partitions"])


@contextmanager
def client(broker: Target) -> Iterator[WireClient]:
    with WireClient.at(broker.bootstrap) as connection:
        yield connection


def find(connection: WireClient, group: str) -> None:
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    wait_until("the coordinator", lambda: connection.request(request, 4).coordinators[0].error_code == ErrorCode.NONE)


def accepted(connection: WireClient, request: Any, version: int) -> Any:
    """The answer, once the coordinator has loaded."""
    loading = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def loaded() -> Any:
        answer = connection.request(request, version)
        return None if answer.error_code in loading else answer

    answer = wait_until("the coordinator has loaded", loaded)
    assert answer.error_code == ErrorCode.NONE, answer
    return answer


def test_members_of_consumer_groups(broker: Target, make_topic: MakeTopic) -> None:
    group, topic = unique("order"), make_topic()
    members = [f"{letter}{number}" for letter in "ABCm" for number in (1, 2, 3)]  # group.consumer.max.size
    with client(broker) as connection:
        find(connection, group)
        for count, member in enumerate(members, 1):
            join = ConsumerGroupHeartbeatRequest(group, member, 0, None, None, 60_000, [topic], None, None, [])
            accepted(connection, join, 1)
            described = connection.request(ConsumerGroupDescribeRequest([group]), 1).groups[0]
            # A member is put into the table, and put there again with its first assignment.
            assert [of.member_id for of in described.members] == timeline_order(members[:count], count + 1)


def test_members_of_share_groups(broker: Target, make_topic: MakeTopic) -> None:
    group, topic = unique("order"), make_topic()
    members = [f"{letter}{number}" for letter in "ABCm" for number in (1, 2, 3)]
    with client(broker) as connection:
        find(connection, group)
        for count, member in enumerate(members, 1):
            join = ShareGroupHeartbeatRequest(group, member, 0, None, [topic])
            accepted(connection, join, 1)
            described = connection.request(ShareGroupDescribeRequest([group]), 1).groups[0]
            assert [of.member_id for of in described.members] == timeline_order(members[:count], count + 1)


def test_members_of_classic_groups(broker: Target) -> None:
    """They are listed as the leader is told of them. Their ids are the broker's choice."""
    group = unique("order")
    protocols = [JoinGroupRequestProtocol("range", b"")]
    with client(broker) as connection:
        find(connection, group)
        first = JoinGroupRequest(group, 30_000, 30_000, "", None, "consumer", protocols)
        ids = [wait_until("an id", lambda: connection.request(first, 9).member_id) for _ in range(14)]

        def described(at_least: int) -> list[str]:
            (found,) = connection.request(DescribeGroupsRequest([group]), 6).groups
            return [member.member_id for member in found.members] if len(found.members) >= at_least else []

        with ExitStack() as clients:
            for count, member_id in enumerate(ids, 1):
                joining = clients.enter_context(client(broker))
                joining.send(JoinGroupRequest(group, 30_000, 30_000, member_id, None, "consumer", protocols), 9)
                members = wait_until("it has joined", partial(described, count))
                assert members == java_order(ids[:count], hash_of_text)


def test_list_groups_is_in_the_coordinators_order(broker: Target) -> None:
    """Partition by partition of the offsets topic, as the coordinator of a node has them in a concurrent hash map."""
    prefix = unique("order")
    groups = [f"{prefix}-{number}" for number in range(150)]
    with client(broker) as connection:
        for group in groups:
            find(connection, group)
            join = ConsumerGroupHeartbeatRequest(group, "m", 0, None, None, 60_000, ["t"], None, None, [])
            accepted(connection, join, 1)
        listed = [of.group_id for of in connection.request(ListGroupsRequest([], []), 5).groups]
        others = [group for group in listed if group not in groups]
        by_partition: dict[tuple[str, int], list[str]] = {(OFFSETS, index): [] for index in range(PARTITIONS)}
        for group in [*others, *groups]:
            by_partition[OFFSETS, partition_for(group, PARTITIONS)].append(group)
        expected = []
        for key in concurrent_order(by_partition, hash_of_partition):
            expected += timeline_order(by_partition[key], len(by_partition[key]))
        assert [group for group in listed if group in groups] == [group for group in expected if group in groups]
        for group in groups:
            connection.request(ConsumerGroupHeartbeatRequest(group, "m", -1), 1)
        connection.request(DeleteGroupsRequest(groups), 2)
