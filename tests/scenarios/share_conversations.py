"""Conversations of raw requests about share groups, written down so that two brokers can be compared word for word.

Like `group_conversations`, with the records of `__share_group_state` and the batches of a ShareFetch spelt out. The
transcripts of a real Kafka 4.4.0 lie in ``tests/vectors/share_conversations.json.gz``.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.generated.messages import alter_share_group_offsets as alter
from odradek.protocol.generated.messages import delete_share_group_offsets as delete_offsets
from odradek.protocol.generated.messages import delete_share_group_state as delete
from odradek.protocol.generated.messages import describe_share_group_offsets as describe_offsets
from odradek.protocol.generated.messages import initialize_share_group_state as initialize
from odradek.protocol.generated.messages import read_share_group_state as read
from odradek.protocol.generated.messages import read_share_group_state_summary as summary
from odradek.protocol.generated.messages import share_acknowledge, share_fetch
from odradek.protocol.generated.messages import write_share_group_state as write
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.share_group_describe import ShareGroupDescribeRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.json_form import to_json
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.protocol.stored import decode_group_record, decode_share_record
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.wire_client import WireClient
from tests.scenarios.group_conversations import INTERNAL, Conversation, batches_from
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

CONFIG: Mapping[str, str] = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.min.session.timeout.ms": "600",
    "group.share.max.size": "12",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.partition.max.record.locks": "200",
    "group.share.min.partition.max.record.locks": "100",
    "group.share.max.share.sessions": "100",
    "group.share.assignment.interval.ms": "0",
}
"""What a broker is configured with for these conversations."""

STATE_TOPIC = "__share_group_state"
_TIMES = ("createTimestamp", "writeTimestamp", "assignmentTimestamp")
Ack = tuple[int, int, Sequence[int]]
"""First and last offset, and the acknowledge types."""


class ShareConversation(Conversation):
    """A conversation about a share group and a topic of two partitions."""

    # -- the share coordinator

    def __init__(self, host: str, port: int) -> None:
        """Waits until the share coordinator of the group's partitions answers; its topic is made by asking for it."""
        super().__init__(host, port)
        client = self._client("setup")
        for partition in (0, 1):
            self._wait_for_states(client, self.group, partition)

    def _wait_for_states(self, client: WireClient, group: str, partition: int) -> None:
        find = FindCoordinatorRequest(
            key_type=2, coordinator_keys=[f"{group}:{uuid_to_text(self.topic_id)}:{partition}"]
        )
        probe = self._summary_request(group, partition)
        wait_until("the share coordinator", lambda: client.request(find, 6).coordinators[0].error_code == 0)
        wait_until("its states", lambda: client.request(probe, 1).results[0].partitions[0].error_code == 0)

    def _summary_request(self, group: str, *partitions: int) -> Any:
        rows = [summary.PartitionData(partition) for partition in partitions]
        return summary.ReadShareGroupStateSummaryRequest(group, [summary.ReadStateSummaryData(self.topic_id, rows)])

    def initialize(self, state_epoch: int, start: int, *, partition: int = 0, **other: Any) -> Any:
        rows = [initialize.PartitionData(partition, state_epoch, start)]
        topic = initialize.InitializeStateData(other.get("topic_id", self.topic_id), rows)
        group = other.get("group", self.group)
        return self.ask(initialize.InitializeShareGroupStateRequest(group, [topic]), 0)

    def read(self, leader_epoch: int = 0, *, partition: int = 0, **other: Any) -> Any:
        topic = read.ReadStateData(other.get("topic_id", self.topic_id), [read.PartitionData(partition, leader_epoch)])
        return self.ask(read.ReadShareGroupStateRequest(other.get("group", self.group), [topic]), 0)

    def write(self, batches: Sequence[tuple[int, int, int, int]], *, partition: int = 0, **other: Any) -> Any:
        row = write.PartitionData(
            partition,
            other.get("state_epoch", 0),
            other.get("leader_epoch", 0),
            other.get("start", -1),
            other.get("complete", -1),
            [write.StateBatch(*batch) for batch in batches],
        )
        topic = write.WriteStateData(other.get("topic_id", self.topic_id), [row])
        return self.ask(
            write.WriteShareGroupStateRequest(other.get("group", self.group), [topic]), other.get("version", 1)
        )

    def delete(self, *, partition: int = 0, **other: Any) -> Any:
        topic = delete.DeleteStateData(other.get("topic_id", self.topic_id), [delete.PartitionData(partition)])
        return self.ask(delete.DeleteShareGroupStateRequest(other.get("group", self.group), [topic]), 0)

    def summarize(self, *partitions: int, version: int = 1) -> Any:
        return self.ask(self._summary_request(self.group, *partitions), version)

    # -- the group

    def lives(self, member: str, epoch: int, topics: Sequence[str] | None = None, **other: Any) -> Any:
        """A heartbeat; ``topics`` are names, of which "" is the conversation's topic."""
        names = None if topics is None else [name or self.topic for name in topics]
        request = ShareGroupHeartbeatRequest(other.get("group", self.group), member, epoch, other.get("rack"), names)
        return self.ask(request, 1, other.get("who", "a"))

    def joined(self, member: str = "m1", who: str = "a", *, early: bool = True) -> int:
        """A member that has both partitions, not written down; its epoch. ``early``: others have fetched before."""
        kept, self.transcript = self.transcript, []
        self.lives(member, 0, [""], who=who)
        self.initialized()
        epoch = int(self.lives(member, self._epoch(member), None, who=who).member_epoch)
        # A real broker reads the states of share partitions one after the other, when they are first fetched from.
        for partition in (0, 1) if early else ():
            self.fetch_shared("early", 0, {partition: []}, wait=300, who=who)
            self.fetch_shared("early", -1, who=who)
        self.transcript = kept
        return epoch

    def _epoch(self, member: str) -> int:
        group = self._client("setup").request(ShareGroupDescribeRequest([self.group]), 1).groups[0]
        return next(int(known.member_epoch) for known in group.members if known.member_id == member)

    def initialized(self, count: int = 2) -> None:
        """Wait until the group coordinator knows that the share coordinator stores the topic's partitions."""
        asked = describe_offsets.DescribeShareGroupOffsetsRequestGroup(self.group, None)
        request = describe_offsets.DescribeShareGroupOffsetsRequest([asked])
        client = self._client("setup")

        def known() -> bool:
            topics = client.request(request, 1).groups[0].topics
            return sum(len(topic.partitions) for topic in topics) >= count

        wait_until("the share partitions", known)

    def deserted(self) -> None:
        """Wait until the group has no members."""
        client = self._client("setup")
        asked = ShareGroupDescribeRequest([self.group])
        wait_until("the end of the sessions", lambda: client.request(asked, 1).groups[0].group_state == "Empty")

    def described(self, group: str | None = None) -> Any:
        return self.ask(ShareGroupDescribeRequest([self.group if group is None else group], True), 1)

    def configured(self, **values: str) -> None:
        """Set configs of the group (underscores for dots) and wait until they are in force."""
        names = {name.replace("_", "."): value for name, value in values.items()}
        configs = [AlterableConfig(name, 0, value) for name, value in names.items()]
        resource = AlterConfigsResource(32, self.group, configs)
        client = self._client("setup")
        answer = client.request(IncrementalAlterConfigsRequest([resource]), 1).responses[0]
        assert answer.error_code == 0, answer.error_message
        request = DescribeConfigsRequest([DescribeConfigsResource(32, self.group, list(names))])

        def seen() -> bool:
            found = client.request(request, 4).results[0].configs
            return {config.name: config.value for config in found} == names

        wait_until("the configs", seen)
        time.sleep(0.2)  # a real broker's coordinators hear of it a moment after its metadata

    def share_version(self, level: int) -> None:
        """Finalize the feature at this level, and wait until the broker knows."""
        client = self._client("setup")
        kind = 1 if level > self._share_version(client) else 2
        answer = client.request(
            UpdateFeaturesRequest(10_000, [FeatureUpdateKey("share.version", level, upgrade_type=kind)]), 2
        )
        assert answer.error_code == 0, answer
        wait_until("the feature", lambda: self._share_version(client) == level)
        time.sleep(0.2)  # as above

    @staticmethod
    def _share_version(client: WireClient) -> int:
        answer = client.request(ApiVersionsRequest("test", "1"), 4)
        return sum(row.max_version_level for row in answer.finalized_features if row.name == "share.version")

    # -- records

    def produce(self, *sizes: int, partition: int = 0, topic: str | None = None) -> None:
        """Batches of so many records, not written down; values count up."""
        for size in sizes:
            records = [Record(i, 1_000, None, f"v{self._values + i}".encode(), ()) for i in range(size)]
            self._values += size
            rows = [PartitionProduceData(partition, build_batch(records))]
            request = ProduceRequest(None, -1, 30_000, [TopicProduceData(topic or self.topic, partition_data=rows)])
            answer = self._client("setup").request(request, 9).responses[0].partition_responses[0]
            assert answer.error_code == 0, answer

    _values = 0

    def transact(self, commit: bool | None, *sizes: int) -> None:
        """A transaction of so many records in each batch of partition 0; None leaves it open. Not written down."""
        client = self._client("setup")
        name = f"x-{uuid.uuid4().hex}"
        find = FindCoordinatorRequest(key_type=1, coordinator_keys=[name])
        wait_until("the coordinator", lambda: client.request(find, 4).coordinators[0].error_code == 0)
        begin = InitProducerIdRequest(name, 60_000)
        wait_until("a producer id", lambda: client.request(begin, 2).error_code == 0)
        producer = client.request(begin, 2)
        identity = (producer.producer_id, producer.producer_epoch)
        rows = [AddPartitionsToTxnTopic(self.topic, [0])]
        add = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=identity[0],
            v3_and_below_producer_epoch=identity[1],
            v3_and_below_topics=rows,
        )
        wait_until("the partition", lambda: _added(client.request(add, 3)))
        sequence = 0
        for size in sizes:
            batch = build_batch(
                [Record(i, 1_000, None, f"t{self._values + i}".encode(), ()) for i in range(size)],
                producer_id=identity[0],
                producer_epoch=identity[1],
                base_sequence=sequence,
                transactional=True,
            )
            self._values += size
            sequence += size
            request = ProduceRequest(
                name, -1, 30_000, [TopicProduceData(self.topic, partition_data=[PartitionProduceData(0, batch)])]
            )
            assert client.request(request, 9).responses[0].partition_responses[0].error_code == 0
        if commit is not None:
            assert client.request(EndTxnRequest(name, *identity, commit), 3).error_code == 0
            wait_until("the marker", lambda: client.request(begin, 2).error_code == 0)

    def settled(self, member: str, partitions: int) -> None:
        """Heartbeats, not written down, until the member has so many partitions and nothing else comes."""
        kept, self.transcript = self.transcript, []

        def held() -> int:
            self.lives(member, self._epoch(member))
            group = self._client("setup").request(ShareGroupDescribeRequest([self.group]), 1).groups[0]
            return sum(len(row.partitions) for row in group.members[0].assignment.topic_partitions)

        wait_until("the assignment", lambda: held() == partitions)
        time.sleep(0.3)
        held()
        self.transcript = kept

    def grow(self, partitions: int) -> None:
        """Give the topic more partitions, and wait until they are there."""
        client = self._client("setup")
        client.request(CreatePartitionsRequest([CreatePartitionsTopic(self.topic, partitions, None)], 30_000), 3)
        named = ListOffsetsTopic(self.topic, [ListOffsetsPartition(partitions - 1, timestamp=-2)])
        asked = ListOffsetsRequest(topics=[named])
        wait_until("partitions", lambda: client.request(asked, 5).topics[0].partitions[0].error_code == 0)

    def hang_up(self, who: str) -> None:
        """Close a connection, and give the broker the time to see it."""
        self._clients.pop(who).close()
        time.sleep(0.3)

    def begin_fetch(self, member: str, epoch: int, places: Mapping[int, Sequence[Ack]] | None, **o: Any) -> None:
        """A ShareFetch of partitions (None: no topic named) with acknowledgements; options by their Kafka names."""
        partitions = [
            share_fetch.FetchPartition(
                index,
                acknowledgement_batches=[share_fetch.AcknowledgementBatch(a, b, list(types)) for a, b, types in acks],
            )
            for index, acks in (places or {}).items()
        ]
        request = share_fetch.ShareFetchRequest(
            group_id=o.pop("group", self.group),
            member_id=member,
            share_session_epoch=epoch,
            max_wait_ms=o.pop("wait", 200),
            min_bytes=o.pop("min_bytes", 1),
            max_bytes=o.pop("max_bytes", 1 << 20),
            max_records=o.pop("max", 100),
            batch_size=o.pop("batch", 100),
            share_acquire_mode=o.pop("mode", 0),
            is_renew_ack=o.pop("renew", False),
            topics=[share_fetch.FetchTopic(o.pop("topic_id", self.topic_id), partitions)] if partitions else [],
            forgotten_topics_data=[share_fetch.ForgottenTopic(self.topic_id, [index]) for index in o.pop("forget", ())],
        )
        version, who = o.pop("version", 2), o.pop("who", "a")
        assert not o, o
        self.begin(request, version, who)

    def fetch_shared(self, member: str, epoch: int, places: Mapping[int, Sequence[Ack]] | None = None, **o: Any) -> Any:
        who = o.get("who", "a")
        self.begin_fetch(member, epoch, places, **o)
        return self.end(who)

    def acknowledge(self, member: str, epoch: int, places: Mapping[int, Sequence[Ack]], **o: Any) -> Any:
        partitions = [
            share_acknowledge.AcknowledgePartition(
                index, [share_acknowledge.AcknowledgementBatch(a, b, list(types)) for a, b, types in acks]
            )
            for index, acks in places.items()
        ]
        topic = share_acknowledge.AcknowledgeTopic(o.get("topic_id", self.topic_id), partitions)
        request = share_acknowledge.ShareAcknowledgeRequest(
            o.get("group", self.group), member, epoch, o.get("renew", False), [topic]
        )
        return self.ask(request, o.get("version", 2), o.get("who", "a"))

    def offsets(self, topics: Mapping[str, Sequence[int]] | None = None, *, version: int = 1) -> Any:
        rows = None
        if topics is not None:
            rows = [
                describe_offsets.DescribeShareGroupOffsetsRequestTopic(name or self.topic, list(indexes))
                for name, indexes in topics.items()
            ]
        asked = describe_offsets.DescribeShareGroupOffsetsRequestGroup(self.group, rows)
        return self.ask(describe_offsets.DescribeShareGroupOffsetsRequest([asked]), version)

    def alter(self, topics: Mapping[str, Mapping[int, int]], group: str | None = None) -> Any:
        rows = [
            alter.AlterShareGroupOffsetsRequestTopic(
                name or self.topic,
                [alter.AlterShareGroupOffsetsRequestPartition(index, offset) for index, offset in offsets.items()],
            )
            for name, offsets in topics.items()
        ]
        return self.ask(alter.AlterShareGroupOffsetsRequest(self.group if group is None else group, rows), 0)

    def forget(self, *topics: str, group: str | None = None) -> Any:
        rows = [delete_offsets.DeleteShareGroupOffsetsRequestTopic(name or self.topic) for name in topics]
        return self.ask(delete_offsets.DeleteShareGroupOffsetsRequest(self.group if group is None else group, rows), 0)

    # -- what the log says

    def group_log(self) -> None:
        """The records of the group in `__consumer_offsets`."""
        client = self._client("reader")
        internal = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=INTERNAL)])).topics[0]
        place = partition_for(self.group, len(internal.partitions))
        rows: list[list[Any]] = []
        for batch_number, batch in enumerate(batches_of(client, INTERNAL, place)):
            for record in batch.records():
                about, content = decode_group_record(record.key or b"", record.value)
                form = to_json(about, 0)
                if form.get("groupId") == self.group:
                    name = type(about).__name__.removesuffix("Key")
                    rows.append([batch_number, name, form, None if content is None else to_json(content, 0)])
        numbers = list(dict.fromkeys(row[0] for row in rows))
        self.note("group", [[numbers.index(row[0]), *row[1:]] for row in rows])

    def state_log(self) -> None:
        """The records of the share coordinator about this group."""
        client = self._client("reader")
        internal = client.request(MetadataRequest(topics=[MetadataRequestTopic(name=STATE_TOPIC)])).topics[0]
        for partition in (0, 1):
            key = f"{self.group}:{uuid_to_text(self.topic_id)}:{partition}"
            place = partition_for(key, len(internal.partitions))
            rows = [
                row
                for row in _state_records(client, place, self.group)
                if row[2]["topicId"] == uuid_to_text(self.topic_id) and row[2]["partition"] == partition
            ]
            self.note(f"states of partition {partition}", rows)

    def _clean(self, value: Any, key: str = "") -> Any:
        if key in _TIMES:
            return "then" if value else value
        if key == "metadataHash":
            return "hash" if value else value
        if key == "records":
            return _rows(bytes.fromhex(value))
        return super()._clean(value, key)


