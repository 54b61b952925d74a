"""What stories ask about records, and how they write the answers down."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.scenarios.failures.core import Core, Pending, error
from tests.scenarios.failures.targets import FailingCluster

BIG = 1 << 20
TIME_MS = 1_700_000_000_000
"""Of all records: retention is off."""
LONG_MS = 110_000
"""What a request may wait that is not meant to end by itself."""


class Story(Core):
    """One partition or a few, and what clients see of them while nodes fail."""

    # -- producing

    def produce_begin(
        self,
        node: int,
        topic: str,
        *values: str,
        index: int = 0,
        acks: int = -1,
        timeout_ms: int = LONG_MS,
        version: int = 11,
        tx: str | None = None,
        **batch: Any,
    ) -> Pending:
        """Send a batch of these values to a node."""
        records = [Record(at, TIME_MS, None, value.encode(), ()) for at, value in enumerate(values)]
        data = [PartitionProduceData(index, build_batch(records, transactional=tx is not None, **batch))]
        topics = [TopicProduceData(self.real(topic), self.ids.get(topic, bytes(16)), data)]
        request = ProduceRequest(None if tx is None else self.real(tx), acks, timeout_ms, topics)
        return self.begin(node, request, version)

    def produce(self, asked: str, node: int, topic: str, *values: str, **how: Any) -> None:
        """Send a batch, and write down the answer."""
        self.note_produced(asked, self.produce_begin(node, topic, *values, **how))

    def note_produced(self, asked: str, pending: Pending) -> None:
        """Wait for the answer to a batch, and write it down."""
        found = pending.answer().responses[0].partition_responses[0]
        leader = found.current_leader
        shown: dict[str, Any] = {"error": error(found.error_code), "offset": found.base_offset}
        if leader is not None and (leader.leader_id, leader.leader_epoch) != (-1, -1):
            shown["leader"] = [leader.leader_id, leader.leader_epoch]
        self.note(f"produce: {asked}", shown)

    # -- fetching

    def fetch_begin(
        self,
        node: int,
        topic: str,
        offset: int,
        *,
        index: int = 0,
        version: int = 12,
        epoch: int = -1,
        last_epoch: int = -1,
        wait_ms: int = 0,
        **fields: Any,
    ) -> Pending:
        """Ask a node for records from an offset."""
        partition = FetchPartition(index, epoch, offset, last_epoch, -1, BIG)
        wanted = [FetchTopic(self.real(topic), self.ids.get(topic, bytes(16)), [partition])]
        request = FetchRequest(max_wait_ms=wait_ms, min_bytes=1, max_bytes=BIG, topics=wanted, **fields)
        return self.begin(node, request, version)

    def fetch(self, asked: str, node: int, topic: str, offset: int, **how: Any) -> None:
        """Ask for records, and write down the answer."""
        self.note_fetched(asked, self.fetch_begin(node, topic, offset, **how))

    def note_fetched(self, asked: str, pending: Pending) -> None:
        """Wait for the answer to a fetch, and write it down."""
        answer = pending.answer()
        if answer.error_code:
            self.note(f"fetch: {asked}", {"error of all": error(answer.error_code)})
            return
        found = answer.responses[0].partitions[0]
        shown: dict[str, Any] = {
            "error": error(found.error_code),
            "high watermark": found.high_watermark,
            "stable": found.last_stable_offset,
            "start": found.log_start_offset,
            "records": _batches(found.records),
        }
        if found.diverging_epoch is not None and found.diverging_epoch.end_offset != -1:
            shown["diverging"] = [found.diverging_epoch.epoch, found.diverging_epoch.end_offset]
        if found.current_leader is not None and found.current_leader.leader_epoch != -1:
            shown["leader"] = [found.current_leader.leader_id, found.current_leader.leader_epoch]
        if found.preferred_read_replica != -1:
            shown["preferred read replica"] = found.preferred_read_replica
        self.note(f"fetch: {asked}", shown)

    def await_high_watermark(self, node: int, topic: str, high_watermark: int, index: int = 0) -> None:
        """Wait until a node's replica has this high watermark: Kafka's followers learn it with their next fetch."""

        def reached() -> bool:
            found = self.fetch_begin(node, topic, 0, index=index).answer().responses[0].partitions[0]
            return bool(found.error_code == 0 and found.high_watermark == high_watermark)

        self.until(f"high watermark {high_watermark} of {topic} at {node}", reached)

    def has(self, node: int, topic: str, end: int, index: int = 0) -> bool:
        """Whether a replica's log goes as far as that, committed or not: a fetch from there is none beyond its end."""
        found = self.fetch_begin(node, topic, end, index=index).answer().responses[0].partitions[0]
        return bool(found.error_code == 0)

    # -- offsets

    def list_offset(self, asked: str, node: int, topic: str, timestamp: int = -1, **how: Any) -> None:
        """Ask for an offset by time (-1: latest, -2: earliest), and write down the answer."""
        partition = ListOffsetsPartition(how.pop("index", 0), how.pop("epoch", -1), timestamp)
        version = how.pop("version", 7)
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(self.real(topic), [partition])], **how)
        found = self.ask(node, request, version).topics[0].partitions[0]
        self.note(
            f"list offsets: {asked}",
            {"error": error(found.error_code), "offset": found.offset, "epoch": found.leader_epoch},
        )

    def epoch_end(self, asked: str, node: int, topic: str, epoch: int, current: int = -1, index: int = 0) -> None:
        """Ask where an epoch ended, and write down the answer."""
        partition = OffsetForLeaderPartition(index, current, epoch)
        request = OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic(self.real(topic), [partition])])
        found = self.ask(node, request, 4).topics[0].partitions[0]
        self.note(
            f"epoch end: {asked}",
            {"error": error(found.error_code), "epoch": found.leader_epoch, "end": found.end_offset},
        )

    # -- elections

    def elect(self, asked: str, topic: str, *, unclean: bool = False, index: int = 0, node: int | None = None) -> None:
        """ElectLeaders, the answer written down."""
        wanted = [TopicPartitions(self.real(topic), [index])]
        answer = self.begin(node or self.live()[0], ElectLeadersRequest(int(unclean), wanted, 60_000), 2).answer()
        results = [
            [error(each.error_code), self.shown(each.error_message)]
            for found in answer.replica_election_results
            for each in found.partition_result
        ]
        self.note(f"elect: {asked}", {"error": error(answer.error_code), "partitions": results})


def _batches(records: Any) -> list[Any]:
    """Batches as [base offset, epoch, values]; markers as what they are."""
    return [
        [
            batch.base_offset,
            batch.partition_leader_epoch,
            "marker" if batch.is_control else [bytes(each.value or b"").decode() for each in batch.records()],
        ]
        for batch in iter_batches(records or b"")
    ]


STORIES: dict[str, Callable[[Story], None]] = {}
"""By name; `all_stories` fills it."""


def story(tell: Callable[[Story], None]) -> Callable[[Story], None]:
    """Registers a function as a story of its name."""
    STORIES[tell.__name__] = tell
    return tell


def transcribe(name: str, cluster: FailingCluster) -> list[Any]:
    """Tell a story to a cluster, which is whole again afterwards; returns what was written down."""
    telling = Story(cluster)
    try:
        STORIES[name](telling)
    finally:
        telling.close()
        cluster.heal()
    transcript: list[Any] = json.loads(json.dumps(telling.transcript))
    return transcript
