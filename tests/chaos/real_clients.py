"""Writers on three client libraries, each in a thread, that note what they were told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import aiokafka
import aiokafka.errors
import confluent_kafka

from tests.scenarios.python_clients import kafka

_QUIET = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "socket.timeout.ms": 3000}
_PACE_S = 0.02
"""Between two writes, so that the three get on together."""


@dataclass
class Told:
    """Of one writer: what it gave to its client in order, and what that says is written."""

    sent: list[bytes] = field(default_factory=list)
    acked: list[bytes] = field(default_factory=list)
    committed: list[list[bytes]] = field(default_factory=list)
    aborted: list[list[bytes]] = field(default_factory=list)


class Writer:
    """Runs until `stop`; `progress` counts what it was told."""

    def __init__(self, name: str, work: Callable[[Writer], None], bootstrap: str) -> None:
        self.name = name
        self.bootstrap = bootstrap
        self.told = Told()
        self.error: BaseException | None = None
        self.stopping = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True, name=name)
        self._thread.start()

    @property
    def progress(self) -> int:
        return len(self.told.acked) + len(self.told.committed)

    def value(self) -> bytes:
        """The next value, which goes to one partition only: so its order can be looked at."""
        value = b"%s %d" % (self.name.encode(), len(self.told.sent))
        self.told.sent.append(value)
        return value

    def join(self) -> None:
        self.stopping.set()
        self._thread.join(180)
        assert not self._thread.is_alive(), f"{self.name} hangs"

    def _run(self) -> None:
        try:
            self._work(self)
        except BaseException as error:
            self.error = error


def librdkafka(writer: Writer) -> None:
    """Idempotent, with several requests under way."""
    told = writer.told
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": writer.bootstrap, "enable.idempotence": True, "linger.ms": 1, **_QUIET}
    )

    def delivered(error: confluent_kafka.KafkaError | None, message: confluent_kafka.Message) -> None:
        if error is None:
            told.acked.append(message.value() or b"")

    while not writer.stopping.is_set():
        producer.produce("plain", writer.value(), partition=0, on_delivery=delivered)
        producer.poll(0.01)
        writer.stopping.wait(_PACE_S)
    assert producer.flush(120) == 0, "librdkafka does not get rid of its records"


def kafka_python(writer: Writer) -> None:
    """Idempotent, with several requests under way."""
    producer = kafka.KafkaProducer(
        bootstrap_servers=writer.bootstrap.split(","),
        acks="all",
        enable_idempotence=True,
        request_timeout_ms=5000,
        reconnect_backoff_ms=20,
        reconnect_backoff_max_ms=100,
    )
    try:
        while not writer.stopping.is_set():
            some = [writer.value() for _ in range(3)]
            futures = [producer.send("plain", value, partition=1) for value in some]
            for value, future in zip(some, futures, strict=True):
                future.get(timeout=120)
                writer.told.acked.append(value)
            writer.stopping.wait(_PACE_S)
    finally:
        producer.close(timeout=10)


def aio(writer: Writer) -> None:
    """Transactions over two topics, some of them aborted."""
    asyncio.run(_transactions(writer))


async def _transactions(writer: Writer) -> None:
    while not writer.stopping.is_set():
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=writer.bootstrap.split(","),
            transactional_id="aio",
            request_timeout_ms=5000,
            retry_backoff_ms=50,
        )
        await producer.start()
        try:
            while not writer.stopping.is_set():
                await _transaction(writer, producer)
        except aiokafka.errors.KafkaError:
            pass  # how this one ended is not known; the next producer aborts what is open
        finally:
            await producer.stop()


async def _transaction(writer: Writer, producer: aiokafka.AIOKafkaProducer) -> None:
    values = [writer.value() for _ in range(4)]
    await producer.begin_transaction()
    for place, value in enumerate(values):
        await producer.send_and_wait("left" if place % 2 else "right", value, partition=0)
    if len(writer.told.sent) % 5 == 0:
        await producer.abort_transaction()
        writer.told.aborted.append(values)
    else:
        await producer.commit_transaction()
        writer.told.committed.append(values)