def _added(answer: Any) -> bool:
    rows = answer.results_by_topic_v3_and_below
    return all(row.partition_error_code == 0 for topic in rows for row in topic.results_by_partition)


def _rows(data: bytes) -> list[Any]:
    """Batches of records as offsets and values."""
    return [
        [record.offset, "control" if batch.is_control else (record.value or b"").decode()]
        for batch in iter_batches(data)
        for record in batch.records()
    ]


def _log_start(client: WireClient, topic: str, partition: int) -> int:
    """A real broker prunes the states' topic from time to time."""
    rows = [ListOffsetsTopic(topic, [ListOffsetsPartition(partition, timestamp=-2)])]
    return int(client.request(ListOffsetsRequest(topics=rows), 5).topics[0].partitions[0].offset)


def batches_of(client: WireClient, topic: str, partition: int) -> Any:
    """The batches of a partition, from its first offset on."""
    return batches_from(client, topic, partition, _log_start(client, topic, partition))


def _state_records(client: WireClient, partition: int, group: str) -> Any:
    for batch in batches_of(client, STATE_TOPIC, partition):
        for record in batch.records():
            row = _state_record(record.key or b"", record.value)
            if row[1]["groupId"] == group:
                yield [batch.base_sequence, *row]


def _state_record(key: bytes, value: bytes | None) -> list[Any]:
    about, content = decode_share_record(key, value)
    name = type(about).__name__.removesuffix("Key")
    return [name, to_json(about, 0), None if content is None else to_json(content, 0)]


