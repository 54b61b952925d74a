"""Conversations of raw requests about records, written down so that two brokers can be compared word for word.

A transcript is a list of [what was asked, what came back] in a short form, with topic names, topic ids, producer ids
and times replaced by names of ours. The transcripts of a real Kafka 4.4.0 lie in
`tests/vectors/data_plane_wire.json.gz`.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

from odradek.protocol.compression import Codec
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Buffer, Record
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

Transcript = list[Any]
WAIT_MS = 200  # of fetches that wait for all of it
LONG_MS = 30_000  # of fetches that must not: no machine is as slow as that
RETRY = frozenset({14, 15, 16, 51})
BIG = 1 << 20
Place = tuple[int, int]
_LONG_NUMBER = re.compile(r"-?\d{12,}")


def _cut_off(records: Buffer) -> int:
    """How many bytes of a batch that is not there whole are at the end."""
    return len(records) - sum(batch.size_bytes for batch in iter_batches(records))


class Conversation:
    """A connection to a broker, topics of its own, and the transcript of what is said."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.client = WireClient(host, port, timeout_s=60)
        self.secret = secrets.token_hex(4)
        self.transcript: Transcript = []
        self.start_ms = int(time.time() * 1000) - 100_000
        self.ids: dict[str, bytes] = {}
        self.names: dict[bytes, str] = {}
        self.producers: dict[int, str] = {}

    def close(self) -> None:
        self.client.close()

    def note(self, asked: str, answer: Any) -> None:
        self.transcript.append([asked, answer])

    # -- topics: "a" is called differently at the broker

    def real(self, topic: str) -> str:
        return topic if topic.startswith("__") else f"{topic}-{self.secret}"

    def shown(self, name: str) -> str:
        return name.removesuffix(f"-{self.secret}")

    def create(self, topic: str, **configs: str) -> None:
        """A topic of two partitions, ready for use."""
        wanted = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        request = CreateTopicsRequest(topics=[CreatableTopic(self.real(topic), 2, 1, [], wanted)], timeout_ms=30_000)
        assert self.client.request(request, 5).topics[0].error_code == 0
        found = self._until(topic, lambda each: each.error_code == 0 and len(each.partitions) == 2)
        self.ids[topic] = found.topic_id
        self.names[found.topic_id] = topic
        # A leader that Metadata knows already may not have its log yet.
        probes = [ListOffsetsPartition(index, -1, -2) for index in range(2)]
        probe = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(self.real(topic), probes)])
        wait_until(
            f"logs of {topic}",
            lambda: not any(each.error_code for each in self.client.request(probe, 4).topics[0].partitions),
        )

    def delete(self, topic: str) -> None:
        """On a connection of its own: a fetch may be waiting on the conversation's."""
        with WireClient(self.host, self.port, timeout_s=60) as client:
            client.request(DeleteTopicsRequest(topic_names=[self.real(topic)], timeout_ms=30_000), 5)
            self._until(topic, lambda each: each.error_code == 3, client)

    def _until(self, topic: str, good: Callable[[Any], bool], client: WireClient | None = None) -> Any:
        request = MetadataRequest([MetadataRequestTopic(name=self.real(topic))], False)

        def found() -> Any:
            topic = (client or self.client).request(request, 12).topics[0]
            return topic if good(topic) else None

        return wait_until(f"metadata of {topic}", found)

    # -- records

    def batch(self, *times: int, **fields: Any) -> bytes:
        """One record for each time (milliseconds after the start)."""
        return build_batch([Record(i, self.start_ms + at, b"k", b"value", ()) for i, at in enumerate(times)], **fields)

    def time(self, timestamp: int) -> Any:
        if timestamp < 0:
            return timestamp
        after = timestamp - self.start_ms
        return after if after < 50_000 else "now"

    def producer(self, producer_id: int) -> str:
        return self.producers.setdefault(producer_id, f"p{len(self.producers)}")

    # -- asking

    def produce(
        self,
        asked: str,
        topic: str,
        *places: tuple[int, bytes],
        version: int = 9,
        tx: str | None = None,
        acks: int = -1,
    ) -> None:
        data = [PartitionProduceData(index, records) for index, records in places]
        topics = [TopicProduceData(self.real(topic), self.ids.get(topic, b"?" * 16), data)]
        response = self.client.request(ProduceRequest(tx, acks, 5000, topics), version)
        self.note(
            f"produce {version}: {asked}",
            sorted(
                [
                    each.index,
                    each.error_code,
                    each.base_offset,
                    self.time(each.log_append_time_ms),
                    each.log_start_offset,
                    [[e.batch_index, self.shown_text(e.batch_index_error_message)] for e in each.record_errors],
                    self.shown_text(each.error_message),
                ]
                for found in response.responses
                for each in found.partition_responses
            ),
        )

    def shown_text(self, text: str | None) -> str | None:
        """An error message without what differs from run to run."""
        return None if text is None else _LONG_NUMBER.sub("<number>", text.replace(f"-{self.secret}", ""))

    def fetch(
        self,
        asked: str,
        wanted: Iterable[tuple[str, Iterable[Place]]],
        *,
        version: int = 11,
        wait_ms: int = 0,
        session: tuple[int, int] = (0, -1),
        forget: Iterable[tuple[str, list[int]]] = (),
        max_bytes: int = BIG,
        min_bytes: int = 1,
        limit: int = BIG,
        leader_epoch: int = -1,
        last_epoch: int = -1,
        meanwhile: Callable[[], None] = lambda: None,
        **fields: Any,
    ) -> int:
        """Ask, do something else, write down the answer and whether it took the wait; return the session id."""
        topics = [
            FetchTopic(
                self.real(topic),
                self.ids.get(topic, b"?" * 16),
                [FetchPartition(index, leader_epoch, offset, last_epoch, -1, limit) for index, offset in places],
            )
            for topic, places in wanted
        ]
        gone = [ForgottenTopic(self.real(topic), self.ids[topic], indexes) for topic, indexes in forget]
        request = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            session_id=session[0],
            session_epoch=session[1],
            topics=topics,
            forgotten_topics_data=gone,
            **fields,
        )
        began = time.monotonic()
        correlation_id = self.client.send(request, version)
        meanwhile()
        response = self.client.receive(request, version, correlation_id)
        # Half of it is enough: brokers count whole milliseconds, and may end a wait a part of one early.
        waited = (time.monotonic() - began) * 1000 > wait_ms / 2 > 0
        found = [
            [
                self.names.get(topic.topic_id, "?") if version >= 13 else self.shown(topic.topic),
                data.partition_index,
                data.error_code,
                data.high_watermark,
                data.last_stable_offset,
                data.log_start_offset,
                [data.diverging_epoch.epoch, data.diverging_epoch.end_offset],
                self._aborted(data.aborted_transactions),
                [
                    [batch.base_offset, batch.record_count, batch.attributes]
                    for batch in iter_batches(data.records or b"")
                ],
                _cut_off(data.records or b""),
            ]
            for topic in response.responses
            for data in topic.partitions
        ]
        has_session = response.session_id != 0
        self.note(
            f"fetch {version}: {asked}", [response.error_code, has_session, found, "waited" if waited else "at once"]
        )
        return int(response.session_id)

    def _aborted(self, aborted: Any) -> Any:
        return None if aborted is None else [[self.producer(each.producer_id), each.first_offset] for each in aborted]

    def list_offset(
        self, asked: str, topic: str, timestamp: int, *, index: int = 0, version: int = 7, **f: Any
    ) -> None:
        at = timestamp if timestamp < 0 else self.start_ms + timestamp
        request = ListOffsetsRequest(
            f.pop("replica_id", -1),
            topics=[ListOffsetsTopic(self.real(topic), [ListOffsetsPartition(index, -1, at)])],
            **f,
        )
        answers = self.client.request(request, version).topics[0].partitions
        self.note(
            f"list offsets {version}: {asked}",
            [[each.error_code, self.time(each.timestamp), each.offset, each.leader_epoch] for each in answers],
        )

    def delete_records(self, asked: str, topic: str, *places: Place) -> None:
        partitions = [DeleteRecordsPartition(index, offset) for index, offset in places]
        request = DeleteRecordsRequest([DeleteRecordsTopic(self.real(topic), partitions)], 5000)
        answers = self.client.request(request, 1).topics[0].partitions
        self.note(
            f"delete records: {asked}",
            sorted([each.partition_index, each.error_code, each.low_watermark] for each in answers),
        )

    def epoch_end(self, asked: str, topic: str, *places: Place, current: int = -1) -> None:
        partitions = [OffsetForLeaderPartition(index, current, epoch) for index, epoch in places]
        request = OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic(self.real(topic), partitions)])
        answers = self.client.request(request, 3).topics[0].partitions
        shown = [[each.partition, each.error_code, each.leader_epoch, each.end_offset] for each in answers]
        self.note(f"epoch end: {asked}", shown)

    def init(self, asked: str, tx: str | None, version: int = 4, **fields: Any) -> tuple[int, int]:
        """A producer id and epoch."""
        if tx is not None:
            self._retry(lambda: self.client.request(FindCoordinatorRequest(key=tx, key_type=1), 3))
        request = InitProducerIdRequest(tx, fields.pop("timeout_ms", 60_000), **fields)
        answer = self._retry(lambda: self.client.request(request, version))
        self.note(
            f"init producer id {version}: {asked}", [answer.error_code, answer.producer_id >= 0, answer.producer_epoch]
        )
        self.producer(answer.producer_id)
        return answer.producer_id, answer.producer_epoch

    def end(self, asked: str, tx: str, producer: tuple[int, int], commit: bool, version: int = 3) -> None:
        answer = self._retry(lambda: self.client.request(EndTxnRequest(tx, *producer, commit), version))
        self.note(f"end transaction {version}: {asked}", answer.error_code)
        if answer.error_code == 0:
            wait_until("markers", lambda: not self._is_ending(tx))

    def _is_ending(self, tx: str) -> bool:
        """Whether partitions still lack their marker."""
        described = self.client.request(DescribeTransactionsRequest([tx]), 0).transaction_states[0]
        assert described.error_code in {0, *RETRY}, described
        return bool(described.error_code) or described.transaction_state.startswith("Prepare")

    def add(self, asked: str, tx: str, producer: tuple[int, int], topic: str, *indexes: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=tx,
            v3_and_below_producer_id=producer[0],
            v3_and_below_producer_epoch=producer[1],
            v3_and_below_topics=[AddPartitionsToTxnTopic(self.real(topic), list(indexes))],
        )

        def added() -> list[int]:
            results = self.client.request(request, 3).results_by_topic_v3_and_below[0].results_by_partition
            codes = [each.partition_error_code for each in results]
            return [] if RETRY.intersection(codes) else codes

        codes = wait_until("partitions in the transaction", added)
        self.note(f"add partitions: {asked}", codes)

    def describe(self, topic: str, *indexes: int) -> None:
        request = DescribeProducersRequest([TopicRequest(self.real(topic), list(indexes))])
        answers = self.client.request(request, 0).topics[0].partitions
        self.note(
            f"describe producers of {topic}",
            [
                [
                    each.partition_index,
                    each.error_code,
                    each.error_message,
                    sorted(
                        [
                            self.producer(known.producer_id),
                            known.producer_epoch,
                            known.last_sequence,
                            self.time(known.last_timestamp),
                            known.coordinator_epoch >= 0,
                            known.current_txn_start_offset,
                        ]
                        for known in each.active_producers
                    ),
                ]
                for each in answers
            ],
        )

    def _retry(self, ask: Callable[[], Any]) -> Any:
        def answer() -> Any:
            answer = ask()
            return None if answer.error_code in RETRY else answer

        return wait_until("an answer", answer)


