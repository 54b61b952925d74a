"""What a transaction coordinator answers, call by call, in every version: told by raw requests.

Each story is a list of steps (name, answer). The names are those of the recorded exchanges with Kafka 4.3.1 where there
is one. The same story on two brokers must give the same list: ids, times and offsets that a broker makes up are masked.
"""

from __future__ import annotations

import gzip
import json
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from odradek.protocol.json_form import to_json
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

Steps = list[tuple[str, Any]]

PATIENCE_S = 60.0
_PASSING = {
    int(code)
    for code in (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
}
_MADE_UP = {"transactionStartTimeMs", "baseOffset", "logAppendTimeMs", "lastTimestamp", "logStartOffset"}

# (AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, Produce): what one client generation speaks.
OLDER_CLIENTS = [(0, 0, 0, 0, 3), (1, 1, 1, 1, 5), (2, 2, 2, 2, 7), (3, 3, 3, 3, 9), (3, 4, 4, 4, 11)]


class Teller:
    """Sends the requests of one story and notes the answers. ``tag`` keeps its names apart from other stories'."""

    def __init__(self, wire: WireClient, tag: str) -> None:
        self.wire = wire
        self.topic = f"txn-{tag}"
        self.group_topic = f"grp-{tag}"
        self.group = f"group-{tag}"
        self.transactional_id = f"id-{tag}"
        self.unknown_id = f"nobody-{tag}"
        self.names = {
            self.topic: "g-txn",
            self.group_topic: "g-grp",
            self.transactional_id: "id",
            self.unknown_id: "nobody",
        }
        self.producer_ids: dict[int, str] = {}
        self.sequences: dict[int, int] = {}
        self.steps: Steps = []

    # -- asking

    def tell(self, step: str, request: Any, version: int, *, settled: bool = False) -> Any:
        """Ask and note. ``settled``: ask again while the answer is only that something else is under way."""
        answer = self.ask(request, version, settled=settled)
        if isinstance(answer, InitProducerIdResponse) and answer.producer_id >= 0:
            self.know(answer.producer_id)
        self.steps.append((step, self.masked(to_json(answer, version))))
        return answer

    def ask(self, request: Any, version: int, *, settled: bool = True) -> Any:
        """Ask without noting."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.wire.request(request, version)
            form = to_json(answer, version)
            passing = set(error_codes(form)) & _PASSING or '"Prepare' in json.dumps(form)
            if not settled or not passing or time.monotonic() > deadline:
                return answer
            time.sleep(0.01)

    def masked(self, form: Any) -> Any:
        """Without what a broker makes up, and lists in an order of their own where Kafka's have none."""
        if isinstance(form, dict):
            return {key: self._mask(key, value) for key, value in form.items()}
        if isinstance(form, list):
            return [self.masked(each) for each in form]
        return self.names.get(form, form) if isinstance(form, str) else form

    def _mask(self, key: str, value: Any) -> Any:
        if key == "producerId":
            return self.producer_ids.get(value, value)
        if key in _MADE_UP and value >= 0:
            return "made up"
        masked = self.masked(value)
        return sorted(masked, key=json.dumps) if isinstance(masked, list) else masked

    # -- set-up

    def prepare(self) -> None:
        """The topics and the coordinators; producer id 0 is used up, because answers with an error have it too."""
        self.ask(InitProducerIdRequest(None, 1), 4)
        topics = [CreatableTopic(self.topic, 2, 1), CreatableTopic(self.group_topic, 1, 1)]
        self.ask(CreateTopicsRequest(topics, 10_000), 2, settled=False)
        self.ask(FindCoordinatorRequest(key=self.transactional_id, key_type=1), 2)
        self.ask(FindCoordinatorRequest(key=self.group, key_type=0), 2)
        self.ask(self.describe(), 0)
        self.ask(HeartbeatRequest(self.group, 1, "nobody"), 0)
        for partition in (0, 1):
            self.read(partition, committed=False)
        self.ask(FetchRequest(max_wait_ms=0, topics=[FetchTopic(self.group_topic, partitions=[FetchPartition(0)])]), 11)

    def take_over_partition(self, producer: tuple[int, int], partition: int) -> None:
        """Write with a later epoch behind the coordinator's back: the partition refuses the producer's markers then."""
        records = [Record(0, 1_700_000_000_000, None, b"foreign")]
        batch = build_batch(records, producer_id=producer[0], producer_epoch=producer[1] + 5, base_sequence=0)
        data = [TopicProduceData(self.topic, partition_data=[PartitionProduceData(partition, batch)])]
        answer = self.ask(ProduceRequest(None, -1, 10_000, data), 9)
        assert not list(filter(None, error_codes(to_json(answer, 9)))), answer

    def new_producer(self, timeout_ms: int = 60_000) -> tuple[int, int]:
        answer = self.ask(InitProducerIdRequest(self.transactional_id, timeout_ms), 4)
        assert answer.error_code == 0, answer
        self.sequences.clear()
        self.know(answer.producer_id)
        return answer.producer_id, answer.producer_epoch

    def know(self, producer_id: int) -> None:
        """Show this id by a name."""
        self.producer_ids.setdefault(producer_id, f"producer {len(self.producer_ids)}")

    # -- requests

    def add(
        self,
        producer: tuple[int, int],
        version: int,
        *partitions: int,
        transactional_id: str | None = None,
        topics: list[AddPartitionsToTxnTopic] | None = None,
        verify: bool = False,
    ) -> AddPartitionsToTxnRequest:
        chosen = self.transactional_id if transactional_id is None else transactional_id
        wanted = topics or [AddPartitionsToTxnTopic(self.topic, list(partitions or (0, 1)))]
        if version < 4:
            return AddPartitionsToTxnRequest([], chosen, *producer, wanted)
        return AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction(chosen, *producer, verify, wanted)])

    def end(self, producer: tuple[int, int], commit: bool, transactional_id: str | None = None) -> EndTxnRequest:
        return EndTxnRequest(transactional_id or self.transactional_id, *producer, commit)

    def offsets(self, producer: tuple[int, int], group: str | None = None) -> AddOffsetsToTxnRequest:
        return AddOffsetsToTxnRequest(self.transactional_id, *producer, self.group if group is None else group)

    def commit_offset(
        self, producer: tuple[int, int], *, topic: str | None = None, offset: int = 4, **member: Any
    ) -> TxnOffsetCommitRequest:
        partition = TxnOffsetCommitRequestPartition(0, offset, committed_metadata="tx")
        wanted = [TxnOffsetCommitRequestTopic(topic or self.group_topic, partitions=[partition])]
        return TxnOffsetCommitRequest(self.transactional_id, self.group, *producer, topics=wanted, **member)

    def produce(
        self,
        producer: tuple[int, int],
        *partitions: int,
        transactional_id: str | None = None,
        first: int | None = None,
        transactional: bool = True,
    ) -> ProduceRequest:
        """Two records into each partition; sequences go on from one call to the next."""
        data = []
        for partition in partitions or (0,):
            sequence = self.sequences.get(partition, 0) if first is None else first
            records = [Record(i, 1_700_000_000_000 + i, None, b"v%d" % (sequence + i)) for i in range(2)]
            batch = build_batch(
                records,
                producer_id=producer[0],
                producer_epoch=producer[1],
                base_sequence=sequence,
                transactional=transactional,
            )
            self.sequences[partition] = sequence + 2
            data.append(PartitionProduceData(partition, batch))
        chosen = transactional_id or self.transactional_id
        return ProduceRequest(chosen, -1, 10_000, [TopicProduceData(self.topic, partition_data=data)])

    def describe(self) -> DescribeTransactionsRequest:
        return DescribeTransactionsRequest([self.transactional_id, self.unknown_id])

    # -- looking

    def read(self, partition: int, *, committed: bool) -> list[bytes]:
        """The values that a reader of the partition gets."""
        wanted = [FetchTopic(self.topic, partitions=[FetchPartition(partition)])]
        request = FetchRequest(max_wait_ms=0, isolation_level=int(committed), topics=wanted)
        found = self.ask(request, 11).responses[0].partitions[0]
        aborted = sorted(found.aborted_transactions or [], key=lambda each: each.first_offset)
        skipping: set[int] = set()
        values = []
        for batch in iter_batches(found.records or b""):
            while aborted and aborted[0].first_offset <= batch.last_offset:
                skipping.add(aborted.pop(0).producer_id)
            if batch.is_control:
                skipping.discard(batch.producer_id)
            elif batch.producer_id not in skipping:
                values += [bytes(record.value or b"") for record in batch.records()]
        return values

    def note_what_is_read(self, step: str) -> None:
        for committed in (True, False):
            kind = "committed" if committed else "uncommitted"
            self.steps.append(
                (f"{step}: read_{kind}", [self.read(0, committed=committed), self.read(1, committed=committed)])
            )

    def note_offset(self, step: str, *, stable: bool = False) -> None:
        topics = [OffsetFetchRequestTopics(name=self.group_topic, partition_indexes=[0])]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(self.group, topics=topics)], require_stable=stable)
        found = self.ask(request, 8, settled=False).groups[0].topics[0].partitions[0]
        self.steps.append((f"{step}: offset", (found.committed_offset, found.error_code)))