# -- the conversations


def share_states(c: ShareConversation) -> None:
    """The life of a stored share partition: made, written, read by later leaders, deleted."""
    c.summarize(0, 1)
    c.read()
    c.write([(0, 4, 2, 1)])
    c.delete()
    c.initialize(1, -1)
    c.summarize(0)
    c.read()
    c.read(-1)
    c.read(3)
    c.read(3)
    c.read(2)
    c.write([(0, 4, 2, 1), (5, 9, 0, 1)], state_epoch=1, leader_epoch=3, start=0, complete=5)
    c.write([(7, 8, 4, 2)], state_epoch=1, leader_epoch=3, start=5, complete=2)
    c.read(3)
    c.summarize(0, version=0)
    c.summarize(0)
    c.write([], state_epoch=1, leader_epoch=3, start=-1, complete=2)
    c.write([(5, 5, 2, 2)], state_epoch=1, leader_epoch=-1, version=0)
    c.write([(5, 5, 2, 2)], state_epoch=0, leader_epoch=3)
    c.write([(5, 5, 2, 2)], state_epoch=2, leader_epoch=3)
    c.write([(5, 5, 2, 2)], state_epoch=1, leader_epoch=2)
    c.write([(5, 5, 2, 2)], state_epoch=1, leader_epoch=4)
    c.write([(5, 5, 2, 2)], state_epoch=-1, leader_epoch=4)
    c.read(4)
    c.initialize(0, 7)
    c.initialize(-1, 7)
    c.initialize(2, 11)
    c.read(4)
    c.summarize(0)
    c.delete()
    c.delete()
    c.read()
    c.initialize(0, 3)
    c.read()
    c.state_log()