# -- conversations


def producing(c: Conversation) -> None:
    c.create("a")
    c.create("compacted", cleanup_policy="compact")
    c.create("stamped", message_timestamp_type="LogAppendTime")
    c.create("packed", compression_type="zstd")
    one = c.batch(1)
    for version in range(3, 14):
        c.produce("a batch", "a", (0, one), version=version)
    c.produce("two partitions", "a", (0, c.batch(1, 2, 3)), (1, one))
    c.produce("a partition twice", "a", (0, one), (0, c.batch(1, 2, 3, 4)))
    c.produce("acks 1", "a", (0, one), acks=1)
    c.produce("acks 3", "a", (0, one), acks=3)
    c.produce("unknown partition beside a good one", "a", (9, one), (0, one))
    c.produce("unknown topic", "none", (0, one))
    c.produce("unknown topic id", "none", (0, one), version=13)
    c.produce("an empty list", "a")
    c.produce("a transactional id without transaction", "a", (0, one), tx="tx")
    c.produce("broken crc beside a good one", "a", (0, one[:-1] + b"!"), (1, one))
    c.produce("unknown magic beside a good one", "a", (0, one[:16] + b"\x07" + one[17:]), (1, one))
    c.produce("old magic", "a", (0, one[:16] + b"\x01" + one[17:]))
    c.produce("two batches", "a", (0, one + one))
    c.produce("nothing", "a", (0, b""))
    c.produce("no key", "compacted", (0, build_batch([Record(0, c.start_ms, None, b"v", ())])))
    c.produce("log append time", "stamped", (0, one))
    c.produce("gzip into zstd", "packed", (0, c.batch(1, 2, codec=Codec.GZIP)))
    c.produce("zstd in version 6", "a", (0, c.batch(1, codec=Codec.ZSTD)), version=6)
    c.produce("far in the future", "a", (0, c.batch(7_200_000)))
    c.fetch("all", [("a", [(0, 0), (1, 0)]), ("stamped", [(0, 0)]), ("packed", [(0, 0)])])


