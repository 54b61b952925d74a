"""`odradek why GROUP`: why a group reads nothing; of any Kafka, as far as its protocol tells."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.text import why_text
from odradek.broker.facade.topics import PartitionInfo, TopicInfo
from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.commands import CommandError, CommandParser, add_bootstrap_servers, add_client_config, client_security
from odradek.pipeline.cluster_client import EARLIEST, GROUP, LATEST, ClusterClient
from odradek.protocol.consumer_protocol import assigned_partitions, subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest
from odradek.protocol.uuids import uuid_to_text


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("group", help="group id")
    add_bootstrap_servers(parser, required=True)
    add_client_config(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print what is known."""
    try:
        print(why(arguments.group, arguments.bootstrap_servers, client_security(arguments.client_config)))
    except (KafkaError, ValueError) as error:
        raise CommandError(str(error)) from error
    return 0


def why(group_id: str, bootstrap_servers: str, security: ClientSecurity = PLAIN_TEXT) -> str:
    """The state of a group of a cluster, as text; ConnectionError or KafkaError if the cluster does not answer."""
    with ClusterClient(bootstrap_servers, security=security) as client:
        return why_text(ClusterReader(client).situation(group_id), group_id)


class ClusterReader:
    """Reads topics and groups of a cluster over the wire.

    `metadata`: of all topics. `addresses`: host and port of each node, by id.
    """

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self.metadata = client.ask(MetadataRequest(topics=None))
        self.addresses = {node.node_id: (node.host, node.port) for node in self.metadata.brokers}

    def situation(self, group_id: str) -> Situation:
        """The names of all topics and groups; partitions, members and offsets of this group alone."""
        kinds = self.groups()
        groups = {each: GroupInfo(each, "", -1, "", None, None, (), {}, -1) for each in kinds if each != group_id}
        if group_id not in kinds:
            return Situation(topics=self._topics(set()), groups=groups)
        group = self._group(group_id, (kinds[group_id].group_type or "classic").lower())
        topics = self._topics({topic for member in group.members for topic in member.subscription}
                              | {topic for topic, _ in group.offsets})  # fmt: skip
        return Situation(topics=topics, groups={**groups, group_id: _with_lags(group, topics)})

    def groups(self) -> dict[str, Any]:
        """The groups by id, as ListGroups describes them."""
        answers = [self._client.ask(ListGroupsRequest(), at=address) for address in self.addresses.values()]
        for answer in answers:
            check(answer.error_code, "the list of groups")
        return {each.group_id: each for answer in answers for each in answer.groups}

    def _topics(self, wanted: set[str]) -> dict[str, TopicInfo]:
        """All topics, with the partitions of the wanted ones."""
        found = [
            topic
            for topic in self.metadata.topics
            if not topic.is_internal and (topic.name in wanted or not topic.error_code)
        ]
        places = {
            (topic.name, each.partition_index)
            for topic in found
            for each in topic.partitions
            if topic.name in wanted and each.leader_id in self.addresses
        }
        start = self._client.offsets(dict.fromkeys(places, EARLIEST))
        end = self._client.offsets(dict.fromkeys(places, LATEST))
        stable = self._client.offsets(dict.fromkeys(places, LATEST), read_committed=True)

        def partition(topic: str, each: Any) -> PartitionInfo:
            place = topic, each.partition_index
            return PartitionInfo(
                each.partition_index,
                each.leader_id,
                each.leader_epoch,
                tuple(each.replica_nodes),
                tuple(each.isr_nodes),
                start.get(place, 0),
                end.get(place, 0),
                stable.get(place, 0),
                size_bytes=0,
                log_end_offset=end.get(place, 0),
            )

        return {
            topic.name: TopicInfo(
                topic.name,
                uuid_to_text(topic.topic_id),
                topic.is_internal,
                tuple(partition(topic.name, each) for each in topic.partitions if topic.name in wanted),
            )
            for topic in found
        }

    def _group(self, group_id: str, kind: str) -> GroupInfo:
        coordinator = self._client.coordinator(GROUP, group_id).node_id
        offsets = {} if kind == "share" else self._offsets(group_id)
        if kind == "consumer":
            group = self._described(ConsumerGroupDescribeRequest([group_id]), group_id)
            members = tuple(map(_consumer_member, group.members))
            return GroupInfo(
                group_id, group.group_state, group.group_epoch, kind, group.assignor_name, None, members, offsets,
                coordinator, kind,
            )  # fmt: skip
        group = self._described(DescribeGroupsRequest([group_id]), group_id)
        members = tuple(map(_member, group.members))
        return GroupInfo(
            group_id, group.group_state, -1, group.protocol_type, group.protocol_data, None, members, offsets,
            coordinator, kind,
        )  # fmt: skip

    def _described(self, request: Any, group_id: str) -> Any:
        answer = self._client.ask_coordinator(
            GROUP, group_id, request, request.MAX_VERSION, lambda answer: [each.error_code for each in answer.groups]
        )
        return answer.groups[0]

    def _offsets(self, group_id: str) -> dict[tuple[str, int], OffsetInfo]:
        request = OffsetFetchRequest(group_id, topics=None)
        answer = self._client.ask_coordinator(GROUP, group_id, request, 7, lambda answer: [answer.error_code])
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
    """The group with the lags of its offsets, and its gaps."""
    ends = {(topic.name, each.index): each for topic in topics.values() for each in topic.partitions}
    offsets = {
        place: replace(offset, lag=max(0, ends[place].high_watermark - offset.offset) if place in ends else None)
        for place, offset in group.offsets.items()
    }
    subscribed = {topic for member in group.members for topic in member.subscription} if group.type != "share" else ()
    mine = [place for place in ends if place[0] in subscribed]
    given = group.assignments
    filled = [place for place in mine if ends[place].high_watermark > ends[place].log_start_offset]
    return replace(
        group,
        offsets=offsets,
        unassigned=tuple(place for place in mine if place not in given),
        uncommitted=tuple(place for place in filled if place not in offsets),
    )


def check(code: int, what: str) -> None:
    """KafkaError for an answer with an error."""
    if code:
        raise KafkaError(ErrorCode(code), f"{what}: {ErrorCode(code).name}")