def wrong_share_states(c: ShareConversation) -> None:
    """What is refused of requests to the share coordinator."""
    stranger = bytes(range(16))
    for other in ({"topic_id": stranger}, {"topic_id": bytes(16)}, {"partition": 2}, {"partition": -1}):
        c.initialize(1, 0, **other)
        c.read(**other)
        c.write([(0, 1, 2, 1)], **other)
        c.delete(**other)
    c.initialize(1, 0, group="")
    c.read(group="")
    c.write([], group="")
    c.delete(group="")
    c.ask(read.ReadShareGroupStateRequest(c.group, []), 0)
    c.ask(read.ReadShareGroupStateRequest(c.group, [read.ReadStateData(c.topic_id, [])]), 0)
    c.ask(summary.ReadShareGroupStateSummaryRequest(c.group, []), 1)
    c.ask(write.WriteShareGroupStateRequest(c.group, [write.WriteStateData(c.topic_id, [])]), 1)


def merged_batches(c: ShareConversation) -> None:
    """How batches that overlap are put together."""
    c.initialize(0, 0)
    for batches in (
        [(0, 9, 0, 1)],
        [(3, 5, 2, 1)],
        [(4, 12, 0, 2)],
        [(4, 12, 2, 2)],
        [(20, 29, 2, 1), (13, 19, 2, 1)],
        [(0, 2, 0, 1), (6, 9, 4, 1)],
        [(11, 13, 0, 3), (11, 14, 0, 3)],
        [(0, 30, 0, 1)],
        [(30, 30, 0, 1), (31, 31, 0, 1), (32, 33, 0, 1)],
        [(40, 45, 2, 1), (42, 43, 4, 1), (44, 50, 0, 2)],
    ):
        c.write(batches, start=0, complete=0)
        c.read()
    c.write([(2, 3, 2, 3)], start=8, complete=0)
    c.read()
    c.write([], start=22, complete=0)
    c.read()
    c.state_log()