def idempotence(c: Conversation) -> None:
    c.create("a")

    def batch(epoch: int, sequence: int, *times: int, producer: int = 900_001, **fields: Any) -> bytes:
        more = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence, **fields}
        return c.batch(*(times or (sequence,)), **more)

    c.produce("unknown producer, sequence 5", "a", (0, batch(0, 5)))
    c.produce("next", "a", (0, batch(0, 6)))
    c.produce("again", "a", (0, batch(0, 6)))
    c.produce("older again", "a", (0, batch(0, 5)))
    c.produce("a gap", "a", (0, batch(0, 9)))
    c.produce("overlapping", "a", (0, batch(0, 6, 6, 7)))
    c.produce("no sequence", "a", (0, batch(0, -1, 1, producer=900_002)))
    c.produce("new epoch, sequence 3", "a", (0, batch(1, 3)))
    c.produce("new epoch, sequence 0", "a", (0, batch(1, 0)))
    c.produce("old epoch", "a", (0, batch(0, 7)))
    for sequence in range(1, 8):
        c.produce("on", "a", (0, batch(1, sequence)))
    c.produce("the fifth last", "a", (0, batch(1, 3)))
    c.produce("the sixth last", "a", (0, batch(1, 2)))
    c.produce("the end of sequences", "a", (1, batch(0, 2**31 - 2, 1, 2, producer=900_003)))
    c.produce("round to 0", "a", (1, batch(0, 0, 1, producer=900_003)))
    c.describe("a", 0, 1)