def error_codes(form: Any) -> Iterator[int]:
    """Every error code in an answer."""
    if isinstance(form, dict):
        for key, value in form.items():
            if key.lower().endswith("errorcode"):
                yield value
            else:
                yield from error_codes(value)
    elif isinstance(form, list):
        for each in form:
            yield from error_codes(each)


# -- the stories


def older_client(teller: Teller, versions: tuple[int, int, int, int, int]) -> Steps:
    """A client of transactions version 1: it adds partitions itself, its epoch stays."""
    adds, offsets, commits, ends, produces = versions
    teller.prepare()
    producer = pid, epoch = teller.new_producer()
    tell = teller.tell
    tell("describe.empty", teller.describe(), 0, settled=True)
    tell("EndTxn.no-transaction", teller.end(producer, True), ends)
    tell("Produce.txn-not-added", teller.produce(producer, 0), produces)
    teller.sequences.clear()
    tell("AddPartitionsToTxn.ok", teller.add(producer, adds), adds)
    tell("AddPartitionsToTxn.again", teller.add(producer, adds, 0), adds)
    unknown = [AddPartitionsToTxnTopic(teller.topic, [0]), AddPartitionsToTxnTopic("g-nope", [0])]
    tell("AddPartitionsToTxn.unknown-topic", teller.add(producer, adds, topics=unknown), adds)
    tell("AddPartitionsToTxn.wrong-pid", teller.add((pid + 7777, epoch), adds, 0), adds)
    tell("AddPartitionsToTxn.wrong-epoch", teller.add((pid, epoch + 3), adds, 0), adds)
    tell("AddPartitionsToTxn.unknown-id", teller.add(producer, adds, 0, transactional_id=teller.unknown_id), adds)
    tell("AddPartitionsToTxn.empty-id", teller.add(producer, adds, 0, transactional_id=""), adds)
    tell("Produce.txn-ok", teller.produce(producer, 0, 1), produces)
    tell("describe.ongoing", teller.describe(), 0, settled=True)
    teller.note_what_is_read("ongoing")
    tell("TxnOffsetCommit.before-add-offsets", teller.commit_offset(producer), commits)
    tell("AddOffsetsToTxn.ok", teller.offsets(producer), offsets)
    tell("AddOffsetsToTxn.wrong-epoch", teller.offsets((pid, epoch + 4)), offsets)
    tell("AddOffsetsToTxn.wrong-pid", teller.offsets((pid + 999, epoch)), offsets)
    tell("AddOffsetsToTxn.empty-group", teller.offsets(producer, ""), offsets)
    tell("TxnOffsetCommit.ok", teller.commit_offset(producer), commits)
    tell("TxnOffsetCommit.unknown-topic", teller.commit_offset(producer, topic="g-nope"), commits)
    tell("TxnOffsetCommit.wrong-epoch", teller.commit_offset((pid, epoch + 2)), commits)
    if commits >= 3:
        stale = teller.commit_offset(producer, generation_id_or_member_epoch=9, member_id="nobody")
        tell("TxnOffsetCommit.stale-generation", stale, commits)
    teller.note_offset("pending")
    if commits >= 2:
        teller.note_offset("pending, stable wanted", stable=True)
    tell("EndTxn.wrong-pid", teller.end((pid + 999, epoch), True), ends)
    tell("EndTxn.wrong-epoch", teller.end((pid, epoch + 5), True), ends)
    tell("EndTxn.unknown-id", teller.end(producer, True, teller.unknown_id), ends)
    tell("EndTxn.commit", teller.end(producer, True), ends)
    tell("EndTxn.commit-retried", teller.end(producer, True), ends, settled=True)
    tell("EndTxn.abort-after-commit", teller.end(producer, False), ends)
    tell("describe.complete", teller.describe(), 0, settled=True)
    teller.note_what_is_read("committed")
    teller.note_offset("committed")
    tell("AddPartitionsToTxn.second-txn", teller.add(producer, adds), adds, settled=True)
    tell("Produce.txn-second", teller.produce(producer, 0), produces)
    tell("EndTxn.abort", teller.end(producer, False), ends)
    tell("EndTxn.abort-retried", teller.end(producer, False), ends, settled=True)
    tell("describe.aborted", teller.describe(), 0, settled=True)
    teller.note_what_is_read("aborted")
    teller.new_producer()
    tell("Produce.txn-fenced-epoch", teller.produce(producer, 0, first=2), produces)
    tell("EndTxn.fenced-epoch", teller.end(producer, True), ends)
    return teller.steps


