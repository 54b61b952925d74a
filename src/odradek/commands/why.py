"""`odradek why GROUP`: why a group reads nothing; of any Kafka, as far as its protocol tells."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.text import why_text
from odradek.broker.facade.topics import PartitionInfo, TopicInfo
from odradek.client_security.options import PLAIN_TEXT, ClientSecurity, SecurityOptionError
from odradek.commands import CommandError, CommandParser, add_bootstrap_servers, add_client_config, client_security
from odradek.protocol.consumer_protocol import assigned_partitions, subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest
from odradek.protocol.uuids import uuid_to_text
from odradek.wire_client import WireClient, WireError


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("group", help="group id")
    add_bootstrap_servers(parser, required=True)
    add_client_config(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print what is known."""
    host, port = arguments.bootstrap_servers
    try:
        print(why(arguments.group, host, port, client_security(arguments.client_config)))
    except (WireError, KafkaError, SecurityOptionError) as error:
        raise CommandError(str(error)) from error
    return 0


_EARLIEST, _LATEST = -2, -1
_UNCOMMITTED, _COMMITTED = 0, 1


def why(group_id: str, host: str, port: int, security: ClientSecurity = PLAIN_TEXT) -> str:
    """The state of a group of a cluster, as text; WireError and KafkaError if the cluster does not answer."""
    with closing(ClusterReader(host, port, security)) as cluster:
        return why_text(cluster.situation(group_id), group_id)


class ClusterReader:
    """A cluster that is asked over the wire: a connection to each node, opened when it is needed.

    `metadata`: of all topics. `addresses`: of its nodes, by id.
    """

    def __init__(self, host: str, port: int, security: ClientSecurity) -> None:
        self._security = security
        self.first = WireClient(host, port, security=security)
        self._clients: dict[int, WireClient] = {}
        self.metadata = self.first.request(MetadataRequest(topics=None), max_version=12)
        self.addresses = {node.node_id: (node.host, node.port) for node in self.metadata.brokers}

    def close(self) -> None:
        for client in (self.first, *self._clients.values()):
            client.close()

    def situation(self, group_id: str) -> Situation:
        """All groups by name, and what the one that is meant is about."""
        kinds = self.groups()
        # The names of the other groups are enough.
        groups = {each: GroupInfo(each, "", -1, "", None, None, (), {}, -1) for each in kinds if each != group_id}
        if group_id in kinds:
            groups[group_id] = self._group(group_id, kinds[group_id].group_type or "classic")
        group = groups.get(group_id)
        wanted: set[str] = set()
        if group is not None:
            wanted = {topic for member in group.members for topic in member.subscription}
            wanted |= {topic for topic, _ in group.offsets}
        topics = {topic.name: topic for topic in map(self._topic, self._topics(wanted))}
        if group is not None:
            groups[group_id] = _with_lags(group, topics)
        return Situation(topics=topics, groups=groups)

    def groups(self) -> dict[str, Any]:
        """All groups by name, as ListGroups tells of them."""
        return {each.group_id: each for node in self.addresses for each in self._groups_of(node)}

    def _groups_of(self, node: int) -> Iterable[Any]:
        answer = self.client(node).request(ListGroupsRequest())
        check(answer.error_code, "the list of groups")
        return list(answer.groups)

    def _topics(self, wanted: set[str]) -> Iterable[Any]:
        """Names are enough of those that the group is not about."""
        for topic in self.metadata.topics:
            if not topic.is_internal and (topic.name in wanted or not topic.error_code):
                yield topic if topic.name in wanted else topic.replace(partitions=[])

    def _topic(self, topic: Any) -> TopicInfo:
        partitions = tuple(self._partition(topic.name, each) for each in topic.partitions)
        return TopicInfo(topic.name, uuid_to_text(topic.topic_id), topic.is_internal, partitions)

    def _partition(self, topic: str, each: Any) -> PartitionInfo:
        index, leader = each.partition_index, each.leader_id
        start = end = stable = 0
        if leader in self.addresses:
            client = self.client(leader)
            start = self.offset(client, topic, index, _EARLIEST, _UNCOMMITTED)
            end = self.offset(client, topic, index, _LATEST, _UNCOMMITTED)
            stable = self.offset(client, topic, index, _LATEST, _COMMITTED)
        replicas, isr = tuple(each.replica_nodes), tuple(each.isr_nodes)
        return PartitionInfo(index, leader, each.leader_epoch, replicas, isr, start, end, stable, 0, end)

    def offset(self, client: WireClient, topic: str, index: int, timestamp: int, isolation: int) -> int:
        """The offset of a timestamp, asked of the leader. KafkaError."""
        asked = ListOffsetsTopic(topic, [ListOffsetsPartition(index, timestamp=timestamp)])
        answer = client.request(ListOffsetsRequest(-1, isolation, [asked])).topics[0].partitions[0]
        check(answer.error_code, f"offsets of {topic}-{index}")
        return int(answer.offset)

    def _group(self, group_id: str, kind: str) -> GroupInfo:
        found = self.first.request(FindCoordinatorRequest(key=group_id), max_version=3)
        check(found.error_code, f"the coordinator of {group_id}")
        client = self.client(found.node_id)
        offsets = {} if kind.lower() == "share" else _offsets(client, group_id)
        if kind.lower() == "consumer":
            (group,) = client.request(ConsumerGroupDescribeRequest([group_id])).groups
            check(group.error_code, f"group {group_id}")
            members = tuple(map(_consumer_member, group.members))
            protocol = group.assignor_name
            return GroupInfo(
                group_id, group.group_state, group.group_epoch, "consumer", protocol, None, members, offsets,
                found.node_id, "consumer",
            )  # fmt: skip
        (group,) = client.request(DescribeGroupsRequest([group_id])).groups
        check(group.error_code, f"group {group_id}")
        members = tuple(map(_member, group.members))
        return GroupInfo(
            group_id, group.group_state, -1, group.protocol_type, group.protocol_data, None, members, offsets,
            found.node_id, kind.lower(),
        )  # fmt: skip

    def client(self, node: int) -> WireClient:
        """The connection to a node. WireError for a leader that is not up."""
        if node not in self.addresses:
            raise WireError(f"the leader {node} of a partition is not up")
        if node not in self._clients:
            self._clients[node] = WireClient(*self.addresses[node], security=self._security)
        return self._clients[node]


