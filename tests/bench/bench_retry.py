"""The retry job with so many messages that wait for their retry at once.

All fail at their first attempt, wait in files, come due together, fail again and go to the failed topic. For each of
these steps: CPU seconds of all processes (Spark, its Python workers, the broker), and the memory of the JVM and of all
Python processes of Spark, at their most. The JVM has a heap of 1 GB.

    python -m tests.bench.bench_retry [--messages 100000,1000000]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.jobs.handlers import Message
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry import RetryJob
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.session import build_session
from tests.bench.bench_pipeline import NOW, keyed, load, timed
from tests.bench.brokers import Odradek

PARTITIONS = 2
HOUR_MS = 3_600_000
POLICY = RetryPolicy("main", "dead", ("1h",), {"1h": "waiting"})
STEPS = (("fail", NOW, "waiting"), ("wait", NOW + 1, None), ("come due", NOW + HOUR_MS, "dead"))
"""What the messages do, when, and the topic that has all of them then."""


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


def fail(message: Message) -> None:
    raise ValueError("not yet")


def measure(spark: Any, count: int, folder: Path) -> None:
    broker = Odradek(data_dir=folder / "data")
    try:
        with ClusterClient(broker.address) as client:
            client.create_topics(dict.fromkeys(POLICY.output_topics, PARTITIONS))
        load(broker.address, POLICY.main_topic, PARTITIONS, keyed(count))
        for name, now_ms, target in STEPS:
            step(spark, name, broker.address, folder, now_ms)
            if target is not None:
                place, committed = LogPlace(bootstrap_servers=broker.address), {"isolation": "read_committed"}
                rows = place.read(spark, [target], columns=["offset"], **committed)
                if (found := rows.count()) != count:
                    raise AssertionError(f"{target} has {found} messages, not {count}")
    finally:
        broker.stop()


def step(spark: Any, name: str, address: str, folder: Path, now_ms: int) -> None:
    job = RetryJob(address, str(folder / "checkpoint"), fail, policy=POLICY, now_ms=lambda: now_ms)
    memory = Memory()
    with memory:
        cost = timed(lambda: job.start(spark, once=True).awaitTermination())
    mb = f"{memory.java_mb:6.0f} MB Java {memory.python_mb:6.0f} MB Python"
    print(f"  {name:10s}{cost.seconds:8.1f} s {cost.cpu_seconds:8.1f} CPU {mb}", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_retry")
    parser.add_argument("--messages", default="100000,1000000", help="how many, in runs one after the other")
    options = parser.parse_args(arguments)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before it began", flush=True)
    spark = build_session("bench", config={"spark.driver.memory": "1g"}, kafka=False)
    for count in map(int, options.messages.split(",")):
        print(f"{count} messages", flush=True)
        with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
            measure(spark, count, Path(folder))
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
