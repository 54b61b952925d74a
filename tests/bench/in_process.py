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
from typing import Any

import odradek
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest
from tests.bench.brokers import CONFIG
from tests.bench.load_program import load_program
from tests.fakes.wire_client import WireClient
from tests.storage.logs import compact


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
    from odradek.broker.coordinator.service import partition_for

    return partition_for(group, 50)


def _reload(broker: odradek.KafkaBroker, partition: int) -> float:
    """Seconds from the order to reload until the coordinator answers with all 100 offsets."""
    request = OffsetFetchRequest(group_id="reload-group", topics=None)
    with WireClient.at(broker.bootstrap_servers) as client:
        began = time.perf_counter()
        broker.reload_coordinator(partition)
        while True:
            answer = client.request(request, 5)
            if answer.error_code == ErrorCode.NONE:
                break
            if answer.error_code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                raise RuntimeError(f"offsets were answered with error {answer.error_code}")
        took = time.perf_counter() - began
    (topic,) = answer.topics
    assert {each.committed_offset for each in topic.partitions} == {999}
    return took


def _reload_compacted(broker: odradek.KafkaBroker, partition: int) -> float:
    now_ms = broker.clock.now_ms()
    broker._call(lambda: _compact(broker.cluster, partition, now_ms))
    return _reload(broker, partition)


def _compact(cluster: Any, partition: int, now_ms: int) -> None:
    log = cluster.topics.get("__consumer_offsets").partitions[partition].log
    log.roll(now_ms)
    if compact(log, now_ms, force=True) is None:
        raise RuntimeError("nothing was compacted")


def main() -> None:
    result: dict[str, float] = {"further_broker_ms": further_broker_ms()}
    program = load_program()
    if program is not None and "--no-reload" not in sys.argv:
        result["reload_seconds"], result["reload_compacted_seconds"] = reload_seconds(program)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