def _offsets(client: WireClient, group_id: str) -> dict[tuple[str, int], OffsetInfo]:
    answer = client.request(OffsetFetchRequest(group_id, topics=None), max_version=7)
    check(answer.error_code, f"the offsets of {group_id}")
    return {
        (topic.name, each.partition_index): OffsetInfo(
            each.committed_offset, each.committed_leader_epoch, each.metadata or "", 0, None
        )
        for topic in answer.topics
        for each in topic.partitions
        if each.committed_offset >= 0
    }


def _member(member: Any) -> MemberInfo:
    try:
        topics = subscribed_topics(member.member_metadata)
        assigned = assigned_partitions(member.member_assignment)
    except ProtocolError:
        topics, assigned = (), {}
    return MemberInfo(
        member.member_id, member.group_instance_id, member.client_id, member.client_host, topics, assigned, 0, 0
    )


def _consumer_member(member: Any) -> MemberInfo:
    assigned = {each.topic_name: tuple(each.partitions) for each in member.assignment.topic_partitions}
    topics = tuple(member.subscribed_topic_names)
    regex = member.subscribed_topic_regex or ""
    return MemberInfo(
        member.member_id, member.instance_id, member.client_id, member.client_host, topics, assigned, 0, 0,
        member.member_epoch, regex,
    )  # fmt: skip


def _with_lags(group: GroupInfo, topics: dict[str, TopicInfo]) -> GroupInfo:
    """The group with what its offsets and members lack."""
    ends = {(topic.name, each.index): each for topic in topics.values() for each in topic.partitions}
    offsets = {
        place: OffsetInfo(
            offset.offset,
            offset.leader_epoch,
            offset.metadata,
            0,
            max(0, ends[place].high_watermark - offset.offset) if place in ends else None,
        )
        for place, offset in group.offsets.items()
    }
    subscribed = {topic for member in group.members for topic in member.subscription}
    mine = [place for place in ends if place[0] in subscribed]
    given = group.assignments
    filled = [place for place in mine if ends[place].high_watermark > ends[place].log_start_offset]
    return GroupInfo(
        group.group_id, group.state, group.generation, group.protocol_type, group.protocol, group.leader,
        group.members, offsets, group.coordinator, group.type, group.assignment_epoch,
        tuple(place for place in mine if place not in given) if group.type != "share" else (),
        tuple(place for place in filled if place not in offsets) if group.type != "share" else (),
    )  # fmt: skip


def check(code: int, what: str) -> None:
    """KafkaError for an answer with an error."""
    if code:
        raise KafkaError(ErrorCode(code), f"{what}: {ErrorCode(code).name}")
