"""Conversations of raw requests about the dead letter queues of share groups (KIP-1191, Kafka 4.4).

As `share_conversations`, with what is in the queue spelt out. The transcripts of a real Kafka 4.4.0 lie in
``tests/vectors/dead_letters.json.gz``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from odradek.protocol.compression import Codec
from odradek.protocol.generated.messages import read_share_group_state as read
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.scenarios import share_conversations
from tests.scenarios.share_conversations import Ack, ShareConversation, batches_of
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

CONFIG: Mapping[str, str] = {**share_conversations.CONFIG, "group.share.min.delivery.count.limit": "2"}
"""What a broker is configured with for these conversations."""

ENABLED = {"errors.deadletterqueue.group.enable": "true"}
AUTOMATIC = "errors.deadletterqueue.auto.create.topics.enable"
PREFIX = "errors.deadletterqueue.topic.name.prefix"
_MARGIN_MS = 60_000
ACCEPT, RELEASE, REJECT = 1, 2, 3
DONE = (2, 4)  # acknowledged, archived


class DeadLetterConversation(ShareConversation):
    """A conversation about a share group with a dead letter queue, `dlq.` + the topic's name."""

    @property
    def queue(self) -> str:
        """The usual name of the dead letter queue."""
        return f"dlq.{self.topic}"

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        """A topic that is ready for use; by default one that share groups may use. Not written down."""
        rows = [CreatableTopicConfig(key, value) for key, value in (configs or ENABLED).items()]
        request = CreateTopicsRequest(topics=[CreatableTopic(name, partitions, 1, configs=rows)], timeout_ms=30_000)
        answer = self._client("setup").request(request, 7).topics[0]
        assert answer.error_code == 0, answer
        wait_until("the topic", lambda: self._exists(name))

    def _exists(self, name: str) -> bool:
        asked = MetadataRequest([MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
        topic = self._client("setup").request(asked).topics[0]
        return bool(topic.error_code == 0 and all(row.leader_id >= 0 for row in topic.partitions))

    def cluster_config(self, name: str, value: str | None) -> None:
        """Set a config of all brokers, and wait until it is in force; None takes it back."""
        row = AlterableConfig(name, 0, value) if value is not None else AlterableConfig(name, 1)
        resource = AlterConfigsResource(4, "", [row])
        client = self._client("setup")
        answer = client.request(IncrementalAlterConfigsRequest([resource]), 1).responses[0]
        assert answer.error_code == 0, answer
        time.sleep(0.3)  # a real broker hears of it a moment later

    def with_queue(self, queue: str | None = None, **configs: str) -> None:
        """Name the group's dead letter queue, and set other configs of the group."""
        self.configured(
            share_auto_offset_reset="earliest", errors_deadletterqueue_topic_name=queue or self.queue, **configs
        )

    def opened(self, partitions: int = 1, queue: Mapping[str, str] = ENABLED, **configs: str) -> None:
        """Begin with a dead letter queue of so many partitions and these configs, and with one member of the group."""
        self.create(self.queue, partitions, **queue)
        self.with_queue(**configs)
        self.joined(early=False)

    def send(self, *rows: tuple[str | None, str | None], partition: int = 0, codec: Codec = Codec.NONE) -> None:
        """One batch of records, keys and values, each with a header of its own. Not written down."""
        records = [
            Record(i, 1_000, _bytes(key), _bytes(value), ((f"h{i}", b"x"),)) for i, (key, value) in enumerate(rows)
        ]
        data = [PartitionProduceData(partition, build_batch(records, codec=codec))]
        request = ProduceRequest(None, -1, 30_000, [TopicProduceData(self.topic, partition_data=data)])
        answer = self._client("setup").request(request, 9).responses[0].partition_responses[0]
        assert answer.error_code == 0, answer

    def take(self, up_to: int, partition: int = 0) -> None:
        """Fetch until the member has been given this offset. Not written down: a real broker reads as it likes."""
        kept, self.transcript = self.transcript, []
        given = -1
        while given < up_to:
            answer = self.fetch_shared("m1", self._session_epoch, {partition: []}, wait=5_000)
            self._session_epoch += 1
            for row in answer.responses[0].partitions[0].acquired_records if answer.responses else ():
                given = max(given, row.last_offset)
        self.transcript = kept

    def says(self, *acks: Ack, partition: int = 0) -> None:
        """The member acknowledges."""
        self.acknowledge("m1", self._session_epoch, {partition: acks})
        self._session_epoch += 1

    def hangs_up(self) -> None:
        """The member ends its session."""
        self.fetch_shared("m1", -1)
        self._session_epoch = 0

    _session_epoch = 0

    def done(self, offset: int, partition: int = 0) -> None:
        """Wait until it is stored that everything before this offset is done."""
        topic = read.ReadStateData(self.topic_id, [read.PartitionData(partition, 0)])
        request = read.ReadShareGroupStateRequest(self.group, [topic])

        def stored() -> bool:
            state = self._client("setup").request(request, 0).results[0].partitions[0]
            ends = [state.start_offset, *(batch.last_offset + 1 for batch in state.state_batches)]
            return max(ends) >= offset and all(batch.delivery_state in DONE for batch in state.state_batches)

        wait_until("the end of their delivery", stored)

    def letters(self, count: int, queue: str | None = None) -> None:
        """Wait for so many records in the dead letter queue and write all of them down, by their origin."""
        name = queue or self.queue
        client = self._client("reader")
        if not self._exists(name):
            assert not count
            self.note("letters", None)
            return
        partitions = client.request(MetadataRequest([MetadataRequestTopic(name=name)], False)).topics[0].partitions

        def read() -> list[Any]:
            return [
                self._letter(index, batch, record)
                for index in range(len(partitions))
                for batch in batches_of(client, name, index)
                for record in batch.records()
            ]

        wait_until("the letters", lambda: len(read()) >= count)
        self.note("letters", sorted(read(), key=lambda row: json.dumps(row[-1])))

    def _letter(self, partition: int, batch: Any, record: Any) -> list[Any]:
        text = [None if part is None else part.decode() for part in (record.key, record.value)]
        recent = abs(time.time() * 1000 - record.timestamp) < _MARGIN_MS
        shape = [batch.codec.name, batch.producer_id, batch.is_transactional, "now" if recent else "then"]
        return [partition, shape, *text, [[key, (value or b"").decode()] for key, value in record.headers]]

    def topic_configs(self, name: str) -> None:
        """Write down what a topic sets itself, and how many partitions it has."""
        client = self._client("reader")
        request = DescribeConfigsRequest([DescribeConfigsResource(2, name)])
        rows = client.request(request, 4).results[0].configs
        topic = client.request(MetadataRequest([MetadataRequestTopic(name=name)], False)).topics[0]
        own = sorted([row.name, row.value] for row in rows if row.config_source == 1)
        self.note("topic", [len(topic.partitions), own])

    def group_config(self, name: str, value: str) -> None:
        """Try a config of the group, and write down the answer."""
        resource = AlterConfigsResource(32, self.group, [AlterableConfig(name, 0, value)])
        self.ask(IncrementalAlterConfigsRequest([resource]), 1)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


# -- the conversations


def rejected(c: DeadLetterConversation) -> None:
    """A record that is rejected is in the queue, without its key and value; others are not."""
    c.opened()
    c.send(("k0", "v0"), ("k1", "v1"), (None, "v2"))
    c.take(2)
    c.says((0, 2, [ACCEPT, REJECT, ACCEPT]))
    c.letters(1)
    c.done(3)
    c.send(("k3", "v3"), ("k4", "v4"))
    c.take(4)
    c.says((3, 4, [REJECT]))
    c.letters(3)
    c.done(5)
    c.state_log()


def copied(c: DeadLetterConversation) -> None:
    """Keys and values are copied where the group asks for it, out of compressed batches too; headers are not."""
    c.opened(errors_deadletterqueue_copy_record_enable="true")
    c.send(("k0", "v0"), (None, "v1"), ("k2", None), codec=Codec.GZIP)
    c.send(("k3", "v3"), ("", ""))
    c.take(4)
    c.says((0, 4, [REJECT]))
    c.letters(5)
    c.done(5)


def delivered_too_often(c: DeadLetterConversation) -> None:
    """A record that is released at the limit of deliveries."""
    c.opened(share_delivery_count_limit="2")
    c.send(("k0", "v0"), ("k1", "v1"))
    c.take(1)
    c.says((0, 1, [RELEASE]))
    c.take(1)
    c.says((0, 1, [RELEASE, ACCEPT]))
    c.letters(1)
    c.done(2)
    c.state_log()


def rejected_the_last_time(c: DeadLetterConversation) -> None:
    """A record that is rejected at the limit of deliveries counts as rejected."""
    c.opened(share_delivery_count_limit="2")
    c.send(("k0", "v0"))
    c.take(0)
    c.says((0, 0, [RELEASE]))
    c.take(0)
    c.says((0, 0, [REJECT]))
    c.letters(1)
    c.done(1)


def locks_run_out(c: DeadLetterConversation) -> None:
    """A lock that times out at the limit of deliveries."""
    c.opened(share_delivery_count_limit="2", share_record_lock_duration_ms="1000")
    c.send(("k0", "v0"), ("k1", "v1"))
    c.take(1)
    c.take(1)
    c.letters(2)
    c.done(2)
    c.state_log()


def member_leaves(c: DeadLetterConversation) -> None:
    """A session that ends at the limit of deliveries."""
    c.opened(share_delivery_count_limit="2")
    c.send(("k0", "v0"), ("k1", "v1"))
    c.take(1)
    c.hangs_up()
    c.take(1)
    c.hangs_up()
    c.letters(2)
    c.done(2)


def gaps(c: DeadLetterConversation) -> None:
    """What a member calls a gap is no dead letter."""
    c.opened()
    c.send(("k0", "v0"), ("k1", "v1"))
    c.take(1)
    c.says((0, 1, [0, REJECT]))
    c.letters(1)
    c.done(2)


def transactions(c: DeadLetterConversation) -> None:
    """The marker of a transaction, which a member gets with its records, and records of an aborted one."""
    c.opened(share_isolation_level="read_committed", errors_deadletterqueue_copy_record_enable="true")
    c.transact(True, 2)
    c.transact(False, 2)
    c.send(("k6", "v6"))
    c.take(6)
    c.says((0, 2, [REJECT]), (5, 6, [REJECT]))
    c.done(7)
    c.letters(0)


def partitions(c: DeadLetterConversation) -> None:
    """A record goes to the partition of its own number, as far as the queue has it."""
    c.opened(partitions=3)
    c.send(("k0", "v0"), partition=1)
    c.take(0, 1)
    c.says((0, 0, [REJECT]), partition=1)
    c.letters(1)
    c.done(1, 1)


def one_partition(c: DeadLetterConversation) -> None:
    """A queue with fewer partitions than the topic."""
    c.opened()
    c.send(("k0", "v0"), partition=1)
    c.take(0, 1)
    c.says((0, 0, [REJECT]), partition=1)
    c.letters(1)


def _lost(c: DeadLetterConversation, queue: str) -> None:
    """A rejected record that cannot go to the queue is archived all the same."""
    c.with_queue(queue)
    c.joined(early=False)
    c.send(("k0", "v0"))
    c.take(0)
    c.says((0, 0, [REJECT]))
    c.done(1)
    c.letters(0, queue)
    c.state_log()


def no_queue(c: DeadLetterConversation) -> None:
    """The topic does not exist, and is not created."""
    _lost(c, c.queue)


def not_enabled(c: DeadLetterConversation) -> None:
    """The topic does not permit it."""
    c.create(c.queue, 1, **{"retention.ms": "1000000"})
    _lost(c, c.queue)


def wrong_prefix(c: DeadLetterConversation) -> None:
    """The topic's name does not have the prefix."""
    c.create(f"x.{c.queue}")
    _lost(c, f"x.{c.queue}")


def odd_name(c: DeadLetterConversation) -> None:
    """A name that no topic can have, where missing ones are created."""
    c.cluster_config(AUTOMATIC, "true")
    try:
        _lost(c, f"{c.queue} !")
    finally:
        c.cluster_config(AUTOMATIC, None)


def created(c: DeadLetterConversation) -> None:
    """A missing topic is created where the cluster permits it."""
    c.cluster_config(AUTOMATIC, "true")
    try:
        c.with_queue()
        c.joined(early=False)
        c.send(("k0", "v0"), ("k1", "v1"))
        c.take(1)
        c.says((0, 1, [REJECT]))
        wait_until("the queue", lambda: c._exists(c.queue))
        c.letters(2)
        c.topic_configs(c.queue)
        c.done(2)
    finally:
        c.cluster_config(AUTOMATIC, None)


def another_prefix(c: DeadLetterConversation) -> None:
    """The prefix is what the cluster says; an empty one permits every name."""
    c.create(f"x{c.queue}")
    try:
        c.cluster_config(PREFIX, "xd")
        c.with_queue(f"x{c.queue}")
        c.joined(early=False)
        c.send(("k0", "v0"), ("k1", "v1"), ("k2", "v2"))
        c.take(2)
        c.says((0, 0, [REJECT]))
        c.letters(1, f"x{c.queue}")
        c.cluster_config(PREFIX, "y")
        c.says((1, 1, [REJECT]))
        c.cluster_config(PREFIX, "")
        c.says((2, 2, [REJECT]))
        c.done(3)
        c.letters(2, f"x{c.queue}")
    finally:
        c.cluster_config(PREFIX, None)


def too_large(c: DeadLetterConversation) -> None:
    """A record that would be larger than the queue takes comes without key and value."""
    c.opened(queue={**ENABLED, "max.message.bytes": "400"}, errors_deadletterqueue_copy_record_enable="true")
    c.send(("k0", "v0"), ("k1", "v1"), ("k2", "v" * 400), ("k3", "v3"))
    c.take(3)
    c.says((0, 3, [REJECT]))
    c.done(4)
    c.letters(2)


def larger_with_headers(c: DeadLetterConversation) -> None:
    """A record that the headers make too large is lost, and so are those behind it that were rejected with it."""
    c.opened(queue={**ENABLED, "max.message.bytes": "400"}, errors_deadletterqueue_copy_record_enable="true")
    c.send(("k0", "v0"), ("k1", "v" * 300), ("k2", "v2"))
    c.take(2)
    c.says((0, 2, [REJECT]))
    c.done(3)
    c.letters(1)


def large_and_compressed(c: DeadLetterConversation) -> None:
    """A compressed batch that is larger than the queue's limit when decompressed comes without keys and values."""
    c.opened(queue={**ENABLED, "max.message.bytes": "500"}, errors_deadletterqueue_copy_record_enable="true")
    c.send(("k0", "v0"), ("k1", "v" * 600), codec=Codec.GZIP)
    c.send(("k2", "v2"), codec=Codec.GZIP)
    c.take(2)
    c.says((0, 2, [REJECT]))
    c.done(3)
    c.letters(3)


def compacted(c: DeadLetterConversation) -> None:
    """A queue that is compacted takes no records without a key."""
    c.create(c.queue, 1, **{**ENABLED, "cleanup.policy": "compact"})
    _lost(c, c.queue)


def too_few_replicas(c: DeadLetterConversation) -> None:
    """A queue with fewer replicas in sync than it needs."""
    c.create(c.queue, 1, **{**ENABLED, "min.insync.replicas": "2"})
    _lost(c, c.queue)


def append_time(c: DeadLetterConversation) -> None:
    """A queue that compresses, with the time of the append."""
    c.opened(queue={**ENABLED, "compression.type": "gzip", "message.timestamp.type": "LogAppendTime"})
    c.send(("k0", "v0"))
    c.take(0)
    c.says((0, 0, [REJECT]))
    c.letters(1)


def deleted_meanwhile(c: DeadLetterConversation) -> None:
    """Records that the log has lost by then come without key and value, although they are to be copied."""
    c.opened(errors_deadletterqueue_copy_record_enable="true")
    c.send(("k0", "v0"))
    c.send(("k1", "v1"))
    c.take(1)
    rows = [DeleteRecordsTopic(c.topic, [DeleteRecordsPartition(0, 1)])]
    assert c._client("setup").request(DeleteRecordsRequest(rows, 30_000), 2).topics[0].partitions[0].error_code == 0
    c.says((0, 1, [REJECT]))
    c.done(2)
    c.letters(1)


def itself(c: DeadLetterConversation) -> None:
    """The queue is the topic itself: what is rejected comes again behind the others."""
    c.cluster_config(PREFIX, "")
    try:
        resource = AlterConfigsResource(2, c.topic, [AlterableConfig(key, 0, value) for key, value in ENABLED.items()])
        assert c._client("setup").request(IncrementalAlterConfigsRequest([resource]), 1).responses[0].error_code == 0
        time.sleep(0.3)
        c.with_queue(c.topic)
        c.joined(early=False)
        c.send(("k0", "v0"))
        c.take(0)
        c.says((0, 0, [REJECT]))
        c.letters(2, c.topic)
        c.done(1)
    finally:
        c.cluster_config(PREFIX, None)


def older_level(c: DeadLetterConversation) -> None:
    """Below share.version 2 there are no dead letter queues."""
    c.opened()
    c.send(("k0", "v0"), ("k1", "v1"))
    c.share_version(1)
    try:
        c.take(1)
        c.says((0, 0, [REJECT]))
        c.done(1)
        c.letters(0)
    finally:
        c.share_version(2)
    c.says((1, 1, [REJECT]))
    c.letters(1)


def configs(c: DeadLetterConversation) -> None:
    """What the configs take and refuse."""
    topic = "errors.deadletterqueue.topic.name"
    for value in ("", "dlq.a", "no-prefix", "__x", "a b", ".", "..", "x" * 249, "x" * 250):
        c.group_config(topic, value)
    for value in ("true", "yes", ""):
        c.group_config("errors.deadletterqueue.copy.record.enable", value)
    client = c._client("setup")
    for resource in (
        AlterConfigsResource(2, c.topic, [AlterableConfig("errors.deadletterqueue.group.enable", 0, "maybe")]),
        AlterConfigsResource(2, c.topic, [AlterableConfig("errors.deadletterqueue.group.enable", 0, "true")]),
        AlterConfigsResource(4, "", [AlterableConfig(AUTOMATIC, 0, "x")]),
        AlterConfigsResource(4, "", [AlterableConfig(PREFIX, 0, "a b")]),
    ):
        c.ask(IncrementalAlterConfigsRequest([resource]), 1)
    undo = AlterConfigsResource(4, "", [AlterableConfig(PREFIX, 1)])
    client.request(IncrementalAlterConfigsRequest([undo]), 1)


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(DeadLetterConversation, CONVERSATIONS)
