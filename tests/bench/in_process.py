"""What can only be measured inside a Python process: a further broker there, and reloading a coordinator.

Prints one JSON object. Runs as a process of its own, so that the benchmark's own memory and imports do not count.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import odradek
from tests.bench.brokers import CONFIG
from tests.bench.load_program import load_program


def further_broker_ms() -> float:
    """Median time to start a broker in a process that already had one."""
    times = []
    for _ in range(12):
        began = time.perf_counter()
        with odradek.KafkaBroker():
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[2:])


def reload_seconds(program: Path) -> tuple[float, float]:
    """Time to rebuild a partition of 100,000 commits from its log, before and after compaction."""
    with odradek.KafkaBroker(config=CONFIG) as broker:
        subprocess.run([str(program), "-b", broker.bootstrap_servers, "fill"], check=True, stdout=subprocess.DEVNULL)
        partition = _partition_of("reload-group")
        return _reload(broker, partition), _reload_compacted(broker, partition)


def _partition_of(group: str) -> int:
    from odradek.broker.coordinator.routing import partition_for

    return partition_for(group, 50)


def _reload(broker: odradek.KafkaBroker, partition: int) -> float:
    began = time.perf_counter()
    broker.reload_coordinator(partition)
    broker.group("reload-group").offsets()  # answered from the rebuilt state
    return time.perf_counter() - began


def _reload_compacted(broker: odradek.KafkaBroker, partition: int) -> float:
    log = broker.cluster.topics.get("__consumer_offsets").partitions[partition].log
    log.roll()
    log.compact(broker.clock.now_ms())
    return _reload(broker, partition)


def main() -> None:
    result: dict[str, float] = {"further_broker_ms": further_broker_ms()}
    program = load_program()
    if program is not None and "--no-reload" not in sys.argv:
        result["reload_seconds"], result["reload_compacted_seconds"] = reload_seconds(program)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
