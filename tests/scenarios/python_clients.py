"""One face for the three Python client libraries, so that a scenario is written once.

Each kit speaks through its library's public API only. Consumers read by ``assign`` here; members of groups are in
``group_members``.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import aiokafka
import confluent_kafka

with warnings.catch_warnings():  # its import reads its schemas through a deprecated function of importlib
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka as kafka  # offered to the scenarios: they import it from here, without the warning

Answer = TypeVar("Answer")
Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Out:
    """A record to produce; a ``value`` of None is a tombstone, a ``timestamp`` of None is the client's clock."""

    value: bytes | None
    key: bytes | None = None
    partition: int = 0
    timestamp: int | None = None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A record as a consumer got it; ``timestamp_type`` 0 is create time, 1 log-append time."""

    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, slots=True)
class Settings:
    """How to produce: names and values of Kafka's own producer configuration."""

    codec: str = "none"
    acks: int = -1
    idempotent: bool = False
    linger_ms: int = 20


@dataclass(slots=True)
class Reading:
    """What to read: from ``start`` (partition to offset) until ``count`` records came; see :meth:`Kit.consume`."""

    start: Mapping[int, int] = field(default_factory=lambda: {0: 0})
    isolation: str = "read_uncommitted"
    timeout: float = 60


class Kit(Protocol):
    """A client library: produce, read by assignment, ask for offsets."""

    name: str

    def produce(self, bootstrap: str, topic: str, records: Sequence[Out], settings: Settings) -> list[tuple[int, int]]:
        """Send in order on one producer; answers (partition, offset) of each record (offset -1 with acks=0)."""

    def consume(self, bootstrap: str, topic: str, count: int, reading: Reading) -> list[Seen]:
        """Assign the partitions, seek to the start offsets, read ``count`` records (or what came until the timeout)."""

    def offsets_for_time(self, bootstrap: str, topic: str, times: Mapping[int, int]) -> dict[int, int | None]:
        """The first offset at or after a time (ms), of each partition; None where there is none."""

    def watermarks(self, bootstrap: str, topic: str, partition: int) -> tuple[int, int]:
        """(earliest offset, end offset)."""


class Confluent:
    """librdkafka through confluent-kafka."""

    name = "confluent-kafka"

    def produce(self, bootstrap: str, topic: str, records: Sequence[Out], settings: Settings) -> list[tuple[int, int]]:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap,
                "compression.type": settings.codec,
                "acks": settings.acks,
                "enable.idempotence": settings.idempotent,
                "linger.ms": settings.linger_ms,
            }
        )
        placed: dict[int, tuple[int, int]] = {}

        def on_delivery(number: int) -> Callable[[Any, Any], None]:
            def delivered(error: Any, message: Any) -> None:
                if error is not None:
                    raise confluent_kafka.KafkaException(error)
                offset = message.offset()
                placed[number] = (message.partition(), -1 if offset is None or offset < 0 else offset)

            return delivered

        for number, record in enumerate(records):
            extra: dict[str, Any] = {} if record.timestamp is None else {"timestamp": record.timestamp}
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                headers=list(record.headers),
                on_delivery=on_delivery(number),
                **extra,
            )
        assert producer.flush(60) == 0
        return [placed[number] for number in range(len(records))]

    def consume(self, bootstrap: str, topic: str, count: int, reading: Reading) -> list[Seen]:
        consumer = confluent_consumer(bootstrap, isolation=reading.isolation)
        try:
            consumer.assign([confluent_kafka.TopicPartition(topic, p, o) for p, o in reading.start.items()])
            deadline = time.monotonic() + reading.timeout
            seen: list[Seen] = []
            while len(seen) < count and time.monotonic() < deadline:
                message = consumer.poll(0.1)
                if message is None:
                    continue
                if message.error():
                    raise confluent_kafka.KafkaException(message.error())
                seen.append(_seen_confluent(message))
            return seen
        finally:
            consumer.close()

    def offsets_for_time(self, bootstrap: str, topic: str, times: Mapping[int, int]) -> dict[int, int | None]:
        consumer = confluent_consumer(bootstrap)
        try:
            asked = [confluent_kafka.TopicPartition(topic, p, at) for p, at in times.items()]
            found = consumer.offsets_for_times(asked, timeout=60)
            return {each.partition: None if each.offset < 0 else each.offset for each in found}
        finally:
            consumer.close()

    def watermarks(self, bootstrap: str, topic: str, partition: int) -> tuple[int, int]:
        consumer = confluent_consumer(bootstrap)
        try:
            low, high = consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, partition), timeout=60)
            return low, high
        finally:
            consumer.close()


def confluent_consumer(bootstrap: str, *, isolation: str = "read_uncommitted", **more: Any) -> Any:
    """A confluent-kafka consumer that starts at the earliest offset and commits nothing by itself."""
    config = {
        "bootstrap.servers": bootstrap,
        "group.id": "assigned",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "isolation.level": isolation,
        "fetch.wait.max.ms": 50,
        "log_level": 2,
    }
    return confluent_kafka.Consumer({**config, **{name.replace("_", "."): value for name, value in more.items()}})


def _seen_confluent(message: Any) -> Seen:
    kind, timestamp = message.timestamp()
    return Seen(
        message.partition(),
        message.offset(),
        timestamp,
        1 if kind == confluent_kafka.TIMESTAMP_LOG_APPEND_TIME else 0,
        message.key(),
        message.value(),
        tuple(message.headers() or ()),
    )