def reading(c: Conversation) -> None:
    c.create("a")
    c.create("b")
    for at in range(5):
        c.produce("data", "a", (0, c.batch(at)))
    c.produce("data", "b", (1, c.batch(1, 2)))
    size = len(c.batch(1))
    for version in range(4, 19):
        c.fetch("from 1", [("a", [(0, 1)])], version=version)
    c.fetch("two topics", [("b", [(0, 0), (1, 0)]), ("a", [(0, 3), (1, 0)])])
    c.fetch("in the middle of a batch", [("b", [(1, 1)])])
    c.fetch("two batches' worth", [("a", [(0, 0)])], limit=2 * size)
    c.fetch("no bytes", [("a", [(0, 0)]), ("b", [(1, 0)])], limit=0)
    for limit in (1, size - 1, size, size + 1, 2 * size - 1, 2 * size + 16, 5 * size - 1):
        c.fetch(f"a limit of {limit}", [("a", [(0, 0)])], limit=limit)
        c.fetch(f"a limit of {limit}, not the first", [("b", [(1, 0)]), ("a", [(0, 1)])], limit=limit, version=13)
        c.fetch(f"a response of {limit}", [("a", [(0, 0)]), ("b", [(1, 0)])], max_bytes=limit)
    c.fetch("a response of one batch", [("a", [(1, 0), (0, 0)]), ("b", [(1, 0)])], max_bytes=size)
    c.fetch("negative limit of the response", [("a", [(0, 0)])], max_bytes=-1)
    c.fetch("negative limit of a partition", [("a", [(0, 0)])], limit=-1)
    c.fetch("negative limit, nothing there", [("a", [(1, 0)])], limit=-1)
    c.fetch("a partition twice", [("a", [(0, 0), (0, 4)])])
    c.fetch("a partition twice, first out of range", [("a", [(0, 99), (0, 4)])])
    c.fetch("out of range", [("a", [(0, 99), (1, -1)])], wait_ms=LONG_MS)
    for replica_id in (-2, 0, 1, 5):
        c.fetch(f"replica {replica_id}", [("a", [(1, 0)])], replica_id=replica_id)
    for epoch in (-2, 0, 1):
        c.fetch(f"leader epoch {epoch}", [("a", [(0, 4)])], version=12, leader_epoch=epoch)
        c.fetch(f"last epoch {epoch}", [("a", [(0, 4)])], version=12, last_epoch=epoch)
    c.fetch("last epoch 0 behind the end", [("a", [(0, 9)])], version=12, last_epoch=0)
    c.fetch("committed", [("a", [(0, 0), (1, 0)])], isolation_level=1)
    c.fetch("isolation 7", [("a", [(0, 0)])], isolation_level=7)