def newer_client(teller: Teller, produces: int = 12) -> Steps:
    """A client of transactions version 2: the broker adds partitions, each end bumps the epoch (KIP-890)."""
    teller.prepare()
    pid, epoch = teller.new_producer()
    tell = teller.tell
    tell("EndTxn.v2-abort-empty", teller.end((pid, epoch), False), 5)
    tell("EndTxn.v2-abort-empty-retried", teller.end((pid, epoch), False), 5, settled=True)
    pid, epoch = producer = teller.new_producer()
    tell("EndTxn.v2-commit-empty", teller.end(producer, True), 5)
    tell("Produce.txn-v2-implicit", teller.produce(producer, 0, 1), produces)
    tell("describe.ongoing", teller.describe(), 0, settled=True)
    tell("TxnOffsetCommit.implicit-ok", teller.commit_offset(producer), 5)
    tell("TxnOffsetCommit.wrong-epoch", teller.commit_offset((pid, epoch + 1)), 5)
    tell("TxnOffsetCommit.unknown-topic", teller.commit_offset(producer, topic="g-nope"), 5)
    teller.note_what_is_read("ongoing")
    tell("EndTxn.v2-commit", teller.end(producer, True), 5)
    tell("EndTxn.v2-commit-retried", teller.end(producer, True), 5, settled=True)
    tell("EndTxn.v2-abort-of-committed", teller.end(producer, False), 5)
    teller.note_what_is_read("committed")
    teller.note_offset("committed")
    teller.sequences.clear()
    following = pid, epoch + 1
    tell("Produce.txn-v2-old-epoch", teller.produce(producer, 0, first=0), produces)
    teller.sequences.clear()
    tell("Produce.txn-v2-next", teller.produce(following, 0), produces, settled=True)
    tell("Produce.txn-id-mismatch", teller.produce(following, 1, transactional_id=teller.unknown_id), produces)
    tell("EndTxn.v2-wrong-epoch", teller.end((pid, epoch + 10), False), 5)
    tell("EndTxn.v2-wrong-pid", teller.end((pid + 999, epoch), False), 5)
    tell("EndTxn.v2-abort", teller.end(following, False), 5)
    tell("EndTxn.v2-abort-retried", teller.end(following, False), 5, settled=True)
    tell("EndTxn.v2-commit-of-aborted", teller.end(following, True), 5)
    tell("describe.aborted", teller.describe(), 0, settled=True)
    teller.note_what_is_read("aborted")
    return teller.steps


