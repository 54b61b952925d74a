"""Clients write while the broker is killed again and again; afterwards everything they were told must be true.

An idempotent producer, a transactional producer and a committer of offsets run through all deaths. Checked after every
restart: each acknowledged record is there, none is there twice, of a transaction's records in two topics either all or
none can be read, a committed offset never goes back.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.fakes.wire_client import ConnectionClosed, WireClient

ROOT = Path(__file__).parent.parent.parent
GROUP = "crash-group"
_QUIET = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "socket.timeout.ms": 3000}


def reserve_port() -> socket.socket:
    """A socket that has a port and does not listen: nobody is given that port, and whoever asks for it can listen."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


@dataclass
class Told:
    """What clients were told by the broker."""

    plain: set[bytes] = field(default_factory=set)
    committed: set[bytes] = field(default_factory=set)
    aborted: set[bytes] = field(default_factory=set)
    offset: int = 0


class Clients:
    """The three writers, each in a thread, until `stop`."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.bootstrap = bootstrap
        self.told = Told()
        self.errors: list[BaseException] = []
        self._random = random.Random(seed)
        self._stopping = threading.Event()
        self._may_write = threading.Event()
        self._may_write.set()
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), daemon=True)
            for work in (self._produce, self._transact, self._commit)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Nothing new is begun inside; what is under way goes on."""
        self._may_write.clear()
        try:
            yield
        finally:
            self._may_write.set()

    def _goes_on(self) -> bool:
        self._may_write.wait()
        return not self._stopping.is_set()

    def wait_for_each(self) -> None:
        """Return when each writer has been told something: a busy machine may have cut all of them short until now."""
        deadline = time.monotonic() + 60
        while not (len(self.told.plain) > 50 and self.told.committed and self.told.offset):
            assert not self.errors, self.errors[:3]
            assert time.monotonic() < deadline, "a client gets nowhere"
            time.sleep(0.02)

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), "a client hangs"

    def _guarded(self, work: object) -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            self.errors.append(error)

    def _produce(self) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True, "linger.ms": 1, **_QUIET})
        number = 0

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.errors.append(KafkaException(error))
            else:
                self.told.plain.add(message.value() or b"")

        while self._goes_on():
            producer.produce("plain", b"p%d" % number, b"k%d" % (number % 7), on_delivery=delivered)
            number += 1
            producer.poll(0.002)
        assert producer.flush(60) == 0

    def _transact(self) -> None:
        number = 0
        while self._goes_on():
            producer = Producer(
                {"bootstrap.servers": self.bootstrap, "transactional.id": "crash-txn", "linger.ms": 0, **_QUIET}
            )
            try:
                producer.init_transactions(20)
                while self._goes_on():
                    number += 1
                    self._transaction(producer, b"t%d" % number)
            except KafkaException as error:
                if not (error.args[0].txn_requires_abort() or error.args[0].fatal() or error.args[0].retriable()):
                    raise
            finally:
                producer.purge()

    def _transaction(self, producer: Producer, name: bytes) -> None:
        producer.begin_transaction()
        for topic in ("left", "right"):
            for part in range(2):
                producer.produce(topic, name + b"/%d" % part)
        if self._random.random() < 0.2:
            producer.abort_transaction(20)
            self.told.aborted.add(name)
        else:
            producer.commit_transaction(20)
            self.told.committed.add(name)

    def _commit(self) -> None:
        """Over the raw wire: librdkafka's admin client aborts the process when a broker dies at the wrong moment."""
        offset = 0
        while self._goes_on():
            try:
                with wire_client(self.bootstrap) as client:
                    while self._goes_on():
                        offset += 1
                        code = commit_offset(client, offset)
                        if code is ErrorCode.NONE:
                            self.told.offset = offset
                        else:
                            assert code.retriable, code
            except (OSError, ConnectionClosed):
                time.sleep(0.02)  # the broker is dead just now; what was not confirmed need not be there


def wire_client(bootstrap: str) -> WireClient:
    return WireClient.at(bootstrap)


def commit_offset(client: WireClient, offset: int) -> ErrorCode:
    partition = OffsetCommitRequestPartition(0, offset)
    response = client.request(
        OffsetCommitRequest(GROUP, topics=[OffsetCommitRequestTopic("plain", partitions=[partition])]), 8
    )
    return ErrorCode(response.topics[0].partitions[0].error_code)