def waiting(c: Conversation) -> None:
    c.create("a")
    c.fetch("nothing asked", [], wait_ms=LONG_MS)
    c.fetch("nothing there", [("a", [(0, 0)])], wait_ms=WAIT_MS)
    c.fetch("no minimum", [("a", [(0, 0)])], wait_ms=LONG_MS, min_bytes=0)
    c.fetch("negative wait", [("a", [(0, 0)])], wait_ms=-1)
    c.fetch("only unknown", [("none", [(0, 0)])], wait_ms=LONG_MS)
    c.fetch("unknown beside empty", [("none", [(0, 0)]), ("a", [(0, 0), (7, 0)])], wait_ms=WAIT_MS)
    c.fetch("unknown id beside empty", [("none", [(0, 0)]), ("a", [(0, 0), (7, 0)])], wait_ms=WAIT_MS, version=13)
    c.produce("one", "a", (0, c.batch(1)))
    c.fetch("less than the minimum", [("a", [(0, 0)])], wait_ms=WAIT_MS, min_bytes=1000)
    for version in (11, 13):
        c.create(f"w{version}")

        def delete(topic: str = f"w{version}") -> None:
            time.sleep(WAIT_MS / 1000)  # the fetch waits by then
            c.delete(topic)

        c.fetch("deleted meanwhile", [(f"w{version}", [(0, 0)])], wait_ms=LONG_MS, version=version, meanwhile=delete)
        # Which of two errors it is depends on how far Kafka had come with the deletion.
        gone = c.transcript[-1][1][2][0]
        gone[2] = "gone" if gone[2] in (3, 6) else gone[2]


