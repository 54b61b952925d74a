"""State in a compacted topic: read what is new, append only if everything has been read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.facade.records.reading import Bounds, read_records
from odradek.broker.partitions.lookups import check_leader
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.validation import RecordsRefused

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.records.record import StoredRecord
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.partitions.partition import Partition

_Identity = tuple[bytes, int]


class News(NamedTuple):
    """New records. ``replaced``: the log was replaced, so that all earlier records are void."""

    replaced: bool
    records: list[StoredRecord]


class StateLog:
    """The single partition of a compacted topic, which the first append creates. Use it outside the broker's thread.

    A log that was restored, reset or truncated has another topic id or leader epoch; then everything is read again.
    """

    def __init__(self, cluster: Cluster, call: Call, topic: str) -> None:
        self._cluster = cluster
        self._call = call
        self._topic = topic
        self._identity: _Identity | None = None
        self._position = 0

    def __repr__(self) -> str:
        return f"<StateLog {self._topic} to {self._position}>"

    def news(self) -> News | None:
        """The records since the last call, or None. Raises KafkaError if the topic has the wrong configuration."""
        found = self._call(self._look)
        if found is None and self._identity is None:
            return None
        if found is None:
            self._identity, self._position = None, 0
            return News(True, [])
        identity, first, end = found
        replaced = identity != self._identity or end < self._position
        start = first if replaced else max(first, self._position)
        if not replaced and start == end:
            return None
        bounds = [Bounds(0, start, end, ())]
        records = list(read_records(self._call, self._cluster.topics, self._topic, bounds, "read_uncommitted", False))
        self._identity, self._position = identity, end
        return News(replaced, records)

    def append(self, rows: Sequence[tuple[bytes, bytes | None]]) -> bool:
        """Append keys and values as one batch. Returns False, and appends nothing, if `news` has not read everything.

        Raises KafkaError if the log refuses the batch.
        """
        return self._call(lambda: self._append(rows))

    # -- in the broker's thread

    def _look(self) -> tuple[_Identity, int, int] | None:
        topic = self._cluster.topics.get(self._topic)
        if topic is None:
            return None
        if len(topic.partitions) != 1:
            message = f"the topic {self._topic} has {len(topic.partitions)} partitions: it needs just one"
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
        partition = topic.partitions[0]
        log = partition.log
        if not log.config.compact:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"the topic {self._topic} needs cleanup.policy=compact")
        return (topic.topic_id, partition.leader_epoch), log.log_start_offset, log.log_end_offset

    def _append(self, rows: Sequence[tuple[bytes, bytes | None]]) -> bool:
        found = self._look()
        if found is None and self._identity is None:
            self._cluster.create_topic(self._topic, partitions=1, configs={"cleanup.policy": "compact"})
            found = self._look()
            assert found is not None
            self._identity, self._position = found[0], found[2]
        if found is None or (found[0], found[2]) != (self._identity, self._position):
            return False
        now = self._cluster.clock.now_ms()
        self._write(self._cluster.topics.by_name(self._topic).partitions[0], [Record(0, now, *row, ()) for row in rows])
        return True

    def _write(self, partition: Partition, records: list[Record]) -> None:
        check_leader(partition)
        if partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, f"{self._topic} is under min.insync.replicas")
        try:
            partition.append(build_batch(records), now_ms=self._cluster.clock.now_ms())
        except RecordsRefused as error:
            raise KafkaError(error.code, f"{self._topic}: {error.client_message or error.message}") from None
