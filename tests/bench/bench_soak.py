"""A modest load for a long time: does memory stay? Clients come and go, produce, fetch, join groups, commit, run
transactions, ask the schema registry, and send requests that are refused.

Prints the broker's resident memory each minute. Fails if it ends more than a fifth above what it had after five minutes
(after a quarter of a shorter run). Linux.

    python -m tests.bench.bench_soak [--minutes 60] [--data-dir] [--tree OTHER_WORKING_TREE]
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from odradek.broker.api.served import SERVED
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from odradek.wire_client import WireClient, request_frame
from tests.bench.brokers import Odradek
from tests.conformance.real_kafka import free_ports
from tests.fakes.filled import asking

CONFIG = {  # what is kept is full, and compacted, before the first five minutes are over
    "log.retention.bytes": "1000000",
    "log.segment.bytes": "1048576",
    "log.retention.check.interval.ms": "5000",
    "offsets.topic.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "transaction.state.log.segment.bytes": "1048576",
    "log.cleaner.backoff.ms": "5000",
    "log.cleaner.delete.retention.ms": "60000",
}
TOPICS, PARTITIONS = 10, 3
_CLIENTS = 4
_PAUSE_S = 0.02
_ALLOWED = 1.2
_LEFT_OUT = {"ControlledShutdown", "UnregisterBroker", "CreateTopics", "DescribeTopicPartitions", "Metadata"}
"""APIs that stop the broker, or make a topic of each name that they are asked for."""


class Served(Odradek):
    """With a schema registry."""

    def launch(self) -> None:
        (self.registry_port,) = free_ports(1)
        self._command += ["--registry-port", str(self.registry_port)]
        super().launch()


class Load:
    """Clients in threads, each with one connection at a time. `done` counts what they did; `failure` ends all."""

    def __init__(self, broker: Served) -> None:
        self.done = 0
        self.failure: BaseException | None = None
        self._broker = broker
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(seed,)) for seed in range(_CLIENTS)]
        with WireClient("127.0.0.1", broker.port) as client:
            topics = [CreatableTopic(f"soak-{number}", PARTITIONS, 1) for number in range(TOPICS)]
            client.request(CreateTopicsRequest(topics, 30_000))
        for thread in self._threads:
            thread.start()

    def _run(self, seed: int) -> None:
        rng = random.Random(seed)
        deeds = (self._produce, self._produce, self._fetch, self._group, self._transaction, self._refused, self._ask)
        try:
            while not self._over.is_set():
                with WireClient("127.0.0.1", self._broker.port, client_id=f"client-{rng.randrange(10_000)}") as client:
                    for _ in range(rng.randint(1, 20)):
                        rng.choice(deeds)(client, rng)
                        self.done += 1
                        if self._over.wait(_PAUSE_S):
                            return
        except BaseException as error:
            self.failure = error

    def _produce(self, client: WireClient, rng: random.Random) -> None:
        now_ms = int(time.time() * 1000)  # older ones would be deleted at once
        batch = build_batch([Record(at, now_ms, b"%d" % at, rng.randbytes(500)) for at in range(20)])
        data = [PartitionProduceData(rng.randrange(PARTITIONS), batch)]
        request = ProduceRequest(None, -1, 30_000, [TopicProduceData(_topic(rng), partition_data=data)])
        client.request(request, max_version=9)

    def _fetch(self, client: WireClient, rng: random.Random) -> None:
        partitions = [FetchPartition(each, fetch_offset=0, partition_max_bytes=50_000) for each in range(PARTITIONS)]
        topics = [FetchTopic(_topic(rng), partitions=partitions)]
        client.request(FetchRequest(max_wait_ms=50, min_bytes=1, max_bytes=200_000, topics=topics), max_version=11)

    def _group(self, client: WireClient, rng: random.Random) -> None:
        group, member = f"group-{rng.randrange(50)}", f"{rng.getrandbits(100)}"
        topic = _topic(rng)
        offsets = [OffsetCommitRequestPartition(each, rng.randrange(1000)) for each in range(PARTITIONS)]
        commit = OffsetCommitRequest(
            f"{group}-simple", -1, topics=[OffsetCommitRequestTopic(topic, partitions=offsets)]
        )
        client.request(commit, max_version=8)
        join = ConsumerGroupHeartbeatRequest(group, member, 0, rebalance_timeout_ms=30_000)
        join.subscribed_topic_names, join.topic_partitions = [topic], []
        client.request(join)
        client.request(ConsumerGroupHeartbeatRequest(group, member, -1))

    def _transaction(self, client: WireClient, rng: random.Random) -> None:
        name = f"transaction-{rng.randrange(20)}-{threading.get_ident()}"
        given = client.request(InitProducerIdRequest(name, 30_000), max_version=4)
        topics = [AddPartitionsToTxnTopic(_topic(rng), [0])]
        client.request(
            AddPartitionsToTxnRequest([], name, given.producer_id, given.producer_epoch, topics), max_version=3
        )
        client.request(EndTxnRequest(name, given.producer_id, given.producer_epoch, rng.random() < 0.5), max_version=3)

    def _refused(self, client: WireClient, rng: random.Random) -> None:
        spec = API_BY_KEY[rng.choice(sorted(SERVED.all()))]
        if spec.name in _LEFT_OUT:
            return
        frame = request_frame(asking(spec.request, spec.max_version, 3, rng.randrange(3)), spec.max_version, 1, "odd")
        cut = rng.random() < 0.3
        with socket.create_connection(("127.0.0.1", self._broker.port), 30) as one, suppress(OSError):
            one.sendall(frame[: rng.randrange(4, len(frame))] if cut else frame)
            if cut:
                one.shutdown(socket.SHUT_WR)
            one.recv(100_000)

    def _ask(self, client: WireClient, rng: random.Random) -> None:
        base = f"http://127.0.0.1:{self._broker.registry_port}"
        fixed = json.dumps({"type": "fixed", "name": "f", "size": rng.randrange(20)})
        schema = json.dumps({"schema": fixed})
        asked: list[Any] = [
            Request(f"{base}/subjects/s{rng.randrange(10)}", schema.encode(), {"Content-Type": "application/json"}),
            f"{base}/schemas/ids/{rng.randrange(100)}",
            f"{base}/{'x' * rng.randrange(1000)}",
        ]
        with suppress(HTTPError), urlopen(rng.choice(asked), timeout=30) as answer:
            answer.read()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def _topic(rng: random.Random) -> str:
    return f"soak-{rng.randrange(TOPICS)}"


def soak(broker: Served, minutes: float, say: Callable[[str], None]) -> tuple[float, float]:
    """The broker's memory after the first part of the time, and at the end, in MB."""
    load = Load(broker)
    try:
        began = time.monotonic()
        warm_s = min(5.0, minutes / 4) * 60
        warm = 0.0
        while (passed := time.monotonic() - began) < minutes * 60:
            time.sleep(min(5.0, minutes * 2))
            if load.failure is not None:
                raise load.failure
            memory = broker.memory_mb()
            if passed < warm_s:
                warm = memory
            if passed % 60 < 5:
                say(f"{passed / 60:5.1f} min {memory:7.1f} MB {load.done} done")
        return warm, broker.memory_mb()
    finally:
        load.end()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_soak", description="memory over a long time")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--data-dir", action="store_true", help="with a data directory, in $TMPDIR")
    parser.add_argument("--tree", type=Path, help="another working tree, whose broker is measured")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-"))) if options.data_dir else None
        broker = Served(CONFIG, folder and folder / "data", None if options.tree is None else options.tree / "src")
        stack.callback(broker.stop)
        warm, end = soak(broker, options.minutes, lambda line: print(line, flush=True))
        print(f"{warm:.0f} MB warm, {end:.0f} MB at the end")
        return 0 if end <= _ALLOWED * warm else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