def snapshots(c: ShareConversation) -> None:
    """A snapshot takes the place of the update after 500 updates."""
    c.initialize(0, 0)
    kept, c.transcript = c.transcript, []
    for offset in range(502):
        c.write([(offset, offset, 2, 1)], start=max(0, offset - 2), complete=1)
    c.transcript = kept
    c.read()
    c.state_log()
    c.transcript[-1][1] = []
    c.transcript[-2][1] = [row for row in c.transcript[-2][1] if row[1] == "ShareSnapshot"]


def share_keys(c: ShareConversation) -> None:
    """Which keys of share partitions a coordinator is found for."""
    topic = uuid_to_text(c.topic_id)
    for key in (
        f"{c.group}:{topic}:0",
        f"{c.group}:{topic}:-1",
        f"{c.group}:{topic}:9",
        f"{c.group}:{topic}:x",
        f"{c.group}:{topic}:",
        f"{c.group}:{topic}",
        f"a:b:{topic}:1",
        f":{topic}:1",
        f" :{topic}:1",
        f"{c.group}:nonsense:1",
        f"{c.group}:{topic}x:1",
        "",
    ):
        found = c._client("a").request(FindCoordinatorRequest(key_type=2, coordinator_keys=[key]), 6).coordinators[0]
        c.note("found", [found.error_code, found.error_message, key.replace(topic, "topic")])
    for version in range(1, 7):
        key = f"{c.group}:{topic}:0"
        request = FindCoordinatorRequest(
            key=key if version < 4 else "", key_type=2, coordinator_keys=[key] if version >= 4 else []
        )
        found = c._client("a").request(request, version)
        first = found if version < 4 else found.coordinators[0]
        c.note(f"found {version}", [first.error_code, first.error_message])


def members(c: ShareConversation) -> None:
    """Members come, go on and leave: their epochs, their assignments and the records of the group."""
    for group in (c.group, f"{c.group}-none", ""):
        c.described(group)
    c.lives("m1", 0, [""])
    c.initialized()
    c.lives("m1", 2)
    c.lives("m1", 3)
    c.lives("m1", 2)
    c.lives("m1", 1)
    c.lives("m1", 4)
    c.described()
    c.lives("m1", 3, [""])
    c.lives("m1", 3, None, rack="r1")
    c.lives("m1", 0, [""])
    c.listed()
    c.lives("m2", 3)
    c.lives("m2", -1)
    c.lives("m1", -1)
    c.described()
    c.lives("m1", 3)
    c.lives("m1", -1)
    c.lives("m1", 0, [""])
    c.lives("m1", -1)
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.described()
    c.group_log()
    c.state_log()


def several_members(c: ShareConversation) -> None:
    """Partitions are shared out as members come and go."""
    epoch = c.joined("m1")
    for member in ("m2", "m3", "m4"):
        answer = c.ask(ShareGroupHeartbeatRequest(c.group, member, 0, None, [c.topic]), 1)
        held = sum(len(row.partitions) for row in answer.assignment.topic_partitions)
        c.transcript.pop()
        c.note(f"{member} joins", [answer.member_epoch, held])
    answer = c.ask(ShareGroupHeartbeatRequest(c.group, "m1", epoch, None, None), 1)
    c.transcript.pop()
    c.note("m1", [answer.member_epoch, sum(len(row.partitions) for row in answer.assignment.topic_partitions)])
    group = c._client("setup").request(ShareGroupDescribeRequest([c.group]), 1).groups[0]
    c.note("group", [group.group_epoch, group.assignment_epoch, sorted(m.member_epoch for m in group.members)])
    c.ask(DeleteGroupsRequest([c.group]), 2)


def wrong_members(c: ShareConversation) -> None:
    """What is refused of a heartbeat."""
    for member in ("", "x" * 36, "x" * 37, " "):
        c.lives(member, 0, [""], group=f"{c.group}-b")
    c.lives("m1", 0, [""], group="")
    c.lives("m1", 0, [""], group=" ")
    c.lives("m1", 0, None)
    c.lives("m1", 0, [])
    c.lives("m1", -2, [""])
    c.lives("m1", 5, [""])
    c.lives("m1", -1)
    c.lives("m1", 0, [""], rack="")
    c.stable(1)
    c.lives("m1", 0, [""])
    c.lives("m1", 3, [""])
    c.lives("m1", -1)
    c.described()
    c.transcript.append("group size")
    for number in range(13):
        c.lives(f"s{number:02}", 0, ["t-nope"], group=f"{c.group}-many")


