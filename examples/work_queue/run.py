"""Three workers on one queue, a partition of one topic: jobs that fail, that can't be done, and a worker that hangs.

python examples/work_queue/run.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from odradek import KafkaBroker, SharePartitionInfo

WORKER = Path(__file__).with_name("worker.py")
TOPIC, GROUP = "jobs", "workers"
KINDS = {3: "bad", 7: "busy once", 12: "busy", 20: "hangs once"}
"""Jobs that are not simply done, by number; of the others there are many."""
JOBS = 40
WORKERS = 3
LOCK_S = 30.0  # group.share.record.lock.duration.ms
PATIENCE_S = 90.0


def main() -> bool:
    """Whether each job came to its end."""
    with KafkaBroker(topics={TOPIC: 1}) as broker:
        configure(broker)
        workers = [start_worker(broker) for _ in range(WORKERS)]
        broker.group(GROUP).wait_stable_sync(members=WORKERS, timeout=PATIENCE_S)
        fill(broker)
        until("a worker hangs and the others are through", lambda: held(broker) > 0 and others_done(broker))
        print(f"one worker hangs: {describe(broker)}")
        broker.clock.advance(LOCK_S + 1)  # its lock runs out at once, without waiting for it
        until("all jobs are through", lambda: now(broker).start_offset == JOBS)
        print(f"its lock ran out, another worker took over: {describe(broker)}")
        lines = [line for worker in workers for line in end_worker(worker)]
    return report(lines)


def configure(broker: KafkaBroker) -> None:
    """The group begins at the start of the topic, and gives up on a job after three deliveries."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in (("share.auto.offset.reset", "earliest"), ("share.delivery.count.limit", "3"))
    ]
    group = ConfigResource(ResourceType.GROUP, GROUP, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.incremental_alter_configs([group]).values():
        future.result(PATIENCE_S)


def fill(broker: KafkaBroker) -> None:
    """The jobs, each in a batch of its own: workers take whole batches."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
    for number in range(JOBS):
        producer.produce(TOPIC, json.dumps({"number": number, "kind": KINDS.get(number, "fine")}))
        producer.flush()


def start_worker(broker: KafkaBroker) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), broker.bootstrap_servers, TOPIC, GROUP]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def end_worker(worker: subprocess.Popen[str]) -> list[str]:
    """Kill a worker; what it said."""
    worker.kill()
    said, _ = worker.communicate(timeout=PATIENCE_S)
    return said.splitlines()


def now(broker: KafkaBroker) -> SharePartitionInfo:
    """How the queue stands."""
    return broker.group(GROUP).share_partitions.get((TOPIC, 0), SharePartitionInfo(0, 0, {}, {}, {}))


def held(broker: KafkaBroker) -> int:
    return now(broker).records.get("acquired", 0)


def others_done(broker: KafkaBroker) -> bool:
    """Whether one worker alone holds jobs, and no other job waits."""
    queue = now(broker)
    return queue.end_offset == JOBS and len(queue.held) == 1 and not queue.records.get("available")


def describe(broker: KafkaBroker) -> str:
    queue = now(broker)
    records = ", ".join(f"{count} {state}" for state, count in sorted(queue.records.items())) or "nothing in flight"
    return f"jobs before {queue.start_offset} are through; {records}"


def until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.02)


def report(lines: list[str]) -> bool:
    """What became of the jobs, as the workers said."""
    said = [line.split() for line in lines]
    ends: dict[int, str] = {}
    for number in range(JOBS):
        own = sorted((int(attempt), what) for what, job, attempt, _ in said if int(job) == number)
        ends[number] = ", ".join(f"{what} (delivery {attempt})" for attempt, what in own)
    for number, kind in KINDS.items():
        print(f"job {number:2} {kind:12} {ends[number]}")
    simple = [number for number in ends if number not in KINDS]
    done = sum(ends[number] == "done (delivery 1)" for number in simple)
    per_worker = sorted(sum(row[3] == pid for row in said) for pid in {row[3] for row in said})
    print(f"the other {len(simple)}: {done} done at the first delivery; what each worker did: {per_worker}")
    return done == len(simple)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