def verifying(teller: Teller) -> Steps:
    """What brokers ask each other about partitions (AddPartitionsToTxn 4 and 5)."""
    teller.prepare()
    pid, epoch = producer = teller.new_producer()
    tell = teller.tell
    for version in (4, 5):
        tell(f"AddPartitionsToTxn.v{version}.verify-not-in-txn", teller.add(producer, version, 0, verify=True), version)
        tell(f"AddPartitionsToTxn.v{version}.ok", teller.add(producer, version, 0), version, settled=True)
        tell(f"AddPartitionsToTxn.v{version}.verify-ok", teller.add(producer, version, 0, verify=True), version)
        tell(f"AddPartitionsToTxn.v{version}.verify-some", teller.add(producer, version, 0, 1, verify=True), version)
        tell(f"AddPartitionsToTxn.v{version}.wrong-epoch", teller.add((pid, epoch + 1), version, 0), version)
        unknown = teller.add(producer, version, 0, transactional_id=teller.unknown_id)
        tell(f"AddPartitionsToTxn.v{version}.unknown-id", unknown, version)
        unknown = teller.add(producer, version, 0, transactional_id=teller.unknown_id, verify=True)
        tell(f"AddPartitionsToTxn.v{version}.verify-unknown-id", unknown, version)
        missing = [AddPartitionsToTxnTopic(teller.topic, [0, 7]), AddPartitionsToTxnTopic("g-nope", [0])]
        tell(f"AddPartitionsToTxn.v{version}.missing", teller.add(producer, version, topics=missing), version)
        tell(f"EndTxn.v{version}", teller.end(producer, False), 4)
        teller.ask(teller.end(producer, False), 4)
    return teller.steps