def simple_work(c: ShareConversation) -> None:
    """Records are fetched, accepted, released and rejected; what is stored of it."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(10)
    c.fetch_shared("m1", 0, {0: [], 1: []})
    c.fetch_shared("m1", 1, {0: [(0, 2, [1]), (3, 3, [2]), (4, 5, [3, 1])]}, wait=100)
    c.offsets()
    c.acknowledge("m1", 2, {0: [(3, 3, [1]), (6, 9, [1])]})
    c.offsets({"": [0, 1]})
    c.fetch_shared("m1", 3, wait=100)
    c.produce(3, 2)
    c.fetch_shared("m1", 4)
    c.acknowledge("m1", 5, {0: [(10, 14, [2, 2, 1, 1, 0])]})
    c.fetch_shared("m1", 6)
    c.acknowledge("m1", -1, {})
    c.offsets()
    c.state_log()


def first_looks(c: ShareConversation) -> None:
    """A fetch begins before what it acknowledges counts, and before a state that cannot be read is told of."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(4)
    c.fetch_shared("m1", 0, {0: []})
    c.fetch_shared("m1", 1, {0: [(0, 1, [2]), (2, 3, [1])]})
    c.produce(2)
    c.fetch_shared("m1", 2, {0: [(0, 1, [2])]})
    c.fetch_shared("m1", 3, {0: [(4, 5, [1])]})
    c.grow(3)
    c.fetch_shared("m1", 4, {2: []})
    c.produce(1)
    c.fetch_shared("m1", 5)
    c.fetch_shared("m1", 6, {0: [(6, 6, [3])]})
    c.acknowledge("m1", 7, {0: [(0, 1, [1])]})
    c.fetch_shared("m1", 8, {0: []}, min_bytes=0)
    c.state_log()


def deliveries(c: ShareConversation) -> None:
    """Records that are released again and again reach the limit of deliveries, alone at last."""
    c.configured(share_auto_offset_reset="earliest", share_delivery_count_limit="4")
    c.joined()
    c.produce(8)
    c.fetch_shared("m1", 0, {0: []})
    epoch = 1
    for _ in range(14):
        held = c.transcript[-1][1]["responses"]
        acquired = held[0]["partitions"][0]["acquiredRecords"] if held else []
        acks = [(int(row["firstOffset"]), int(row["lastOffset"]), [2]) for row in acquired]
        c.acknowledge("m1", epoch, {0: acks} if acks else {})
        c.fetch_shared("m1", epoch + 1, wait=100)
        epoch += 2
    c.offsets()


def record_limit(c: ShareConversation) -> None:
    """Strict and batch-optimised limits of records."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(10, 10, 5, 1, 1, 1)
    c.fetch_shared("m1", 0, {0: []}, max=3, mode=1)
    c.fetch_shared("m1", 1, max=3, mode=1)
    c.fetch_shared("m1", 2, max=3)
    c.fetch_shared("m1", 3, max=1)
    c.fetch_shared("m1", 4, max=3, batch=1)
    c.fetch_shared("m1", 5, max=30, batch=2)
    c.acknowledge("m1", 6, {0: [(0, 0, [2]), (12, 13, [2]), (26, 26, [2])]})
    c.fetch_shared("m1", 7, max=2, mode=1)
    c.fetch_shared("m1", 8, max=2, mode=1)
    c.fetch_shared("m1", 9, max=0)
    c.fetch_shared("m1", 10, max=-1, wait=100)
    c.fetch_shared("m1", 11, max_bytes=0)
    c.fetch_shared("m1", 12, mode=7, wait=100)


def many_locks(c: ShareConversation) -> None:
    """No more records are in flight than the group's limit allows."""
    c.configured(share_auto_offset_reset="earliest", share_partition_max_record_locks="100")
    c.joined()
    c.produce(*[30] * 6)
    c.fetch_shared("m1", 0, {0: []}, max=50)
    c.fetch_shared("m1", 1, max=50)
    c.fetch_shared("m1", 2, max=50, wait=100)
    c.acknowledge("m1", 3, {0: [(10, 19, [2])]})
    c.fetch_shared("m1", 4, max=50, wait=100)
    c.acknowledge("m1", 5, {0: [(0, 19, [1])]})
    c.fetch_shared("m1", 6, max=50, wait=100)