class Broker:
    """The broker process on a fixed port."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._reserved = reserve_port()  # also while the broker is dead
        self.port = int(self._reserved.getsockname()[1])
        self._process: subprocess.Popen[str] | None = None

    def start(self, kill_at: int = -1) -> None:
        command = [sys.executable, "-m", "tests.crash.server", str(self.directory), str(self.port), str(kill_at)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        with self._process.stdout as output:
            line = output.readline()
        assert line.strip() == "ready", "the broker did not come back"

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def end(self) -> None:
        """The last kill: the port is given back."""
        self.kill()
        self._reserved.close()

    def dies_within(self, seconds: float) -> bool:
        """Whether it killed itself; if not it is killed now."""
        assert self._process is not None
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        return True


def read_all(bootstrap: str, topic: str, partitions: int) -> list[bytes]:
    """Every committed value of a topic."""
    config = {"bootstrap.servers": bootstrap, "group.id": "reader", "isolation.level": "read_committed", **_QUIET}
    consumer = Consumer({**config, "enable.auto.commit": False, "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
    values: list[bytes] = []
    ended: set[int] = set()
    deadline = time.monotonic() + 60
    while len(ended) < partitions:
        assert time.monotonic() < deadline, f"{topic} cannot be read to its end"
        message = consumer.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is None:
            values.append(message.value() or b"")
        elif error.code() == KafkaError._PARTITION_EOF:
            partition = message.partition()
            assert partition is not None
            ended.add(partition)
    consumer.close()
    return values


def committed_offset(bootstrap: str) -> int:
    """The offset that the group has committed."""
    request = OffsetFetchRequest(GROUP, [OffsetFetchRequestTopic("plain", [0])])
    deadline = time.monotonic() + 60
    with wire_client(bootstrap) as client:
        while True:
            response = client.request(request, 5)
            if response.error_code == 0:
                return int(response.topics[0].partitions[0].committed_offset)
            assert ErrorCode(response.error_code).retriable, ErrorCode(response.error_code)
            assert time.monotonic() < deadline, "the group's coordinator does not come back"


def check(bootstrap: str, told: Told) -> None:
    """Everything told must be true; the lists are taken first, because answers under way may still come."""
    acknowledged, committed, aborted, offset = set(told.plain), set(told.committed), set(told.aborted), told.offset
    plain = read_all(bootstrap, "plain", 2)
    doubled = [value for value, count in Counter(plain).items() if count > 1]
    assert not doubled, f"doubled: {doubled[:5]}"
    lost = acknowledged - set(plain)
    assert not lost, f"acknowledged and lost: {sorted(lost)[:5]}"
    left, right = Counter(read_all(bootstrap, "left", 1)), Counter(read_all(bootstrap, "right", 1))
    assert max(left.values(), default=1) == 1, "a transaction's record is there twice"
    for name in committed:
        for part in (name + b"/0", name + b"/1"):
            assert left[part] == 1, f"committed and lost: {part!r}"
            assert right[part] == 1, f"committed and lost: {part!r}"
    for name in aborted:
        assert left[name + b"/0"] == right[name + b"/0"] == 0, f"aborted and visible: {name!r}"
    if offset:
        assert committed_offset(bootstrap) >= offset


def check_whole(bootstrap: str) -> None:
    """With nobody writing: of every transaction all four records can be read, or none."""
    left, right = set(read_all(bootstrap, "left", 1)), set(read_all(bootstrap, "right", 1))
    assert left == right
    assert all(name.rpartition(b"/")[0] + b"/1" in left for name in left)


def run(directory: Path, rounds: int, seed: int) -> dict[str, int]:
    """Kill the broker `rounds` times under load; returns what was written, told and survived."""
    broker = Broker(directory)
    try:
        return _run(broker, rounds, seed)
    finally:
        broker.end()


def _run(broker: Broker, rounds: int, seed: int) -> dict[str, int]:
    source = random.Random(seed)
    broker.start()
    bootstrap = f"127.0.0.1:{broker.port}"
    clients = Clients(bootstrap, seed)
    clients.start()
    injected = 0
    for number in range(rounds):
        if number % 2:
            injected += broker.dies_within(source.uniform(0.5, 1.5))
        else:
            time.sleep(source.uniform(0.05, 0.6))
            broker.kill()
        broker.start(kill_at=source.randrange(20, 1500) if number % 2 == 0 and number + 1 < rounds else -1)
        if number % 4 == 1:
            with clients.pause():
                check(bootstrap, clients.told)
        assert not clients.errors, clients.errors[:3]
    time.sleep(0.5)
    clients.wait_for_each()
    clients.stop()
    assert not clients.errors, clients.errors[:3]
    check(bootstrap, clients.told)
    finisher = Producer({"bootstrap.servers": bootstrap, "transactional.id": "crash-txn", **_QUIET})
    finisher.init_transactions(60)
    check_whole(bootstrap)
    told = clients.told
    return {
        "rounds": rounds,
        "injected": injected,
        "acknowledged": len(told.plain),
        "committed transactions": len(told.committed),
        "aborted transactions": len(told.aborted),
        "committed offset": told.offset,
    }
