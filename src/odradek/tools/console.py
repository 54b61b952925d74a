"""`kafka-console-producer` and `kafka-console-consumer`."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, ClassVar
from uuid import uuid4

from odradek.pipeline.cluster_client import EARLIEST, GROUP, LATEST, ClusterClient, Fetched
from odradek.protocol.compression import Codec
from odradek.protocol.control import AbortedTransactions
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.partitioner import Partitioner
from odradek.protocol.record_batch import RecordBatch, build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.tools.options import Options, ToolError, connect, security

_REBALANCE_MS = 60_000
_LEAVE = -1


def commit(
    client: ClusterClient, request: OffsetCommitRequest, version: int, offsets: Mapping[tuple[str, int], int]
) -> None:
    """Commit offsets by topic and partition, for the group and the member of a request that has none yet."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, partition), at in offsets.items():
        topics.setdefault(topic, []).append(OffsetCommitRequestPartition(partition, at))
    request.topics = [OffsetCommitRequestTopic(topic, partitions=parts) for topic, parts in topics.items()]
    client.ask_coordinator(
        GROUP,
        request.group_id,
        request,
        version,
        lambda answer: [each.error_code for topic in answer.topics for each in topic.partitions],
    )


class Membership:
    """Joins with the first `beat`. KafkaError for what the coordinator refuses."""

    def __init__(self, client: ClusterClient, group: str, topic: str) -> None:
        self._client, self._group, self._topic = client, group, topic
        self._member, self._epoch = str(uuid4()), 0
        self._owned: list[TopicPartitions] = []
        self._next = 0.0

    def beat(self) -> Sequence[int]:
        """The partitions that the member has now; a heartbeat is sent when it is due."""
        if time.monotonic() >= self._next:
            first = self._epoch == 0
            self._heartbeat([self._topic] if first else None, [] if first else self._owned)
        return [partition for topic in self._owned for partition in topic.partitions]

    def _heartbeat(self, topics: list[str] | None, owned: list[TopicPartitions]) -> None:
        asked = ConsumerGroupHeartbeatRequest(
            self._group, self._member, self._epoch, None, None, _REBALANCE_MS, topics, topic_partitions=owned
        )
        answer = self._client.ask_coordinator(
            GROUP, self._group, asked, asked.MAX_VERSION, lambda answer: [answer.error_code]
        )
        self._epoch = answer.member_epoch
        self._next = time.monotonic() + answer.heartbeat_interval_ms / 1000
        if answer.assignment is not None:
            self._owned = [
                TopicPartitions(each.topic_id, each.partitions) for each in answer.assignment.topic_partitions
            ]
            self._next = 0.0  # what is owned now is told at once

    def committed(self, partitions: Sequence[int]) -> Mapping[int, int]:
        """What the group has committed of these partitions; -1 for nothing."""
        asked = OffsetFetchRequest(self._group, [OffsetFetchRequestTopic(self._topic, list(partitions))])
        answer = self._client.ask_coordinator(GROUP, self._group, asked, 7, lambda answer: [answer.error_code])
        return {each.partition_index: each.committed_offset for each in answer.topics[0].partitions}

    def commit(self, positions: Mapping[int, int]) -> None:
        """Commit what is read next of each partition."""
        offsets = {(self._topic, partition): at for partition, at in positions.items() if at >= 0}
        if offsets and self._epoch > 0:
            commit(self._client, OffsetCommitRequest(self._group, self._epoch, self._member), 9, offsets)

    def leave(self) -> None:
        """Give the partitions back."""
        if self._epoch > 0:
            self._epoch = _LEAVE
            self._heartbeat(None, self._owned)


_PATIENCE_S = 60.0
_PAUSE_S = 0.05
_COMMIT_EVERY_S = 5.0
"""As `auto.commit.interval.ms` of Kafka's consumer."""


def _partitions(client: ClusterClient, topic: str, patience_s: float) -> Sequence[int]:
    """The topic's partitions; a broker that creates topics is asked to create it. KafkaError if it stays away."""
    deadline = time.monotonic() + patience_s
    while True:
        asked = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
        code = client.ask(asked).topics[0].error_code
        if not code:
            return client.topics([topic])[topic]
        if not ErrorCode(code).retriable or time.monotonic() > deadline:
            raise KafkaError(ErrorCode(code), f"topic {topic}")
        time.sleep(_PAUSE_S)


# --- producer ---------------------------------------------------------------------------------------------------------