def initialising(teller: Teller, version: int) -> Steps:
    """InitProducerId with a transactional id: epochs, fencing, the abort of an open transaction, KIP-360."""
    teller.prepare()
    tell = teller.tell

    def init(timeout_ms: int = 60_000, shown: tuple[int, int] = (-1, -1), name: str | None = None) -> Any:
        chosen = teller.transactional_id if name is None else name
        return InitProducerIdRequest(chosen, timeout_ms, *(shown if version >= 3 else (-1, -1)))

    tell("timeout-too-large", init(99_999_999), version)
    tell("timeout-zero", init(0), version)
    tell("empty-id", init(name=""), version)
    answer = tell("transactional", init(), version, settled=True)
    tell("again-bumps-epoch", init(), version)
    producer = answer.producer_id, answer.producer_epoch + 1
    if version >= 3:
        tell("with-current-epoch", init(shown=producer), version)
        tell("retried", init(shown=producer), version)
        tell("stale-epoch", init(shown=(producer[0], 0)), version)
        tell("wrong-pid", init(shown=(producer[0] + 999, 0)), version)
        tell("no-pid", init(shown=(-1, 3)), version)
        producer = producer[0], producer[1] + 1
    teller.ask(teller.add(producer, 3, 0), 3)
    teller.ask(teller.produce(producer, 0), 9)
    tell("during-ongoing-txn", init(), version)
    tell("after-the-abort", init(), version, settled=True)
    tell("fenced", teller.end(producer, True), 4)
    teller.note_what_is_read("after the abort")
    return teller.steps