def sessions(c: Conversation) -> None:
    for version in (11, 13):
        a, b = f"a{version}", f"b{version}"
        c.create(a)
        c.create(b)
        c.produce("data", a, (0, c.batch(1, 2, 3)))
        c.produce("data", b, (0, c.batch(1)))
        more: dict[str, Any] = {"version": version}
        opened = c.fetch("open", [(a, [(0, 0), (1, 0)]), (b, [(0, 0)])], session=(0, 0), **more)
        c.fetch("not moved on", [], session=(opened, 1), **more)
        c.fetch("moved on", [(a, [(0, 3)]), (b, [(0, 1)])], session=(opened, 2), **more)
        c.fetch("idle", [], session=(opened, 3), wait_ms=WAIT_MS, **more)
        c.produce("more", a, (1, c.batch(5)))
        c.fetch("one has data", [], session=(opened, 4), wait_ms=LONG_MS, **more)
        c.fetch("one forgotten", [(a, [(1, 1)])], session=(opened, 5), forget=[(a, [0])], **more)
        c.delete_records("moves the start", b, (0, 1))
        c.fetch("start moved", [], session=(opened, 6), **more)
        c.fetch("same epoch again", [], session=(opened, 6), **more)
        c.fetch("the other way to name topics", [], session=(opened, 7), version=24 - version)
        c.fetch("none of that harmed it", [], session=(opened, 7), **more)
        c.delete(b)
        c.fetch("a topic is gone", [], session=(opened, 8), wait_ms=WAIT_MS, **more)
        c.fetch("still gone", [], session=(opened, 9), **more)
        c.create(b)
        c.produce("anew", b, (0, c.batch(1, 2)))
        c.fetch("a topic is back", [], session=(opened, 10), **more)
        c.fetch("an unknown one", [("none", [(0, 0)])], session=(opened, 11), **more)
        c.fetch("full, with the old id", [(a, [(0, 3)])], session=(opened, 0), **more)
        c.fetch("the old one", [], session=(opened, 12), **more)
        opened = c.fetch("an empty one", [], session=(0, 0), **more)
        c.fetch("goes on empty", [], session=(opened, 1), **more)
        c.fetch("is gone", [], session=(opened, 2), **more)
        c.fetch("a partition twice", [(a, [(0, 0), (0, 3)])], session=(0, 0), **more)
        c.fetch("unknown id, epoch 0", [(a, [(0, 3)])], session=(12345, 0), **more)
        c.fetch("unknown id, epoch -1", [(a, [(0, 3)])], session=(12345, -1), **more)
        c.fetch("unknown id, epoch 1", [(a, [(0, 3)])], session=(12345, 1), **more)
        c.fetch("no id, epoch -2", [(a, [(0, 3)])], session=(0, -2), **more)


def offsets(c: Conversation) -> None:
    c.create("a")
    c.produce("out of order", "a", (0, c.batch(5, 1, 9)))
    c.produce("compressed", "a", (0, c.batch(3, 9, 2, codec=Codec.LZ4)))
    c.produce("last", "a", (0, c.batch(20, 4)))
    for at in (0, 1, 5, 6, 9, 10, 20, 21):
        c.list_offset(f"at {at}", "a", at)
    for special in range(-7, 0):
        for version in (1, 4, 7, 8, 9, 11):
            c.list_offset(f"special {special}", "a", special, version=version)
        c.list_offset(f"special {special}, empty", "a", special, index=1, version=11)
    for isolation in (1, 7):
        c.list_offset(f"isolation {isolation}", "a", -1, isolation_level=isolation)
    for replica_id in (-2, 0, 5):
        c.list_offset(f"replica {replica_id}", "a", -1, replica_id=replica_id)
    c.list_offset("unknown partition", "a", -1, index=9)
    for places in ([(0, 0)], [(0, -1)], [(0, -2)], [(0, 7)], [(1, 0)], [(0, 0), (0, 0)], [(9, 0)]):
        c.epoch_end(str(places), "a", *places)
    for current in (0, 5):
        c.epoch_end(f"current {current}", "a", (0, 0), current=current)
    c.delete_records("some", "a", (0, 4), (9, 1))
    c.delete_records("twice", "a", (0, 5), (0, 4))
    c.delete_records("before the start", "a", (0, 1))
    c.delete_records("beyond the end", "a", (0, 99), (1, -2))
    for at in (0, 5, 9, 10):
        c.list_offset(f"after deletion, at {at}", "a", at)
    for special in (-1, -2, -3):
        c.list_offset(f"after deletion, {special}", "a", special)
    c.delete_records("all", "a", (0, -1), (1, -1))
    for special in (-1, -2, -3):
        c.list_offset(f"after all, {special}", "a", special)
    c.epoch_end("after all", "a", (0, 0))


