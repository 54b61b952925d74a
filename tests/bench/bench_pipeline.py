"""The Spark jobs by the size of their input, and the data source beside Spark's own Kafka connector.

Each job runs over 1, 2 and 4 million records. For each size: seconds, and CPU seconds of all processes (Spark, its
Python workers, the broker), which say more on a busy machine; the last column is how the CPU cost of a record changes
from the smallest size to the largest. The scan reads 10 million records of 100 bytes and throws the rows away. With
--workers Spark is a standalone cluster of so many workers with one core each, all on this machine.

    python -m tests.bench.bench_pipeline [--only scan,audit,...] [--millions 1,2,4] [--scan-millions 10] [--workers 2]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.jobs import archive, audit, groups, retry, transactions
from odradek.pipeline.jobs.handlers import Message
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.session import build_session
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from odradek.protocol.record_batch import Record, build_batch
from odradek.protocol.stored import encode_record_key, encode_record_value
from tests.bench.brokers import TICKS, Odradek
from tests.pipeline.standalone_cluster import StandaloneCluster

NOW = 1_700_000_000_000
BATCH = 1000
SEGMENT_BYTES = 64 * 1024 * 1024
MILLION = 1_000_000
_COMMIT = struct.Struct(">hqihq")


class Cost(NamedTuple):
    """What a run took."""

    seconds: float
    cpu_seconds: float


Job = Callable[[Any, Path, int], Cost]
"""Runs once over so many records, with a folder of its own, and says what the job itself took."""


# --- input ------------------------------------------------------------------------------------------------------------


def write_partition(folder: Path, name: str, batches: Iterable[bytes]) -> None:
    """A partition's folder with segments of 64 MiB; batches carry their base offsets."""
    target = folder / name
    target.mkdir(parents=True)
    waiting: list[bytes] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += len(batch)
        if size >= SEGMENT_BYTES:
            write_segment(target, waiting)
            waiting, size = [], 0
    write_segment(target, waiting)


def write_segment(folder: Path, batches: list[bytes]) -> None:
    if batches:
        base = int.from_bytes(batches[0][:8], "big")
        (folder / f"{base:020d}.log").write_bytes(b"".join(batches))


def plain(count: int) -> Iterator[bytes]:
    """Records of 100 bytes, each with a key of its own, from one idempotent producer."""
    value = os.urandom(100)
    for base in range(0, count, BATCH):
        records = [Record(base + n, NOW + base + n, b"k%09d" % (base + n), value) for n in range(BATCH)]
        yield build_batch(records, base_offset=base, producer_id=7, producer_epoch=0, base_sequence=base)


def keyed(count: int) -> Iterator[bytes]:
    """The same without a producer, as it is sent."""
    value = os.urandom(100)
    for base in range(0, count, BATCH):
        yield build_batch([Record(n, NOW, b"k%09d" % (base + n), value) for n in range(BATCH)])


def commits(count: int) -> Iterator[bytes]:
    """Commits of 1,000 groups, with a generation of each group every 100 commits."""
    members = [MemberMetadata(member_id=f"m-{n}", client_id="c", client_host="/127.0.0.1") for n in range(3)]
    for base in range(0, count, BATCH):
        records = []
        for number in range(BATCH):
            group = f"group-{number}"
            if base // BATCH % 100 == 0 and number % 2:
                generation = GroupMetadataValue("consumer", base, "range", "m-0", NOW, members)
                key, value = encode_record_key(GroupMetadataKey(group)), encode_record_value(generation, 3)
            else:
                key = encode_record_key(OffsetCommitKey(group, "in", 0))
                value = _COMMIT.pack(3, base, -1, 0, NOW + base)
            records.append(Record(base + number, NOW + base, key, value))
        yield build_batch(records, base_offset=base)


def states(count: int) -> Iterator[bytes]:
    """The five records of each transaction, of 1,000 transactional ids."""
    way = (0, 1, 1, 2, 4)
    for base in range(0, count, BATCH):
        records = []
        for number in range(BATCH):
            turn, step = divmod(base + number, len(way))
            topics = [PartitionsSchema("in", [0])] if step else []
            value = TransactionLogValue(
                producer_id=turn % 1000,
                transaction_timeout_ms=60_000,
                transaction_status=way[step],
                transaction_partitions=topics,
                transaction_last_update_timestamp_ms=NOW + turn + step,
                transaction_start_timestamp_ms=NOW + turn if step else -1,
            )
            key = encode_record_key(TransactionLogKey(f"t-{turn % 1000}"))
            records.append(Record(base + number, NOW + turn, key, encode_record_value(value, 0)))
        yield build_batch(records, base_offset=base)