def markers(teller: Teller, version: int) -> Steps:
    """WriteTxnMarkers as an administrator sends them to end a hanging transaction (KIP-664)."""
    teller.prepare()
    pid, epoch = producer = teller.new_producer()
    teller.ask(teller.add(producer, 3, 0), 3)
    teller.ask(teller.produce(producer, 0), 9)

    def write(
        step: str,
        *,
        coordinator_epoch: int = 0,
        commit: bool = False,
        producer_id: int = pid,
        topic: str | None = None,
        partition: int = 0,
    ) -> None:
        topics = [WritableTxnMarkerTopic(topic or teller.topic, [partition])]
        marker = WritableTxnMarker(producer_id, epoch, commit, topics, coordinator_epoch)
        answer = teller.ask(WriteTxnMarkersRequest([marker]), version, settled=False)
        teller.steps.append((step, [code for code in error_codes(to_json(answer, version)) if code]))

    write("abort-ok")
    teller.note_what_is_read("aborted")
    write("no-open-txn", commit=True)
    write("fenced-coordinator", coordinator_epoch=-1)
    write("unknown-pid", producer_id=pid + 5555, commit=True)
    write("unknown-topic", topic="g-nope")
    write("unknown-partition", partition=9)
    teller.tell("empty", WriteTxnMarkersRequest([]), version)
    teller.tell("coordinator-aborts-too", teller.end(producer, False), 4)
    teller.tell("describe", teller.describe(), 0, settled=True)
    return teller.steps


def stray_markers(teller: Teller) -> Steps:
    """Markers that belong to no transaction, with ids and epochs that no coordinator would write."""
    teller.prepare()
    pid = teller.new_producer()[0] + 10_000
    for step, producer_id, epoch, coordinator_epoch in (
        ("no producer", -1, 0, 0),
        ("no epoch", pid, -1, 0),
        ("negative producer", -7, 3, 0),
        ("negative producer and epoch", -7, -2, -9),
        ("negative epoch", pid, -2, 0),
        ("negative epoch and coordinator", pid, -2, -9),
        ("first coordinator epoch -1", pid + 1, 0, -1),
        ("first coordinator epoch -2", pid + 2, 0, -2),
        ("coordinator epoch 5", pid + 3, 0, 5),
        ("then 4", pid + 3, 0, 4),
    ):
        topics = [WritableTxnMarkerTopic(teller.topic, [0])]
        request = WriteTxnMarkersRequest([WritableTxnMarker(producer_id, epoch, True, topics, coordinator_epoch)])
        form = to_json(teller.ask(request, 1, settled=False), 1)
        teller.steps.append((step, list(error_codes(form))))
    return teller.steps


def no_transactional_id(teller: Teller) -> Steps:
    """Offsets and descriptions for an empty id, and for the same id twice."""
    teller.prepare()
    producer = teller.new_producer()
    for version in (0, 3, 5):
        for name, group in (("a group", teller.group), ("no group", "")):
            for shown in (producer, (-1, -1)):
                request = teller.commit_offset(shown)
                request.transactional_id, request.group_id = "", group
                teller.tell(f"TxnOffsetCommit v{version}: {name}, producer epoch {shown[1]}", request, version)
    ids = [teller.transactional_id, teller.unknown_id, "", teller.transactional_id, teller.unknown_id]
    teller.tell("describe", DescribeTransactionsRequest(ids), 0)
    return teller.steps


