"""The data source and the sink `odradek` beside Spark's own Kafka connector, in one run against a real Kafka.

A topic of 12 partitions, one of which has half of all records (of 200 bytes, in segments of 1 MiB): read at once from
the broker and from its log directory, as a stream, and written. Seconds, and CPU seconds of all processes (Spark, its
Python workers, Kafka); how many times as many records a second as the connector; the memory of the JVM that is driver
and executor in one, and of all Python processes, at their most.

With `--rounds 5` each runs five times, in turn, and the medians are printed.

    python -m tests.bench.bench_connector [--millions 1,10] [--only read,stream,sink] [--rounds 1]
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from odradek.pipeline.cluster_client import LATEST, ClusterClient
from odradek.pipeline.session import build_session
from odradek.protocol.record_batch import Record, build_batch
from tests.bench.bench_pipeline import BATCH, MILLION, NOW, Cost, consume, timed
from tests.bench.brokers import Kafka

PARTITIONS = 12
SEGMENT_BYTES = 1024 * 1024
COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)
_KEY_AND_VALUE = ("cast(concat('k', id) as binary) as key", "cast(repeat('v', 190) as binary) as value")


def load(address: str, topic: str, count: int) -> None:
    """Every second batch goes to partition 0, the others to the rest in turn."""
    rng = random.Random(1)
    value = [rng.randbytes(190) for _ in range(BATCH)]
    one = build_batch([Record(n, NOW + n, b"k%06d" % n, value[n]) for n in range(BATCH)])
    with ClusterClient(address) as client:
        client.create_topics({topic: PARTITIONS})
        for number in range(count // BATCH):
            client.produce(topic, 0 if number % 2 else 1 + number // 2 % (PARTITIONS - 1), one)


class Memory:
    """Looks every half second how much memory the processes of Spark take; their most is kept."""

    def __init__(self) -> None:
        self.java_mb = self.python_mb = 0

    def __enter__(self) -> None:
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._run, daemon=True)
        self._watch.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()

    def _run(self) -> None:
        while not self._done.wait(0.5):
            found = {"java": 0, "python": 0}
            for command, pages in descendants(os.getpid()):
                if b"org.apache.spark.deploy.SparkSubmit" in command:
                    found["java"] += pages
                elif b"pyspark" in command:
                    found["python"] += pages
            page_mb = os.sysconf("SC_PAGE_SIZE") / 2**20
            self.java_mb = max(self.java_mb, int(found["java"] * page_mb))
            self.python_mb = max(self.python_mb, int(found["python"] * page_mb))


def descendants(ancestor: int) -> Iterator[tuple[bytes, int]]:
    """The command line and the resident pages of each process that came of one: others may run a Spark, too."""
    processes: dict[int, tuple[int, bytes, int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command, pages = (folder / "cmdline").read_bytes(), int((folder / "statm").read_text().split()[1])
        except (OSError, IndexError):  # it has just ended
            continue
        processes[int(folder.name)] = parent, command, pages
    found = {ancestor}
    while more := {process for process, (parent, *_) in processes.items() if parent in found} - found:
        found |= more
    yield from (processes[process][1:] for process in found - {ancestor} if process in processes)


class Case(NamedTuple):
    """A line of the table."""

    title: str
    run: Callable[[], object]


def compare(cases: list[Case], count: int, rounds: int) -> None:
    """Run the cases in turn, so many times; print the medians. The first case is the connector."""
    memory = {case: Memory() for case in cases}
    costs: dict[Case, list[Cost]] = {case: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            with memory[case]:
                costs[case].append(timed(case.run))
    for case in cases:
        seconds = median(cost.seconds for cost in costs[case])
        cpu_seconds = median(cost.cpu_seconds for cost in costs[case])
        # A round's runs are neighbours: the machine had the same other work.
        factor = median(first.seconds / cost.seconds for first, cost in zip(costs[cases[0]], costs[case], strict=True))
        print(
            f"{case.title:34s}{seconds:7.1f} s {cpu_seconds:7.1f} CPU{count / seconds:12,.0f} /s {factor:5.2f} x"
            f"   JVM {memory[case].java_mb} MB, Python {memory[case].python_mb} MB",
            flush=True,
        )


def drain(rows: Any) -> None:
    """A stream of what is there, thrown away."""
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()


def read_cases(spark: Any, kafka: Kafka, count: int) -> list[Case]:
    live = {"kafka.bootstrap.servers": kafka.address, "subscribe": "in"}
    segments = len(list(kafka.node.log_dir.glob("in-*/*.log")))
    connector = spark.read.format("kafka").options(**live, includeHeaders="true")
    source = spark.read.format("odradek").schema(COLUMNS).options(**live)
    files = spark.read.format("odradek").schema(COLUMNS).option("subscribe", "in")
    return [
        Case("read, the connector", lambda: consume(connector.load())),
        Case("read, odradek, from the broker", lambda: consume(source.load())),
        Case(f"read, odradek, {segments} segments", lambda: consume(files.load(str(kafka.node.log_dir)))),
    ]


def stream_cases(spark: Any, kafka: Kafka, count: int) -> list[Case]:
    live = {"kafka.bootstrap.servers": kafka.address, "subscribe": "in", "startingOffsets": "earliest"}
    connector = spark.readStream.format("kafka").options(**live, includeHeaders="true")
    source = spark.readStream.format("odradek").schema(COLUMNS).options(**live)
    files = spark.readStream.format("odradek").schema(COLUMNS).option("subscribe", "in")
    return [
        Case("stream, the connector", lambda: drain(connector.load())),
        Case("stream, odradek, from the broker", lambda: drain(source.load())),
        Case("stream, odradek, from the logs", lambda: drain(files.load(str(kafka.node.log_dir)))),
    ]


def sink_cases(spark: Any, kafka: Kafka, count: int) -> list[Case]:
    rows = spark.range(count).selectExpr(*_KEY_AND_VALUE)
    archived = spark.range(count).selectExpr(
        "id as offset", "'t' as topic", f"cast(id % {PARTITIONS} as int) as partition", *_KEY_AND_VALUE
    )
    topics = (f"out-{number}" for number in itertools.count())

    def send(form: str) -> None:
        topic = next(topics)
        with ClusterClient(kafka.address) as client:
            client.create_topics({topic: PARTITIONS})
        writer = rows.write.format(form).mode("append")
        writer.options(**{"kafka.bootstrap.servers": kafka.address, "topic": topic}).save()
        check_count(kafka.address, topic, count)

    def archive() -> None:
        with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
            archived.write.format("odradek").mode("append").save(folder)

    return [
        Case("sink, the connector", lambda: send("kafka")),
        Case("sink, odradek", lambda: send("odradek")),
        Case("sink, odradek, to an archive", archive),
    ]


def check_count(address: str, topic: str, count: int) -> None:
    """The end of a transaction is answered before all partitions have its marker: committed records may come late."""
    deadline = time.monotonic() + 30
    with ClusterClient(address) as client:
        while True:
            ends = client.offsets({(topic, partition): LATEST for partition in range(PARTITIONS)}, read_committed=True)
            if count <= sum(ends.values()) <= count + 2 * PARTITIONS:  # a marker for each transaction and partition
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"{topic} has {sum(ends.values())} of {count}")
            time.sleep(0.1)


@contextmanager
def real_kafka() -> Iterator[Kafka]:
    config = {"log.segment.bytes": str(SEGMENT_BYTES), "offsets.topic.num.partitions": "1", "log.retention.ms": "-1"}
    kafka = Kafka({**config, "transaction.state.log.num.partitions": "1"})
    try:
        yield kafka
    finally:
        kafka.stop()


CASES = {"read": read_cases, "stream": stream_cases, "sink": sink_cases}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_connector")
    parser.add_argument("--only", default=",".join(CASES), help="cases by name")
    parser.add_argument("--millions", default="1,10", help="numbers of records")
    parser.add_argument("--rounds", type=int, default=1, help="how often each case runs")
    options = parser.parse_args(arguments)
    spark = build_session("bench", config={"spark.driver.memory": "2g"})
    try:
        for millions in options.millions.split(","):
            count = int(float(millions) * MILLION)
            print(f"{millions} million records; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
            names = options.only.split(",")
            with real_kafka() as kafka:
                if names != ["sink"]:
                    load(kafka.address, "in", count)
                for name in names:
                    compare(CASES[name](spark, kafka, count), count, options.rounds)
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