def wrong_acknowledgements(c: ShareConversation) -> None:
    """What is refused of acknowledgements."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(10, 10)
    c.fetch_shared("m1", 0, {0: [], 1: []}, max=10)
    c.fetch_shared("m2", 0, {0: []}, max=10, who="b")
    epoch = 1
    refused: Sequence[list[Ack]] = (
        [(5, 4, [1])],
        [(0, 2, [])],
        [(0, 2, [1, 1])],
        [(0, 2, [5])],
        [(0, 2, [-1])],
        [(0, 2, [4])],
        [(3, 4, [1]), (0, 1, [1])],
        [(3, 4, [1]), (4, 5, [1])],
        [(3, 4, [1]), (3, 5, [1])],
        [(10, 12, [1])],
        [(8, 12, [1])],
        [(0, 30, [1])],
        [(20, 21, [1])],
        [(25, 26, [1])],
        [(-5, -3, [1])],
        [(-5, 3, [1])],
        [(0, 0, [1])],
        [(0, 0, [1])],
        [(0, 4, [1])],
        [(2, 2, [1])],
        [(2, 2, [1])],
        [(1, 3, [1])],
    )
    for acks in refused:
        c.acknowledge("m1", epoch, {0: acks})
        epoch += 1
    c.acknowledge("m1", epoch, {1: [(0, 0, [1])], 7: [(0, 0, [1])]})
    c.acknowledge("m1", epoch + 1, {0: [(3, 3, [1])]}, topic_id=bytes(range(16)))
    c.acknowledge("m1", epoch + 2, {0: []})
    c.acknowledge("m1", epoch + 3, {0: [(3, 3, [4])]}, version=1)
    c.acknowledge("m1", epoch + 4, {0: [(3, 3, [4])]}, renew=True)
    c.acknowledge("m1", epoch + 5, {0: [(3, 4, [4, 1])]}, renew=True)
    c.acknowledge("nobody", epoch, {0: [(3, 3, [1])]})
    c.acknowledge("m1", 0, {0: [(3, 3, [1])]})
    c.acknowledge("m1", epoch, {0: [(3, 3, [1])]})
    c.acknowledge("m1", 99, {0: [(3, 3, [1])]})
    c.acknowledge("", 1, {0: [(3, 3, [1])]})
    c.acknowledge("x" * 37, 1, {0: [(3, 3, [1])]})
    c.acknowledge("m1", epoch + 6, {0: [(3, 3, [1])]}, group=f"{c.group}-none")
    c.offsets()


def sessions(c: ShareConversation) -> None:
    """Share sessions: epochs, partitions that come and go, the last request."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(2, partition=0)
    c.produce(2, partition=1)
    c.fetch_shared("m1", 1, {0: []})
    c.fetch_shared("m1", -1)
    c.fetch_shared("m1", 0, {0: [(0, 0, [1])]})
    c.fetch_shared("m1", 0, {0: []}, wait=100)
    c.fetch_shared("m1", 2, wait=100)
    c.fetch_shared("m1", 1, {1: []}, wait=100)
    c.fetch_shared("m1", 2, wait=100)
    c.fetch_shared("m1", 2, wait=100)
    c.fetch_shared("m1", 3, {7: []}, wait=100)
    c.fetch_shared("m1", 4, wait=100)
    c.fetch_shared("m1", 5, wait=100, forget=[7, 1])
    c.produce(1, partition=0)
    c.produce(1, partition=1)
    c.fetch_shared("m1", 6)
    c.fetch_shared("m1", 7, {0: []}, topic_id=bytes(range(16)), wait=100)
    c.fetch_shared("m1", 8, wait=100)
    c.fetch_shared("m1", 9, {0: [(0, 1, [1])], 1: []}, wait=100)
    c.fetch_shared("m1", 10, {0: [(2, 2, [4])]}, renew=True, wait=0, max=0, min_bytes=0, max_bytes=0)
    c.fetch_shared("m1", 11, {0: [(2, 2, [4])]}, renew=True)
    c.fetch_shared("m1", -1, {1: [(0, 0, [1])]})
    c.fetch_shared("m1", 11)
    c.fetch_shared("m1", 0, {}, wait=100)
    c.fetch_shared("m1", 0, {0: []}, topic_id=bytes(range(16)), wait=100)
    c.fetch_shared("", 0, {0: []})
    c.fetch_shared("x" * 37, 0, {0: []})
    c.fetch_shared("m1", 0, {0: []}, group=f"{c.group}-none", wait=100)
    c.fetch_shared("m1", 0, {0: []}, version=1, wait=100)


def lock_timeouts(c: ShareConversation) -> None:
    """Locks run out, and are renewed."""
    c.configured(share_auto_offset_reset="earliest", share_record_lock_duration_ms="1000")
    c.joined()
    c.produce(5)
    c.fetch_shared("m1", 0, {0: []})
    c.fetch_shared("m2", 0, {0: []}, wait=4000, who="b")
    c.acknowledge("m1", 1, {0: [(0, 0, [1])]})
    c.fetch_shared("m1", 2, wait=4000)
    c.acknowledge("m2", 1, {0: [(0, 4, [1])]}, who="b")
    c.acknowledge("m1", 3, {0: [(0, 4, [1])]})
    c.state_log()


def starting_points(c: ShareConversation) -> None:
    """Where a group begins."""
    c.produce(5)
    c.joined()
    c.fetch_shared("m1", 0, {0: []}, wait=100)
    c.produce(2)
    c.fetch_shared("m1", 1)
    c.acknowledge("m1", 2, {0: [(5, 5, [1])]})
    c.offsets()


def by_duration(c: ShareConversation) -> None:
    """A group begins with the records of the last while."""
    c.configured(share_auto_offset_reset="by_duration:P1D")
    c.produce(5)
    c.joined()
    c.fetch_shared("m1", 0, {0: []}, wait=100)


def offsets(c: ShareConversation) -> None:
    """Where a group stands is described, changed and forgotten."""
    c.configured(share_auto_offset_reset="earliest")
    c.produce(10)
    c.offsets()
    c.offsets({"": [0, 1, 9], "t-nope": [0]})
    c.offsets({})
    c.alter({"": {0: 4, 9: 1}, "t-nope": {0: 1}})
    c.described()
    c.offsets()
    c.offsets(version=0)
    c.joined(early=False)
    c.alter({"": {0: 1}})
    c.forget("")
    c.fetch_shared("m1", 0, {0: []}, wait=2_000)
    c.acknowledge("m1", -1, {0: [(4, 9, [1])]})
    c.offsets()
    c.lives("m1", -1)
    c.forget("", "t-nope", "t-nope-2")
    c.offsets()
    c.forget("")
    c.forget("", group=f"{c.group}-none")
    c.forget("", group="")
    c.alter({"": {0: 1}}, group="")
    c.alter({})
    c.alter({"": {1: 3}})
    c.offsets()
    c.ask(DeleteGroupsRequest([c.group]), 2)
    c.offsets()
    c.group_log()