def listing(teller: Teller) -> Steps:
    """ListTransactions with each filter; only this story's id is looked at."""
    teller.prepare()
    producer = teller.new_producer()

    def listed(step: str, version: int, **filters: Any) -> None:
        answer = teller.ask(ListTransactionsRequest(**filters), version, settled=False)
        mine = [
            (each.transaction_state, each.producer_id == producer[0])
            for each in answer.transaction_states
            if each.transactional_id == teller.transactional_id
        ]
        teller.steps.append((step, (answer.error_code, sorted(answer.unknown_state_filters), mine)))

    for version in (0, 1, 2):
        listed(f"v{version}.all", version)
        listed(f"v{version}.state", version, state_filters=["Empty", "Nonsense"])
        listed(f"v{version}.other-state", version, state_filters=["CompleteCommit", "nonsense", "empty"])
        listed(f"v{version}.pid", version, producer_id_filters=[producer[0]])
        listed(f"v{version}.other-pid", version, producer_id_filters=[producer[0] + 999])
    teller.ask(teller.add(producer, 3, 0), 3)
    wait_until("a transaction older than 0 ms", lambda: transactions_longer_than(teller, 0))
    for version in (1, 2):
        listed(f"v{version}.long", version, duration_filter=3_600_000)
        listed(f"v{version}.short", version, duration_filter=0)
    for pattern in (teller.transactional_id, "id-.*", "id", "", ".*-.*", "nobody.*", "([", "(?=a)", r"(a)\1", "a**"):
        listed(
            f"v2.pattern {pattern if pattern != teller.transactional_id else 'itself'}",
            2,
            transactional_id_pattern=pattern,
        )
    teller.ask(teller.end(producer, True), 4)
    listed("v2.not ongoing", 2, state_filters=["Ongoing"])
    teller.tell("describe-empty-id", DescribeTransactionsRequest([""]), 0)
    return teller.steps


def transactions_longer_than(teller: Teller, duration_ms: int) -> bool:
    """Whether this story's transaction is listed among them."""
    answer = teller.ask(ListTransactionsRequest(duration_filter=duration_ms), 1, settled=False)
    return teller.transactional_id in [each.transactional_id for each in answer.transaction_states]


def ending(teller: Teller, end_version: int) -> Steps:
    """What is answered while the markers are being written: one partition takes none, so that it never ends."""
    teller.prepare()
    pid, epoch = producer = teller.new_producer()
    tell = teller.tell
    teller.ask(teller.add(producer, 3, 0, 1), 3)
    teller.ask(teller.produce(producer, 0), 9)
    teller.take_over_partition(producer, 1)
    tell("EndTxn", teller.end(producer, True), end_version)
    wait_until("the marker of the other partition", lambda: teller.read(0, committed=True))
    after = (pid, epoch + 1) if end_version == 5 else producer
    for version in (4, 5):
        for name, shown in (("before", producer), ("after", after), ("wrong-pid", (pid + 999, epoch))):
            tell(f"EndTxn.v{version}.commit.{name}", teller.end(shown, True), version)
            tell(f"EndTxn.v{version}.abort.{name}", teller.end(shown, False), version)
        tell(f"EndTxn.v{version}.wrong-epoch", teller.end((pid, epoch + 9), True), version)
    for name, shown in (("before", producer), ("after", after), ("wrong-pid", (pid + 999, epoch))):
        tell(f"AddPartitionsToTxn.v3.{name}", teller.add(shown, 3, 0), 3)
        tell(f"AddPartitionsToTxn.v5.{name}", teller.add(shown, 5, 0), 5)
        tell(f"AddPartitionsToTxn.v5.verify.{name}", teller.add(shown, 5, 0, verify=True), 5)
        tell(f"AddOffsetsToTxn.{name}", teller.offsets(shown), 4)
        tell(f"InitProducerId.{name}", InitProducerIdRequest(teller.transactional_id, 60_000, *shown), 5)
        for version in (2, 4, 5):
            tell(f"TxnOffsetCommit.v{version}.{name}", teller.commit_offset(shown, offset=9), version)
        for version in (9, 11, 12):
            tell(f"Produce.v{version}.{name}", teller.produce(shown, 0, first=0), version)
    tell("InitProducerId", InitProducerIdRequest(teller.transactional_id, 60_000), 5)
    tell("describe", teller.describe(), 0)
    return teller.steps


