"""Cost of the partition log in memory, without sockets: `python tests/bench/bench_log.py [rows...]`.

Prints one line per row: what, microseconds per operation (best of the rounds), and what that is in MB/s.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog

NOW = 1_700_000_000_000
PATTERN = bytes(range(97))


def new_log(**config: object) -> PartitionLog:
    return PartitionLog("bench", 0, LogConfig(**config), MemoryBackend(), now_ms=NOW)  # type: ignore[arg-type]


def batch(count: int, size: int, codec: Codec = Codec.NONE, varied: bool = False) -> memoryview:
    sizes = [size - (i * 7919) % 64 if varied else size for i in range(count)]
    records = [Record(i, NOW + i, b"key-%06d" % i, (PATTERN * (n // 97 + 1))[:n]) for i, n in enumerate(sizes)]
    return memoryview(build_batch(records, codec=codec))


def best(run: Callable[[], object], count: int, rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def report(what: str, seconds: float, size: int = 0) -> None:
    rate = f"{size / seconds / 1e6:10.0f} MB/s" if size else ""
    print(f"{what:58s} {seconds * 1e6:9.2f} us {rate}", flush=True)


def appends() -> None:
    for what, data, count in (
        ("append 1 record of 100 B", batch(1, 100), 20_000),
        ("append 150 records of 100 B", batch(150, 100), 1_000),
        ("append 150 records of 37-100 B", batch(150, 100, varied=True), 1_000),
        ("append 900 records of 1000 B", batch(900, 970), 100),
        ("append 900 records of 936-1000 B", batch(900, 970, varied=True), 100),
        ("append 900 records of 1000 B, lz4", batch(900, 970, Codec.LZ4), 20),
    ):
        log = new_log(retention_bytes=64 << 20)
        report(what, best(lambda log=log, data=data: log.append(data, now_ms=NOW), count), len(data))  # type: ignore[misc]


def idempotent() -> None:
    log = new_log(retention_bytes=64 << 20)
    rounds = 5_000
    for kind in ("idempotent", "transactional"):
        batches = [
            memoryview(
                build_batch(
                    [Record(0, NOW, b"k", bytes(100))],
                    producer_id=1 if kind == "idempotent" else 2,
                    producer_epoch=0,
                    base_sequence=i,
                    transactional=kind == "transactional",
                )
            )
            for i in range(rounds)
        ]
        start = time.perf_counter()
        for data in batches:
            log.append(data, now_ms=NOW)
        report(f"append 1 record of 100 B, {kind}", (time.perf_counter() - start) / rounds)


def reads() -> None:
    log = new_log()
    one = batch(1, 100)
    for _ in range(200_000):
        log.append(one, now_ms=NOW)
    end = log.log_end_offset
    report("read at the tail, 1 record", best(lambda: log.read(end - 1, max_bytes=1 << 20, up_to_offset=end), 5_000))
    middle = best(lambda: log.read(end // 2, max_bytes=1 << 20, up_to_offset=end), 2_000)
    report("read 1 MiB of 1-record batches from the middle", middle, 1 << 20)
    big = new_log()
    data = batch(900, 970)
    for _ in range(20):
        big.append(data, now_ms=NOW)
    end_big = big.log_end_offset
    four = best(lambda: big.read(900, max_bytes=4 << 20, up_to_offset=end_big), 5_000)
    report("read 4 MB of 900 KB batches", four, len(data) * 4)


def flat() -> None:
    """Append and read cost as the log grows to ten million records."""
    log = new_log()
    one = batch(1, 10)
    for goal in (10_000, 100_000, 1_000_000, 10_000_000):
        while log.log_end_offset < goal - 10_000:
            log.append(one, now_ms=NOW)
        seconds = best(lambda: log.append(one, now_ms=NOW), 2_000, 5)
        end = log.log_end_offset
        offsets = iter([(i * 7_368_787) % end for i in range(10_000)])
        look = best(lambda: log.read(next(offsets), max_bytes=1 << 16, up_to_offset=end), 1_000, 5)  # noqa: B023
        print(f"{goal:>10,} records: append {seconds * 1e6:.2f} us, random 64 KiB read {look * 1e6:.2f} us", flush=True)


def retained() -> None:
    """Memory after 1 GiB into a topic with retention.bytes of 64 MiB."""
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    log = new_log(retention_bytes=64 << 20)
    data = batch(900, 970)
    for _ in range((1 << 30) // len(data)):
        log.append(data, now_ms=NOW)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"1 GiB in, {log.size_bytes >> 20} MiB kept; peak memory {(after - before) >> 10} MiB above the start")


ROWS = {"appends": appends, "idempotent": idempotent, "reads": reads, "retained": retained, "flat": flat}

if __name__ == "__main__":
    for row in sys.argv[1:] or ROWS:
        ROWS[row]()