def producer(options: Options) -> int:
    """`kafka-console-producer`: each line of standard input is a record, as soon as it is read."""
    topic = options.one("topic") or ""
    reader = _Reader(options.pairs("property", "reader-property"))
    named = options.one("compression-codec") or "none"
    if named.upper() not in Codec.__members__:
        raise ToolError(f"compression-codec: {named} is none of {', '.join(Codec.__members__).lower()}")
    codec = Codec[named.upper()]
    file = "command-config" if "command-config" in options else "producer.config"
    with connect(options, security(options, file, "producer-property", "command-property")) as client:
        partitions = _partitions(client, topic, _PATIENCE_S)
        by_key = Partitioner()
        # Records without a key stay together, as in a batch of Kafka's.
        keyless = random.choice(partitions)
        for number, line in enumerate(sys.stdin.buffer, 1):
            record = reader.record(line.rstrip(b"\r\n"), number)
            partition = keyless
            if record.key is not None:
                partition = partitions[by_key.partition(topic, record.key, len(partitions))]
            try:
                client.produce(topic, partition, build_batch([record], codec=codec))
            except KafkaError as error:
                size = len(record.value or b"")
                print(f"Error when sending message to topic {topic}, value: {size} bytes: {error}", file=sys.stderr)
    return 0


class _Reader:
    """How a line becomes a record: the properties of Kafka's LineMessageReader."""

    _KNOWN: ClassVar = {
        "parse.key": "false",
        "parse.headers": "false",
        "ignore.error": "false",
        "key.separator": "\t",
        "headers.delimiter": "\t",
        "headers.separator": ",",
        "headers.key.separator": ":",
        "null.marker": "",
    }

    def __init__(self, given: Mapping[str, str]) -> None:
        values = _properties(self._KNOWN, given)
        self._with_key, self._with_headers, self._lenient = (
            values[name].lower() == "true" for name in ("parse.key", "parse.headers", "ignore.error")
        )
        self._marks = {name: value.encode() for name, value in values.items()}

    def record(self, line: bytes, number: int) -> Record:
        """ToolError, in Kafka's words, for a line without what is expected."""
        headers: tuple[tuple[str, bytes | None], ...] = ()
        key = None
        if self._with_headers:
            text, line = self._parted(line, self._marks["headers.delimiter"], "headers delimiter", number)
            listed = (text or b"").split(self._marks["headers.separator"])
            pairs = [pair.partition(self._marks["headers.key.separator"]) for pair in listed if pair]
            headers = tuple((name.decode(), self._value(value)) for name, _, value in pairs)
        if self._with_key:
            key, line = self._parted(line, self._marks["key.separator"], "key separator", number)
        return Record(0, time.time_ns() // 1_000_000, self._value(key), self._value(line), headers)

    def _value(self, text: bytes | None) -> bytes | None:
        return text if text != (self._marks["null.marker"] or None) else None

    def _parted(self, line: bytes, separator: bytes, what: str, number: int) -> tuple[bytes | None, bytes]:
        first, found, rest = line.partition(separator)
        if found:
            return first, rest
        if self._lenient:
            return None, line
        raise ToolError(f"No {what} found on line number {number}: '{line.decode(errors='replace')}'")


def _properties(known: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Java's properties with their values, escapes such as a tab's read; ToolError for unknown ones."""
    if unknown := sorted(set(given) - set(known)):
        raise ToolError(f"unknown property {', '.join(unknown)}; there are {', '.join(known)}")
    return {**known, **{name: value.replace("\\t", "\t").replace("\\n", "\n") for name, value in given.items()}}


# --- consumer ---------------------------------------------------------------------------------------------------------


def consumer(options: Options) -> int:
    """`kafka-console-consumer`: prints the records of a topic as they come."""
    topic = options.one("topic")
    if topic is None:
        raise ToolError("Exactly one of the following arguments is required: [topic], [include]")
    properties = options.pairs("consumer-property", "command-property")
    isolation = options.one("isolation-level") or properties.get("isolation.level", "read_uncommitted")
    if isolation not in ("read_committed", "read_uncommitted"):
        raise ToolError(f"isolation-level: {isolation} is neither read_committed nor read_uncommitted")
    formatter = _Formatter(options.pairs("property", "formatter-property"))
    limit, timeout_ms = options.number("max-messages"), options.number("timeout-ms")
    file = "command-config" if "command-config" in options else "consumer.config"
    group = options.one("group") or properties.get("group.id")
    count = 0
    with connect(options, security(options, file, "consumer-property", "command-property")) as client:
        partitions = _chosen_partitions(client, options, topic)
        reader = _Following(client, topic, _first_offset(options), read_committed=isolation == "read_committed")
        member = None if group is None or "partition" in options else Membership(client, group, topic)
        heard, committed = time.monotonic(), time.monotonic()
        try:
            while limit is None or count < limit:
                if member is not None:
                    partitions = member.beat()
                    if added := reader.keep(partitions):
                        reader.positions.update(member.committed(added))
                got = False
                for batch, partition, record in reader.poll(partitions):
                    formatter.write(sys.stdout.buffer, batch, partition, record)
                    got, count, heard = True, count + 1, time.monotonic()
                    if count == limit:
                        break
                sys.stdout.buffer.flush()
                now = time.monotonic()
                if member is not None and (now - committed > _COMMIT_EVERY_S):
                    member.commit(reader.positions)
                    committed = now
                if not got:
                    if timeout_ms is not None and now - heard > timeout_ms / 1000:
                        print(
                            "Error processing message, terminating consumer process: TimeoutException", file=sys.stderr
                        )
                        break
                    time.sleep(_PAUSE_S)
        except KeyboardInterrupt:
            pass
        finally:
            if member is not None:
                member.commit(reader.positions)
                member.leave()
            print(f"Processed a total of {count} messages", file=sys.stderr)
    return 0


def _chosen_partitions(client: ClusterClient, options: Options, topic: str) -> Sequence[int]:
    partitions = _partitions(client, topic, (options.number("timeout-ms") or 60_000) / 1000)
    chosen = options.number("partition")
    if chosen is None:
        return partitions
    if chosen not in partitions:
        raise ToolError(f"topic {topic} has no partition {chosen}")
    return [chosen]


def _first_offset(options: Options) -> int:
    """Where to start: an offset, EARLIEST or LATEST."""
    text = options.one("offset")
    if text is None:
        return EARLIEST if "from-beginning" in options else LATEST
    if "partition" not in options:
        raise ToolError("The partition is required when offset is specified.")
    if text in ("earliest", "latest"):
        return EARLIEST if text == "earliest" else LATEST
    number = options.number("offset")
    if number is None or number < 0:
        raise ToolError(f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', or a "
                        "non-negative long.")  # fmt: skip
    return number


class _Following:
    """Reads partitions from where each begins. `positions`: what is read next, by partition."""

    def __init__(self, client: ClusterClient, topic: str, start: int, *, read_committed: bool) -> None:
        self._client, self._topic, self._start, self._committed = client, topic, start, read_committed
        self.positions: dict[int, int] = {}

    def keep(self, partitions: Sequence[int]) -> list[int]:
        """Forget all partitions but these; those are returned that are new."""
        self.positions = {each: at for each, at in self.positions.items() if each in partitions}
        return [each for each in partitions if each not in self.positions]

    def poll(self, partitions: Sequence[int]) -> Iterator[tuple[RecordBatch, int, Record]]:
        """What there is now."""
        missing = [each for each in partitions if self.positions.get(each, -1) < 0]
        if missing and self._start >= 0:
            self.positions.update(dict.fromkeys(missing, self._start))
        elif missing:
            found = self._client.offsets({(self._topic, each): self._start for each in missing})
            self.positions.update({each: found[self._topic, each] for each in missing})
        for partition in partitions:
            fetched = self._client.fetch(
                self._topic, partition, self.positions[partition], read_committed=self._committed, max_wait_ms=0
            )
            yield from self._read(partition, fetched)

    def _read(self, partition: int, fetched: Fetched) -> Iterator[tuple[RecordBatch, int, Record]]:
        transactions = AbortedTransactions(fetched.aborted)
        for batch in iter_batches(fetched.records):
            if not (transactions.hide(batch) or batch.is_control):
                for record in batch.records():
                    if record.offset >= self.positions[partition]:
                        self.positions[partition] = record.offset + 1
                        yield batch, partition, record
            self.positions[partition] = batch.next_offset


class _Formatter:
    """How a record is printed: the properties of Kafka's DefaultMessageFormatter."""

    _KNOWN: ClassVar = {
        "print.timestamp": "false",
        "print.partition": "false",
        "print.offset": "false",
        "print.headers": "false",
        "print.key": "false",
        "print.value": "true",
        "key.separator": "\t",
        "line.separator": "\n",
        "headers.separator": ",",
        "null.literal": "null",
    }

    def __init__(self, given: Mapping[str, str]) -> None:
        values = _properties(self._KNOWN, given)
        self._shown = {name.removeprefix("print.") for name in self._KNOWN if values[name].lower() == "true"}
        self._key, self._line, self._headers, self._null = (
            values[name].encode() for name in ("key.separator", "line.separator", "headers.separator", "null.literal")
        )

    def write(self, out: BinaryIO, batch: RecordBatch, partition: int, record: Record) -> None:
        """Write one record."""
        name = "LogAppendTime" if batch.has_append_time else "CreateTime"
        headers = (key.encode() + b":" + self._text(value) for key, value in record.headers)
        parts = {
            "timestamp": f"{name}:{record.timestamp}".encode() if record.timestamp >= 0 else b"NO_TIMESTAMP",
            "partition": f"Partition:{partition}".encode(),
            "offset": f"Offset:{record.offset}".encode(),
            "headers": self._headers.join(headers) or b"NO_HEADERS",
            "key": self._text(record.key),
            "value": self._text(record.value),
        }
        out.write(self._key.join(part for name, part in parts.items() if name in self._shown) + self._line)

    def _text(self, value: bytes | None) -> bytes:
        return self._null if value is None else value