class KafkaPython:
    """kafka-python, which speaks the protocol in pure Python."""

    name = "kafka-python"

    def produce(self, bootstrap: str, topic: str, records: Sequence[Out], settings: Settings) -> list[tuple[int, int]]:
        producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap,
            compression_type=None if settings.codec == "none" else settings.codec,
            acks="all" if settings.acks == -1 else settings.acks,
            enable_idempotence=settings.idempotent,
            linger_ms=settings.linger_ms,
        )
        try:
            futures = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp,
                )
                for record in records
            ]
            producer.flush(60)
            placed = [future.get(60) for future in futures]
        finally:
            producer.close(60)
        return [(each.partition, each.offset) for each in placed]

    def consume(self, bootstrap: str, topic: str, count: int, reading: Reading) -> list[Seen]:
        consumer = kafka_python_consumer(bootstrap, isolation_level=reading.isolation)
        try:
            partitions = {p: kafka.TopicPartition(topic, p) for p in reading.start}
            consumer.assign(list(partitions.values()))
            for partition, offset in reading.start.items():
                consumer.seek(partitions[partition], offset)
            deadline = time.monotonic() + reading.timeout
            seen: list[Seen] = []
            while len(seen) < count and time.monotonic() < deadline:
                for batch in consumer.poll(timeout_ms=100).values():
                    seen += [_seen(record) for record in batch]
            return seen
        finally:
            consumer.close()

    def offsets_for_time(self, bootstrap: str, topic: str, times: Mapping[int, int]) -> dict[int, int | None]:
        consumer = kafka_python_consumer(bootstrap)
        try:
            found = consumer.offsets_for_times({kafka.TopicPartition(topic, p): at for p, at in times.items()})
            return {partition.partition: None if at is None else at.offset for partition, at in found.items()}
        finally:
            consumer.close()

    def watermarks(self, bootstrap: str, topic: str, partition: int) -> tuple[int, int]:
        consumer = kafka_python_consumer(bootstrap)
        try:
            asked = kafka.TopicPartition(topic, partition)
            return consumer.beginning_offsets([asked])[asked], consumer.end_offsets([asked])[asked]
        finally:
            consumer.close()


def kafka_python_consumer(bootstrap: str, **more: Any) -> Any:
    """A kafka-python consumer that starts at the earliest offset and commits nothing by itself."""
    config = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 50}
    return kafka.KafkaConsumer(bootstrap_servers=bootstrap, **{**config, **more})


def _seen(record: Any) -> Seen:
    headers = tuple(record.headers)
    return Seen(
        record.partition, record.offset, record.timestamp, record.timestamp_type, record.key, record.value, headers
    )


class AioKafka:
    """aiokafka, on an event loop of its own for each call."""

    name = "aiokafka"

    def produce(self, bootstrap: str, topic: str, records: Sequence[Out], settings: Settings) -> list[tuple[int, int]]:
        async def send() -> list[tuple[int, int]]:
            producer = aiokafka.AIOKafkaProducer(
                bootstrap_servers=bootstrap,
                compression_type=None if settings.codec == "none" else settings.codec,
                acks="all" if settings.acks == -1 else settings.acks,
                enable_idempotence=settings.idempotent,
                linger_ms=settings.linger_ms,
            )
            await producer.start()
            try:
                sent = [
                    await producer.send(
                        topic,
                        record.value,
                        record.key,
                        partition=record.partition,
                        timestamp_ms=record.timestamp,
                        headers=list(record.headers),
                    )
                    for record in records
                ]
                placed = [await each for each in sent]
            finally:
                await producer.stop()
            return [(r.partition, each.offset if each else -1) for r, each in zip(records, placed, strict=True)]

        return run_async(send())

    def consume(self, bootstrap: str, topic: str, count: int, reading: Reading) -> list[Seen]:
        async def read() -> list[Seen]:
            async with aiokafka_consumer(bootstrap, isolation_level=reading.isolation) as consumer:
                partitions = {p: aiokafka.TopicPartition(topic, p) for p in reading.start}
                consumer.assign(list(partitions.values()))
                for partition, offset in reading.start.items():
                    consumer.seek(partitions[partition], offset)
                deadline = time.monotonic() + reading.timeout
                seen: list[Seen] = []
                while len(seen) < count and time.monotonic() < deadline:
                    for batch in (await consumer.getmany(timeout_ms=100)).values():
                        seen += [_seen(record) for record in batch]
                return seen

        return run_async(read())

    def offsets_for_time(self, bootstrap: str, topic: str, times: Mapping[int, int]) -> dict[int, int | None]:
        async def ask() -> dict[int, int | None]:
            async with aiokafka_consumer(bootstrap) as consumer:
                found = await consumer.offsets_for_times(
                    {aiokafka.TopicPartition(topic, p): t for p, t in times.items()}
                )
                return {partition.partition: None if at is None else at.offset for partition, at in found.items()}

        return run_async(ask())

    def watermarks(self, bootstrap: str, topic: str, partition: int) -> tuple[int, int]:
        async def ask() -> tuple[int, int]:
            asked = aiokafka.TopicPartition(topic, partition)
            async with aiokafka_consumer(bootstrap) as consumer:
                low = await consumer.beginning_offsets([asked])
                return low[asked], (await consumer.end_offsets([asked]))[asked]

        return run_async(ask())


def aiokafka_consumer(bootstrap: str, **more: Any) -> Any:
    """An aiokafka consumer that starts at the earliest offset and commits nothing by itself."""
    config = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 50}
    return aiokafka.AIOKafkaConsumer(bootstrap_servers=bootstrap, **{**config, **more})


def run_async(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine on a new event loop to its end, within two minutes."""

    async def bounded() -> Answer:
        async with asyncio.timeout(120):
            return await work

    return asyncio.run(bounded())


KITS: tuple[Kit, ...] = (Confluent(), KafkaPython(), AioKafka())