def producer_ids(c: Conversation) -> None:
    for version in range(5):
        c.init("idempotent", None, version)
    for identity in ((5, -1), (-1, 3), (5, 3), (-5, -5)):
        c.init(str(identity), None, producer_id=identity[0], producer_epoch=identity[1])
    c.init("negative timeout", None, timeout_ms=-5)
    c.init("empty transactional id", "")


def transactions(c: Conversation) -> None:
    c.create("a")
    tx = f"tx-{c.secret}"
    owner = c.init("first", tx)

    def batch(sequence: int, *, epoch: int = owner[1], transactional: bool = True, producer: int = owner[0]) -> bytes:
        more = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
        return c.batch(sequence, transactional=transactional, **more)

    c.produce("not added", "a", (0, batch(0)), tx=tx, version=9)
    c.produce("not added", "a", (0, batch(0)), tx=tx, version=11)
    c.add("one", tx, owner, "a", 0)
    c.produce("one added, one not", "a", (0, batch(0)), (1, batch(0)), tx=tx, version=9)
    c.produce("one added, one not", "a", (0, batch(1)), (1, batch(0)), tx=tx, version=11)
    c.produce("one unknown", "a", (0, batch(2)), (7, batch(0)), tx=tx, version=11)
    c.produce("not transactional", "a", (0, batch(3, transactional=False)), tx=tx, version=11)
    c.produce("mixed", "a", (0, batch(3)), (1, c.batch(1)), tx=tx, version=11)
    c.produce("two producers", "a", (0, batch(4)), (1, batch(0, producer=900_009)), tx=tx, version=11)
    c.produce("two epochs", "a", (0, batch(4)), (1, batch(0, epoch=7)), tx=tx, version=11)
    c.produce("another id", "a", (1, batch(0)), tx="other", version=11)
    c.produce("another id, open partition", "a", (0, batch(4)), tx="other", version=11)
    c.produce("no id", "a", (0, batch(5)), version=11)
    c.produce("a gap", "a", (0, batch(50)), tx=tx, version=11)
    c.produce("a later epoch", "a", (0, batch(0, epoch=3)), tx=tx, version=11)
    c.fetch("open, committed", [("a", [(0, 0), (1, 0)])], isolation_level=1)
    c.list_offset("open, committed", "a", -1, isolation_level=1)
    c.describe("a", 0, 1)
    c.end("commit", tx, owner, True)
    c.produce("after the end", "a", (0, batch(5)), tx=tx, version=11)
    c.fetch("ended, committed", [("a", [(0, 0), (1, 0)])], isolation_level=1)
    c.describe("a", 0, 1)


def transactions_v2(c: Conversation) -> None:
    c.create("a")
    tx = f"tx-{c.secret}"
    producer_id, epoch = c.init("first", tx, 5)

    def batch(sequence: int, bumped: int = 0) -> bytes:
        more = {"producer_id": producer_id, "producer_epoch": epoch + bumped, "base_sequence": sequence}
        return c.batch(sequence, transactional=True, **more)

    c.produce("added by itself", "a", (1, batch(0)), tx=tx, version=12)
    c.produce("first sequence 3", "a", (0, batch(3)), tx=tx, version=12)
    c.produce("first sequence 0", "a", (0, batch(0)), tx=tx, version=12)
    c.produce("unknown partition", "a", (9, batch(0)), tx=tx, version=12)
    c.end("abort", tx, (producer_id, epoch), False, 5)
    c.produce("the epoch of before", "a", (1, batch(1)), tx=tx, version=12)
    c.produce("the bumped epoch", "a", (1, batch(0, 1)), tx=tx, version=12)
    c.produce("the bumped epoch, first sequence 7", "a", (0, batch(7, 1)), tx=tx, version=12)
    c.end("commit", tx, (producer_id, epoch + 1), True, 5)
    c.fetch("committed", [("a", [(0, 0), (1, 0)])], isolation_level=1)
    c.fetch("uncommitted", [("a", [(0, 0), (1, 0)])])
    c.describe("a", 0, 1)


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(Conversation, CONVERSATIONS)
