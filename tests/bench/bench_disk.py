"""The log on disk beside a real Kafka: ``python -m tests.bench.bench_disk [--without-kafka]``.

Append with and without waiting for the disk, fetch warm and cold, the restart of 1,000 partitions with 1 GiB,
and the cost of append and fetch as a log grows to 10 million records.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.record_batch import Record, build_batch, iter_batches
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog
from odradek.wire_client import WireClient
from tests.bench.brokers import Kafka, Odradek, Side
from tests.bench.load_program import load_program, run_case

NOW = 1_700_000_000_000
ALWAYS = {"Kafka": {"log.flush.interval.messages": "1"}, "odradek": {"odradek.flush": "always"}}
PARTITIONS = 1000
FILL_MB = 1024


def sides(config: Mapping[str, Mapping[str, str]], with_kafka: bool) -> Iterator[tuple[Side, Path]]:
    """Each broker by itself, with its log directory."""
    with tempfile.TemporaryDirectory(prefix="odradek-bench-", ignore_cleanup_errors=True) as folder:
        ours = Odradek(config.get("odradek"), Path(folder) / "data")
        yield ours, Path(folder) / "data"
        ours.stop()
    if with_kafka:
        theirs = Kafka(config.get("Kafka"))
        yield theirs, theirs.node.log_dir
        theirs.stop()


def load_rows(with_kafka: bool) -> None:
    program = load_program()
    if program is None:
        print("no Go: the rows that need the load program are left out")
        return
    for title, config, case in (
        ("append 900 KB batches, no flush", {}, "bulk-in"),
        ("append 900 KB batches, flushed before the answer", ALWAYS, "bulk-in"),
        ("one record, 50 connections, flushed before the answer", ALWAYS, "produce-50"),
        ("fetch 4 MB, warm", {}, "bulk-out"),
    ):
        for side, _ in sides(config, with_kafka):
            measured = run_case(program, case, side, 3, 2)
            print(
                f"{title:58s} {side.name:8s} {measured.per_second:10.0f} /s {measured.megabytes_per_second:8.1f} MB/s",
                flush=True,
            )


def restart_rows(with_kafka: bool) -> None:
    for side, directory in sides({}, with_kafka):
        fill(side.address)
        side.stop() if isinstance(side, Odradek) else side.node.halt()  # type: ignore[attr-defined]
        forget_pages(directory)
        side.launch()  # type: ignore[attr-defined]
        print(f"{'restart, 1,000 partitions with 1 GiB':58s} {side.name:8s} {side.start_seconds:10.2f} s", flush=True)
        began = time.perf_counter()
        size = read_everything(side.address)
        seconds = time.perf_counter() - began
        print(
            f"{'fetch 1 GiB from 1,000 partitions, cold':58s} {side.name:8s} {size / seconds / 1e6:10.0f} MB/s",
            flush=True,
        )


def fill(address: str) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic("restart", PARTITIONS, 1)])["restart"].result(60)
    producer = Producer(
        {"bootstrap.servers": address, "linger.ms": 50, "batch.size": 900_000, "queue.buffering.max.kbytes": 200_000}
    )
    value = os.urandom(10_000)
    for index in range(PARTITIONS):
        for _ in range(FILL_MB * 1024 * 1024 // PARTITIONS // len(value)):
            while True:
                try:
                    producer.produce("restart", value, partition=index)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.poll(0)
    producer.flush(120)


def forget_pages(directory: Path) -> None:
    """Drop the files' pages from the page cache, so that the next read comes from the disk."""
    for path in directory.rglob("*.log"):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def read_everything(address: str) -> int:
    host, _, port = address.partition(":")
    size = 0
    with WireClient(host, int(port)) as client:
        for index in range(PARTITIONS):
            offset = 0
            while True:
                asked = FetchPartition(index, fetch_offset=offset, partition_max_bytes=4 << 20)
                request = FetchRequest(
                    max_wait_ms=0, min_bytes=0, max_bytes=4 << 20, topics=[FetchTopic("restart", partitions=[asked])]
                )
                records = client.request(request, max_version=11).responses[0].partitions[0].records
                if not records:
                    break
                size += len(records)
                offset = list(iter_batches(records))[-1].next_offset
    return size


def growth_rows() -> None:
    """In process: what an append and a read cost when the log holds so many records."""
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
        backend = DiskBackend(folder, now_ms=lambda: NOW)
        log = PartitionLog("grow", 0, LogConfig(), backend, now_ms=NOW)
        one = build_batch([Record(0, NOW, b"key", b"v" * 100)])
        many = build_batch([Record(i, NOW, b"key", b"v" * 100) for i in range(1000)])
        for target in (10_000, 100_000, 1_000_000, 10_000_000):
            while log.log_end_offset < target:
                log.append(many, now_ms=NOW)
            step = max(1, log.log_end_offset // 997)
            append = best(lambda: log.append(one, now_ms=NOW))
            read = best(read_at(log, range(0, log.log_end_offset, step)), 100)
            print(
                f"{f'log of {target:,} records':58s} append {append:6.1f} us   read anywhere {read:6.1f} us", flush=True
            )
        log.close()
        backend.close()


def read_at(log: PartitionLog, offsets: range) -> Callable[[], object]:
    """A call that reads up to 1 MiB at the next of the offsets."""
    following = iter(offsets)
    return lambda: log.read(next(following), max_bytes=1 << 20, up_to_offset=log.log_end_offset)


def best(run: Callable[[], object], count: int = 2000, rounds: int = 5) -> float:
    """Microseconds an operation, the best of the rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - began) / count)
    return min(times) * 1e6


if __name__ == "__main__":
    real = "--without-kafka" not in sys.argv
    growth_rows()
    load_rows(real)
    restart_rows(real)
