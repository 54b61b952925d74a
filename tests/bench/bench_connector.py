"""The data source and the sink `odradek` beside Spark's own Kafka connector, in one run against a real Kafka.

A topic of 12 partitions, one of which has half of all records (of 200 bytes, in segments of 1 MiB): read at once from
the broker and from its log directory, as a stream, and written. Seconds, and CPU seconds of all processes (Spark, its
Python workers, Kafka); how many times as many records a second as the connector; the memory of the JVM that is driver
and executor in one, and of all Python processes, at their most.

    python -m tests.bench.bench_connector [--millions 1,10] [--only read,stream,sink]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odradek.pipeline.cluster_client import LATEST, ClusterClient
from odradek.pipeline.session import build_session
from odradek.protocol.record_batch import Record, build_batch
from tests.bench.bench_pipeline import BATCH, MILLION, NOW, consume, timed
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


class Memory(threading.Thread):
    """Looks every half second how much memory the processes below this one take."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.java_mb = self.python_mb = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.5):
            found = {"java": 0, "python": 0}
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    command = (folder / "cmdline").read_bytes()
                    pages = int((folder / "statm").read_text().split()[1])
                except (OSError, IndexError):  # it has just ended
                    continue
                if b"org.apache.spark.deploy.SparkSubmit" in command:
                    found["java"] += pages
                elif b"pyspark" in command:
                    found["python"] += pages
            page_mb = os.sysconf("SC_PAGE_SIZE") / 2**20
            self.java_mb = max(self.java_mb, int(found["java"] * page_mb))
            self.python_mb = max(self.python_mb, int(found["python"] * page_mb))

    def stop(self) -> None:
        self._done.set()
        self.join()


def row(title: str, count: int, run: Callable[[], object], beside: float | None = None) -> float:
    """Measure and print one line; the records a second."""
    memory = Memory()
    memory.start()
    try:
        cost = timed(run)
    finally:
        memory.stop()
    rate = count / cost.seconds
    factor = f"{rate / beside:5.2f} x" if beside else "       "
    print(
        f"{title:34s}{cost.seconds:7.1f} s {cost.cpu_seconds:7.1f} CPU{rate:12,.0f} /s {factor}"
        f"   JVM {memory.java_mb} MB, Python {memory.python_mb} MB",
        flush=True,
    )
    return rate


def drain(rows: Any) -> None:
    """A stream of what is there, thrown away."""
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()


def read_rows(spark: Any, kafka: Kafka, count: int) -> None:
    live = {"kafka.bootstrap.servers": kafka.address, "subscribe": "in"}
    segments = len(list(kafka.node.log_dir.glob("in-*/*.log")))
    connector = spark.read.format("kafka").options(**live, includeHeaders="true")
    rate = row("read, the connector", count, lambda: consume(connector.load()))
    source = spark.read.format("odradek").schema(COLUMNS)
    row("read, odradek, from the broker", count, lambda: consume(source.options(**live).load()), rate)
    files = spark.read.format("odradek").schema(COLUMNS).option("subscribe", "in")
    title = f"read, odradek, {segments} segments"
    row(title, count, lambda: consume(files.load(str(kafka.node.log_dir))), rate)


def stream_rows(spark: Any, kafka: Kafka, count: int) -> None:
    live = {"kafka.bootstrap.servers": kafka.address, "subscribe": "in", "startingOffsets": "earliest"}
    connector = spark.readStream.format("kafka").options(**live, includeHeaders="true").load()
    rate = row("stream, the connector", count, lambda: drain(connector))
    row(
        "stream, odradek, from the broker",
        count,
        lambda: drain(spark.readStream.format("odradek").schema(COLUMNS).options(**live).load()),
        rate,
    )
    files = spark.readStream.format("odradek").schema(COLUMNS).option("subscribe", "in")
    row("stream, odradek, from the logs", count, lambda: drain(files.load(str(kafka.node.log_dir))), rate)


def sink_rows(spark: Any, kafka: Kafka, count: int) -> None:
    rows = spark.range(count).selectExpr(*_KEY_AND_VALUE)
    rate = 0.0
    for form in ("kafka", "odradek"):
        topic = f"out-{form}"
        with ClusterClient(kafka.address) as client:
            client.create_topics({topic: PARTITIONS})
        writer = rows.write.format(form).mode("append")
        writer = writer.options(**{"kafka.bootstrap.servers": kafka.address, "topic": topic})
        title = "sink, the connector" if form == "kafka" else "sink, odradek"
        rate = row(title, count, writer.save, rate or None)
        check_count(kafka.address, topic, count)
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
        archived = spark.range(count).selectExpr(
            "id as offset", "'t' as topic", f"cast(id % {PARTITIONS} as int) as partition", *_KEY_AND_VALUE
        )
        archive = archived.write.format("odradek").mode("append")
        row("sink, odradek, to an archive", count, lambda: archive.save(folder), rate)


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


ROWS = {"read": read_rows, "stream": stream_rows, "sink": sink_rows}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_connector")
    parser.add_argument("--only", default=",".join(ROWS), help="rows by name")
    parser.add_argument("--millions", default="1,10", help="numbers of records")
    options = parser.parse_args(arguments)
    spark = build_session("bench", config={"spark.driver.memory": "2g"})
    try:
        for millions in options.millions.split(","):
            count = int(float(millions) * MILLION)
            print(f"{millions} million records; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
            with real_kafka() as kafka:
                load(kafka.address, "in", count)
                for name in options.only.split(","):
                    ROWS[name](spark, kafka, count)
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
