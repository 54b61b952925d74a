"""Dead letter queues of share groups (KIP-1191): records that are rejected or delivered too often go to another topic.

The leader of the share partition writes them, one record for each offset, to the partition of the same number modulo
the queue's. Headers say where a record comes from and why; key and value are copied where the group asks for it. What
cannot be written is lost, and its offsets count as archived all the same. Others are served between large letters.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.share.states import ShareSettings
from odradek.protocol.compression import CompressionError
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.record_batch import HEADER_SIZE, RecordBatch, build_batch, iter_batches
from odradek.protocol.records import Record, encode_record

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.partitions.partition_registry import PartitionRegistry

_log = logging.getLogger(__name__)

SHARE_VERSION_WITH_QUEUES: Final = 2
"""The level of `share.version` from which on there are dead letter queues."""
REJECTED: Final = "Offset rejected by client."
DELIVERED_TOO_OFTEN: Final = "Offset delivery count exceeded the threshold."
"""The values of the header `__dlq.errors.message`."""

_ENABLED: Final = "errors.deadletterqueue.group.enable"
_OF_NEW_TOPICS: Final = {_ENABLED: "true", "message.timestamp.type": "CreateTime"}
_AUTO_CREATE: Final = "errors.deadletterqueue.auto.create.topics.enable"
_PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
_FETCH_BYTES: Final = 1 << 20
_AT_ONCE: Final = 4 << 20
"""So many bytes of batches are read and written at a time."""
BACKOFFS_MS: Final = (1000, 2000, 4000, 8000)
"""The waits before another attempt, where a partition of the queue has no leader."""


class Refused(Exception):
    """The dead letters cannot be written, now or later; the text says why."""


class DeadLetter(NamedTuple):
    """A run of offsets of one share partition that were given up, after so many deliveries and for this reason."""

    group_id: str
    source: Partition
    first_offset: int
    last_offset: int
    delivery_count: int
    reason: str


CreateTopic = Callable[[str, Mapping[str, str]], None]
"""Creates a topic of this name with these configs, and the broker's number of partitions and replication factor.
KafkaError if that is refused."""


class DeadLetterQueues:
    """Writes dead letters. Owner: `SharePartitions`. `start` starts a task for letters that have to wait."""

    def __init__(
        self,
        clock: BrokerClock,
        config: BrokerConfig,
        topics: PartitionRegistry,
        create: CreateTopic,
        start: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        self._clock = clock
        self._config = config
        self._topics = topics
        self._create = create
        self._start = start

    def put(self, letter: DeadLetter, settings: Callable[[], ShareSettings], done: Callable[[], None]) -> None:
        """Write the letter now, or later if its partition has no leader; `done` is called when that is over."""
        work = _Delivery(letter, settings)
        if self._is_over(work) and not work.pauses:
            done()
        else:
            # The wait begins here: before the task's first step somebody may move the clock.
            self._start(partial(self._try_again, work, done, self._clock.current_time()))

    async def _try_again(self, work: _Delivery, done: Callable[[], None], tried_at: float) -> None:
        backoffs = iter(BACKOFFS_MS)
        while work.pauses or (backoff := next(backoffs, None)) is not None:
            if work.pauses:
                await trio.lowlevel.checkpoint()
            elif backoff is not None:
                await self._clock.sleep(tried_at + backoff / 1000 - self._clock.current_time())
            if self._is_over(work) and not work.pauses:
                break
            tried_at = self._clock.current_time()
        else:
            _log.error("%s: there is still no leader for its dead letters", work)
        done()

    def _is_over(self, work: _Delivery) -> bool:
        """Write what is left; False if it may be tried again. If it `pauses`, it is to go on."""
        work.pauses = False
        try:
            self._deliver(work)
        except Refused as error:
            _log.error("%s: %s", work, error)
        except KafkaError as error:
            if error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                return False
            _log.error("%s: the dead letters were refused: %s", work, error)
        return True

    def _deliver(self, work: _Delivery) -> None:
        settings = work.settings()
        queue = self._queue(work.letter.group_id, settings.dead_letter_topic)
        limit = self._topics.by_name(queue).config.log_config().max_message_bytes
        partitions = self._topics.by_name(queue).partitions
        partition = partitions[work.letter.source.index % len(partitions)]
        if partition.leader_id < 0:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        copies = _Copies(work.copies(limit) if settings.copies_dead_letters else iter(()))
        work.spent = 0
        while work.next_offset <= work.letter.last_offset:
            if work.spent > _AT_ONCE:
                work.pauses = True
                return
            now_ms = self._clock.now_ms()
            records = work.round(copies, limit, now_ms)
            batch = build_batch(records)
            partition.append(batch, now_ms=now_ms)
            work.spent += len(batch)
            work.next_offset += len(records)

    def _queue(self, group_id: str, name: str) -> str:
        """The topic with this name, created if need be; Refused where it is none for dead letters."""
        topic = self._topics.get(name)
        if not name:
            raise Refused(f"no dead letter queue is configured for {group_id}")
        if topic is not None and not topic.config.get(_ENABLED):
            raise Refused(f"{_ENABLED} is false for the topic {name}")
        if topic is None and not self._config.get_bool(_AUTO_CREATE):
            raise Refused(f"the topic {name} does not exist, and {_AUTO_CREATE} is false")
        prefix = self._config.get_str(_PREFIX)
        if not name.startswith(prefix):
            raise Refused(f"the name of the topic {name} does not begin with {_PREFIX}={prefix}")
        if topic is None:
            self._create(name, _OF_NEW_TOPICS)
        return name


class _Copies:
    """Records in the order of their offsets, of which each is read when it is asked for."""

    def __init__(self, records: Iterator[Record]) -> None:
        self._records = records
        self._next = next(records, None)

    def at(self, offset: int) -> Record | None:
        """The record at an offset, which is not smaller than any before; None if it is not copied."""
        while self._next is not None and self._next.offset < offset:
            self._next = next(self._records, None)
        return self._next if self._next is not None and self._next.offset == offset else None


class _Delivery:
    """A letter that is being written.

    `next_offset`: the first that is not in the queue yet. `spent`: bytes of batches that were read and written since
    others were served; `pauses`: whether it waits only for them.
    """

    def __init__(self, letter: DeadLetter, settings: Callable[[], ShareSettings]) -> None:
        self.letter = letter
        self.settings = settings
        self.next_offset = letter.first_offset
        self.pauses = False
        self.spent = 0

    def __str__(self) -> str:
        group_id, source, first, last, *_ = self.letter
        return f"group {group_id}: records {first} to {last} of {source.topic.name}-{source.index} were given up"

    def round(self, copies: _Copies, limit: int, now_ms: int) -> list[Record]:
        """The records of the next batch: as many as the queue takes in one, at least one."""
        records: list[Record] = []
        size = HEADER_SIZE
        for offset in range(self.next_offset, self.letter.last_offset + 1):
            copy = copies.at(offset)
            key, value = (None, None) if copy is None else (copy.key, copy.value)
            record = Record(len(records), now_ms, key, value, self._headers(offset))
            size += len(encode_record(record, 0, len(records)))
            if records and size > limit:
                break
            records.append(record)
        return records

    def _headers(self, offset: int) -> tuple[tuple[str, bytes], ...]:
        letter = self.letter
        values: Sequence[tuple[str, object]] = (
            ("topic", letter.source.topic.name),
            ("partition", letter.source.index),
            ("offset", offset),
            ("group", letter.group_id),
            ("delivery.count", letter.delivery_count),
            ("message", letter.reason),
        )
        return tuple((f"__dlq.errors.{name}", str(value).encode()) for name, value in values)

    def copies(self, limit: int) -> Iterator[Record]:
        """The records that are copied: those that the log still has and that are within the limit.

        As in Kafka, a failed read ends the search, a record that is larger is left out, and so is a compressed batch.
        """
        log = self.letter.source.log
        offset = self.next_offset
        while offset <= self.letter.last_offset:
            try:
                parts, size = log.read(offset, max_bytes=_FETCH_BYTES, up_to_offset=log.high_watermark, min_one=True)
                if not size:
                    break
                for batch in iter_batches(parts):
                    yield from self._within(batch, limit)
                    offset = batch.next_offset
            except (KafkaError, CorruptDataError) as error:
                _log.error("%s: they cannot be read at offset %d: %s", self, offset, error)
                break

    def _within(self, batch: RecordBatch, limit: int) -> Iterator[Record]:
        """The records of a batch that are to be copied."""
        try:
            records = batch.records(limit)
        except CompressionError as error:
            _log.error("a batch at offset %d is copied to no dead letter queue: %s", batch.base_offset, error)
            return
        base, first = batch.base_timestamp, batch.base_offset
        for each in records:
            self.spent += 64 + len(each.key or b"") + len(each.value or b"")
            if each.offset > self.letter.last_offset:
                return
            if each.offset < self.next_offset:
                continue
            if len(encode_record(each, each.timestamp - base, each.offset - first)) <= limit:
                yield each