def transactional(count: int) -> Iterator[bytes]:
    """Transactions of 99 records and a marker; every fourth is aborted."""
    offset = 0
    for turn in range(count // 100):
        records = [Record(0, NOW + turn, b"k", b"v" * 100)] * 99
        yield build_batch(
            records, base_offset=offset, producer_id=turn % 1000, producer_epoch=0, base_sequence=0, transactional=True
        )
        marker = EndTxnMarker(commit=turn % 4 != 0, coordinator_epoch=0)
        yield build_end_txn_batch(
            marker, producer_id=turn % 1000, producer_epoch=0, timestamp=NOW + turn, base_offset=offset + 99
        )
        offset += 100


def load(address: str, topic: str, partitions: int, batches: Iterable[bytes]) -> None:
    """Send batches to the partitions of a new topic in turn."""
    with ClusterClient(address) as client:
        client.create_topics({topic: partitions})
        for number, batch in enumerate(batches):
            client.produce(topic, number % partitions, batch)


# --- jobs -------------------------------------------------------------------------------------------------------------


def timed(run: Callable[[], object]) -> Cost:
    began, before = time.perf_counter(), cpu_seconds()
    run()
    return Cost(time.perf_counter() - began, cpu_seconds() - before)


def cpu_seconds() -> float:
    """User and system time of this process, its descendants, and those of them that have ended."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)] = int(fields[1])
        ticks[int(folder.name)] = sum(int(each) for each in fields[11:15])
    return sum(ticks[pid] for pid in ticks if _descends(pid, parents)) / TICKS


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()


def consume(rows: Any) -> None:
    """Have all rows made, and throw them away."""
    rows.write.format("noop").mode("overwrite").save()


def audit_topic(spark: Any, folder: Path, count: int) -> Cost:
    write_partition(folder, "in-0", plain(count))
    place = LogPlace(path=str(folder))
    return timed(lambda: _passes(audit.run(spark, place, "in", by="key")))


def audit_pair(spark: Any, folder: Path, count: int) -> Cost:
    for name in ("in-0", "out-0"):
        write_partition(folder, name, plain(count // 2))
    place = LogPlace(path=str(folder))
    return timed(lambda: _passes(audit.run(spark, place, "in", "out")))


def _passes(verdict: audit.Verdict) -> None:
    if not verdict.passed:
        raise AssertionError(verdict.lines())


def consume_all(tables: dict[str, Any]) -> None:
    for table in tables.values():
        consume(table)


def groups_tables(spark: Any, folder: Path, count: int) -> Cost:
    write_partition(folder, "__consumer_offsets-0", commits(count // 2))
    write_partition(folder, "in-0", plain(count // 2))
    place = LogPlace(path=str(folder))
    return timed(lambda: consume_all(groups.run(spark, place)))


def transaction_tables(spark: Any, folder: Path, count: int) -> Cost:
    write_partition(folder, "__transaction_state-0", states(count // 2))
    write_partition(folder, "in-0", transactional(count // 2))
    place = LogPlace(path=str(folder))
    return timed(lambda: consume_all(transactions.run(spark, place)))


def archive_topic(spark: Any, folder: Path, count: int) -> Cost:
    write_partition(folder / "log", "in-0", plain(count))
    place = LogPlace(path=str(folder / "log"))
    return timed(lambda: archive.archive(spark, place, str(folder / "archive")))


def replay_archive(spark: Any, folder: Path, count: int) -> Cost:
    for index in range(2):
        write_partition(folder / "log", f"in-{index}", plain(count // 2))
    archive.archive(spark, LogPlace(path=str(folder / "log")), str(folder / "archive"))
    broker = Odradek(data_dir=folder / "data")
    try:
        return timed(lambda: archive.replay(spark, str(folder / "archive"), broker.address))
    finally:
        broker.stop()


def fail_some(message: Message) -> None:
    """One of ten fails."""
    if (message.key or b"").endswith(b"7"):
        raise ValueError("seven")


def retry_topic(spark: Any, folder: Path, count: int) -> Cost:
    policy = RetryPolicy()
    broker = Odradek(data_dir=folder / "data")
    try:
        with ClusterClient(broker.address) as client:
            client.create_topics(dict.fromkeys(policy.output_topics, 2))
        load(broker.address, policy.main_topic, 2, keyed(count))
        job = retry.RetryJob(
            broker.address, str(folder / "checkpoint"), fail_some, kafka={"maxOffsetsPerTrigger": "500000"}
        )
        return timed(lambda: job.start(spark, once=True).awaitTermination())
    finally:
        broker.stop()


JOBS: dict[str, Job] = {
    "audit": audit_topic,
    "audit-pair": audit_pair,
    "groups": groups_tables,
    "transactions": transaction_tables,
    "archive": archive_topic,
    "replay": replay_archive,
    "retry": retry_topic,
}


# --- rows -------------------------------------------------------------------------------------------------------------


def in_folder(run: Callable[[Path], Cost]) -> Cost:
    folder = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
    try:
        return run(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(job: Callable[[Any, Path, int], Cost], spark: Any, count: int, folder: Path) -> Cost:
    return job(spark, folder, count)


def job_row(spark: Any, name: str, sizes: list[int]) -> None:
    job = JOBS[name]
    in_folder(lambda folder: job(spark, folder, 20_000))  # compiles what Spark compiles
    costs = [in_folder(partial(_run, job, spark, size)) for size in sizes]
    shown = "".join(f"{each.seconds:8.1f} s {each.cpu_seconds:6.1f} CPU" for each in costs)
    growth = costs[-1].cpu_seconds / sizes[-1] / (costs[0].cpu_seconds / sizes[0])
    print(f"{name:14s}{shown}{sizes[-1] / costs[-1].seconds:12,.0f} /s   x {growth:.2f}", flush=True)


def scan_rows(spark: Any, count: int) -> None:
    """Ten million records of two partitions: the folder, and the broker that serves it, by both sources."""

    def run(folder: Path) -> Cost:
        broker = Odradek({"log.segment.bytes": str(256 * 1024 * 1024)}, folder)
        try:
            rng = random.Random(1)
            value = [rng.randbytes(100) for _ in range(BATCH)]
            one = build_batch([Record(n, NOW + n, b"k%06d" % n, value[n]) for n in range(BATCH)])
            load(broker.address, "in", 2, (one for _ in range(count // BATCH)))
            live = {"kafka.bootstrap.servers": broker.address, "subscribe": "in"}
            connector = spark.read.format("kafka").options(**live, includeHeaders="true")
            show("scan, the connector, broker", count, lambda: consume(connector.load()))
            source = spark.read.format("odradek")
            show("scan, odradek, broker", count, lambda: consume(source.options(**live).load()))
            broker.stop()
            files = spark.read.format("odradek").option("subscribe", "in")
            show("scan, odradek, log files", count, lambda: consume(files.load(str(folder))))
            columns = "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp"
            same = files.schema(columns + ", headers array<struct<key: string, value: binary>>")
            show("... the connector's columns", count, lambda: consume(same.load(str(folder))))
            few = spark.read.format("odradek").option("subscribe", "in").schema("partition int, offset bigint")
            show("... offsets alone", count, lambda: consume(few.load(str(folder))))
        finally:
            broker.stop()
        return Cost(0, 0)

    in_folder(run)


def show(title: str, count: int, run: Callable[[], object]) -> None:
    cost = min(timed(run) for _ in range(2))
    print(f"{title:32s}{cost.seconds:8.1f} s {cost.cpu_seconds:6.1f} CPU{count / cost.seconds:12,.0f} /s", flush=True)


@contextmanager
def session(workers: int) -> Iterator[Any]:
    """A local session with two threads, or one on a cluster of so many workers."""
    with ExitStack() as stack:
        master, config = "local[2]", {"spark.driver.memory": "2g"}
        if workers:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="odradek-bench-")))
            cluster = stack.enter_context(StandaloneCluster(folder, workers, executor_mb=1024))
            master, config = cluster.url, {**cluster.settings(), "spark.sql.shuffle.partitions": "2"}
        spark = build_session("bench", master=master, config=config)
        try:
            yield spark
        finally:
            spark.stop()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_pipeline")
    parser.add_argument("--only", help="rows by name: scan," + ",".join(JOBS))
    parser.add_argument("--millions", default="1,2,4", help="sizes of the jobs' input")
    parser.add_argument("--scan-millions", type=float, default=10)
    parser.add_argument("--workers", type=int, default=0, help="of a standalone cluster (default: a local session)")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",") if options.only else ["scan", *JOBS]
    where = f"a cluster of {options.workers} workers with one core each" if options.workers else "a local session"
    print(f"{where}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before it began", flush=True)
    with session(options.workers) as spark:
        if "scan" in chosen:
            scan_rows(spark, int(options.scan_millions * MILLION))
        for name in JOBS:
            if name in chosen:
                job_row(spark, name, [int(float(each) * MILLION) for each in options.millions.split(",")])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