def transactions(c: ShareConversation) -> None:
    """Records of open and aborted transactions, and what a group sees of them."""
    c.configured(share_auto_offset_reset="earliest", share_isolation_level="read_committed")
    c.joined()
    c.produce(2)
    c.transact(True, 3, 1)
    c.transact(False, 2, 2)
    c.produce(1)
    c.transact(False, 2)
    c.transact(None, 4)
    c.produce(1)
    c.fetch_shared("m1", 0, {0: []})
    c.acknowledge("m1", 1, {0: [(0, 6, [1, 1, 1, 1, 1, 1, 0])]})
    c.fetch_shared("m1", 2, wait=100)
    c.offsets()
    c.configured(share_isolation_level="read_uncommitted")
    c.fetch_shared("m1", 3, wait=100)
    c.state_log()


def other_kinds(c: ShareConversation) -> None:
    """What a share group is to requests for groups of other kinds."""
    c.joined()
    c.commit([(0, 1)])
    c.fetch(9, topics=[c.topic])
    c.enter("z")
    c.join("x", 9)
    c.sync("x", 1)
    c.ask(HeartbeatRequest(c.group, 1, "m1"), 4)
    c.ask(LeaveGroupRequest(c.group, members=[MemberIdentity("m1")]), 5)
    c.describe(6)
    c.describe(5)
    rows = [OffsetDeleteRequestTopic(c.topic, [OffsetDeleteRequestPartition(0)])]
    c.ask(OffsetDeleteRequest(c.group, rows), 0)
    listed = c._client("a").request(ListGroupsRequest([], ["share"]), 5).groups
    c.note("share groups", [[g.protocol_type, g.group_state, g.group_type] for g in listed if g.group_id == c.group])
    listed = c._client("a").request(ListGroupsRequest(["stable"], ["classic"]), 5).groups
    c.note("classic groups", [g.group_id for g in listed if g.group_id == c.group])
    c.lives("m1", -1)
    c.commit([(0, 1)])
    c.enter("z")
    c.described()


def topics_go(c: ShareConversation) -> None:
    """A subscribed topic grows, is deleted and made again."""
    epoch = c.joined()
    c.grow(3)
    c.settled("m1", 3)
    c.described()
    c.offsets()
    c._client("setup").request(DeleteTopicsRequest([DeleteTopicState(c.topic)], timeout_ms=30_000), 6)
    c.settled("m1", 0)
    c.described()
    c.offsets()
    c.note("epoch was", epoch)
    c.fetch_shared("m1", 0, {0: []}, wait=100)


def connections(c: ShareConversation) -> None:
    """What a member holds comes back when its connection closes; the next one begins with what is stored."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(4)
    c.fetch_shared("m2", 0, {0: []}, who="b", max=2, mode=1)
    c.acknowledge("m2", 1, {0: [(0, 0, [1])]}, who="b")
    c.fetch_shared("m1", 0, {0: []})
    c.hang_up("b")
    c.fetch_shared("m1", 1)
    c.fetch_shared("m1", 2, {0: [(1, 3, [1])]}, wait=100)
    c.offsets()


def silent_members(c: ShareConversation) -> None:
    """A member is put out by its session timeout. What it holds stays locked: its share session is another thing."""
    c.configured(share_auto_offset_reset="earliest")
    epoch = c.joined()
    c.configured(share_session_timeout_ms="600", share_heartbeat_interval_ms="100")
    c.produce(4)
    c.fetch_shared("m1", 0, {0: []})
    c.lives("m1", epoch)
    c.deserted()
    c.lives("m1", epoch)
    c.fetch_shared("m2", 0, {0: []}, who="b", wait=1000)
    c.fetch_shared("m1", 1, {0: [(0, 0, [1]), (1, 1, [2])]}, wait=100)
    c.hang_up("a")
    c.fetch_shared("m2", 1, who="b", wait=1000)
    c.offsets()


def compacted(c: ShareConversation) -> None:
    """Offsets at which there is no record any more, and a log that starts later."""
    c.configured(share_auto_offset_reset="earliest")
    c.joined()
    c.produce(5, 5, 5)
    c.fetch_shared("m1", 0, {0: []}, max=5)
    rows = [DeleteRecordsTopic(c.topic, [DeleteRecordsPartition(0, 10)])]
    c._client("setup").request(DeleteRecordsRequest(rows, 30_000), 2)
    c.fetch_shared("m1", 1, max=3)
    c.fetch_shared("m1", 2, max=3)
    c.acknowledge("m1", 3, {0: [(0, 4, [1])]})
    c.acknowledge("m1", 4, {0: [(10, 14, [1])]})
    c.fetch_shared("m1", 5, wait=100)
    c.offsets()


def switched_off(c: ShareConversation) -> None:
    """Everything while the cluster's share.version is 0, and what is left when it is 1 again."""
    c.configured(share_auto_offset_reset="earliest")
    epoch = c.joined()
    c.produce(4)
    c.fetch_shared("m1", 0, {0: []})
    c.share_version(0)
    try:
        c.lives("m1", epoch)
        c.described()
        c.fetch_shared("m1", 1)
        c.fetch_shared("m1", 1, {0: [(0, 1, [1])]}, group=None)
        c.acknowledge("m1", 1, {0: [(0, 1, [1])], 1: [(0, 1, [1])]})
        c.offsets()
        c.offsets({"": [0]})
        c.alter({"": {0: 1}})
        c.forget("")
        c.summarize(0)
    finally:
        c.share_version(1)
    c.fetch_shared("m1", 1)
    c.fetch_shared("m1", 0, {0: []})
    c.lives("m1", epoch)


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(ShareConversation, CONVERSATIONS)
