"""What metadata costs as it grows: one more topic, in memory and on disk, and a restart with ten thousand of them.

Prints one JSON object: microseconds for a topic (median of each 100 beside 0 and beside 10,000 others), seconds for a
restart. Runs as a process of its own: ``python -m tests.bench.bench_metadata``.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

import trio

from odradek.broker.cluster import Cluster

COUNT = 10_000
_SAMPLE = 100


def create(cluster: Cluster, prefix: str, count: int) -> float:
    """Create topics; the median time of one, in microseconds."""
    times = []
    for number in range(count):
        began = time.perf_counter()
        cluster.create_topic(f"{prefix}{number}")
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def one_more_topic(cluster: Cluster) -> tuple[float, float]:
    """Microseconds for a topic beside no others, and beside 10,000."""
    first = create(cluster, "first-", _SAMPLE)
    create(cluster, "many-", COUNT)
    return first, create(cluster, "more-", _SAMPLE)


async def on_disk(directory: Path) -> tuple[float, float, float]:
    """The same on disk, and the seconds of a restart."""
    cluster = Cluster(data_dir=directory)
    async with cluster.run():
        first, more = one_more_topic(cluster)
    began = time.perf_counter()
    async with Cluster(data_dir=directory).run():
        restart = time.perf_counter() - began
    return first, more, restart


def main() -> None:
    first, more = one_more_topic(Cluster())
    with tempfile.TemporaryDirectory() as directory:
        disk_first, disk_more, restart = trio.run(on_disk, Path(directory))
    figures = {
        "topic_us": first,
        "topic_us_at_10000": more,
        "disk_topic_us": disk_first,
        "disk_topic_us_at_10000": disk_more,
        "restart_seconds_with_10000": restart,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