def zombies(teller: Teller, produces: int) -> Steps:
    """A producer whose epoch is over goes on to produce: its successor does not notice."""
    teller.prepare()
    pid, old = teller.new_producer()
    _, new = teller.new_producer()
    tell = teller.tell

    def late(step: str, first: int, *partitions: int) -> None:
        tell(f"{step}: late", teller.produce((pid, old), *partitions, first=first), produces)

    def add(epoch: int, *partitions: int) -> None:
        if produces < 12:
            teller.ask(teller.add((pid, epoch), 3, *partitions), 3)

    late("before", 0)
    add(new)
    tell("first", teller.produce((pid, new), 0, first=0), produces)
    for first in (0, 2, 7):
        late("in between", first, 0, 1)
    tell("second", teller.produce((pid, new), 0, first=2), produces)
    tell("other partition", teller.produce((pid, new), 1, first=0), produces)
    tell("EndTxn", teller.end((pid, new), True), 5 if produces > 11 else 4)
    following = new + (produces > 11)
    late("after", 4)
    add(following, 0)
    tell("next", teller.produce((pid, following), 0, first=0 if produces > 11 else 4), produces, settled=True)
    tell("abort", teller.end((pid, following), False), 5 if produces > 11 else 4)
    tell("describe", teller.describe(), 0, settled=True)
    teller.note_what_is_read("read")
    return teller.steps


def refused_batches(teller: Teller) -> Steps:
    """What a refused transactional batch means for the batches of its producer that follow, in a transaction or not."""
    teller.prepare()
    pid, epoch = producer = teller.new_producer()
    tell = teller.tell

    def alone(step: str, epoch: int, partition: int, first: int) -> None:
        request = teller.produce((pid, epoch), partition, first=first, transactional=False)
        tell(f"{step}: epoch {epoch - producer[1]} alone at {first} in {partition}", request, 11)

    tell("not added", teller.produce(producer, 0, first=5), 11)
    tell("registered above 0", teller.produce(producer, 0, first=5), 12)
    tell("registered at 0", teller.produce(producer, 1, first=5), 12)
    tell("higher", teller.produce(producer, 1, first=2), 12)
    alone("above", epoch, 1, 7)
    alone("below", epoch, 1, 0)
    alone("next", epoch, 1, 2)
    tell("EndTxn", teller.end(producer, False), 4)
    tell("settled", teller.describe(), 0, settled=True)
    tell("later epoch", teller.produce((pid, epoch + 3), 0, first=1), 11)
    alone("above", epoch, 0, 7)
    alone("later epoch", epoch + 3, 0, 0)
    tell("old epoch", teller.produce(producer, 0, first=0), 12)
    alone("later epoch", epoch + 3, 0, 2)
    teller.note_what_is_read("read")
    return teller.steps


STORIES: dict[str, Callable[[Teller], Steps]] = {
    **{
        "older client " + "-".join(map(str, versions)): partial(older_client, versions=versions)
        for versions in OLDER_CLIENTS
    },
    "newer client": newer_client,
    "verifying": verifying,
    **{f"initialising v{version}": partial(initialising, version=version) for version in range(6)},
    **{f"markers v{version}": partial(markers, version=version) for version in (1, 2)},
    **{f"ending v{version}": partial(ending, end_version=version) for version in (4, 5)},
    **{f"zombies v{version}": partial(zombies, produces=version) for version in (9, 11, 12)},
    "refused batches": refused_batches,
    "stray markers": stray_markers,
    "no transactional id": no_transactional_id,
    "listing": listing,
}


@contextmanager
def teller(bootstrap: str, tag: str) -> Iterator[Teller]:
    """A teller connected to a broker."""
    with WireClient.at(bootstrap, timeout_s=PATIENCE_S) as wire:
        yield Teller(wire, tag)


def tell_all(bootstrap: str) -> dict[str, Steps]:
    """Every story, told to one broker; in the form that JSON keeps."""
    told = {}
    for name, story in STORIES.items():
        with teller(bootstrap, secrets.token_hex(4)) as one:
            told[name] = story(one)
    form: dict[str, Steps] = json.loads(json.dumps(told, default=lambda value: value.decode()))
    return form


if __name__ == "__main__":  # python -m tests.scenarios.transactions_wire HOST:PORT FILE: record a broker's answers
    recorded = json.dumps(tell_all(sys.argv[1]), indent=0).encode()
    Path(sys.argv[2]).write_bytes(gzip.compress(recorded, mtime=0))
