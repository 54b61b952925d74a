"""Three workers on one queue, a partition of one topic: jobs that fail, that can't be done, and a worker that hangs.

python examples/work_queue/run.py [PICTURE.svg]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

sys.path.insert(0, str(Path(__file__).parents[1] / "rebalance"))  # its picture

from timeline import Event, Place, Story, draw

from odradek import KafkaBroker
from odradek.types import SharePartitionInfo

WORKER = Path(__file__).with_name("worker.py")
TOPIC, GROUP = "jobs", "workers"
KINDS = {3: "bad", 7: "busy once", 12: "busy", 20: "hangs once"}
"""Jobs that are not simply done, by number; of the others there are many."""
JOBS = 40
WORKERS = 3
DELIVERIES = 3  # share.delivery.count.limit
LOCK_S = 30.0  # group.share.record.lock.duration.ms
PATIENCE_S = 90.0

ENDS = {"done": "done", "rejected": "given up", "archived": "given up"}
COLOURS = {"W1": "#4477aa", "W2": "#ccbb44", "W3": "#aa3377", "done": "#bfe3c4", "given up": "#444444"}
LOCK_OUT = "out"
"""What run.py says in place of a worker whose lock is about to run out."""


class Pipe:
    """What all workers say, line by line, in one order: they write into the same pipe."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        reader, self.end = os.pipe()
        self._thread = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._thread.start()

    def _read(self, reader: int) -> None:
        with os.fdopen(reader) as lines:
            for line in lines:
                self.lines.append(line.strip())

    def close(self) -> None:
        """No worker writes any more."""
        os.close(self.end)
        self._thread.join(PATIENCE_S)


def main() -> bool:
    """Whether each job came to its end."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "work_queue.svg")
    pipe = Pipe()
    with KafkaBroker(topics={TOPIC: 1}) as broker:
        configure(broker)
        workers = [start_worker(broker, pipe) for _ in range(WORKERS)]
        broker.group(GROUP).wait(members=WORKERS, timeout=PATIENCE_S)
        fill(broker)
        until("a worker hangs and the others are through", lambda: held(broker) > 0 and others_done(broker))
        print(f"one worker hangs: {describe(broker)}")
        say_that_its_lock_runs_out(pipe)
        broker.clock.advance(LOCK_S + 1)  # its lock runs out at once, without waiting for it
        until("all jobs are through", lambda: now(broker).start_offset == JOBS)
        print(f"its lock ran out, another worker took over: {describe(broker)}")
        for worker in workers:
            worker.kill()
            worker.wait(PATIENCE_S)
    pipe.close()
    path.write_text(picture(TOPIC, pipe.lines, [worker.pid for worker in workers], DELIVERIES), encoding="utf-8")
    print(f"drawn: {path}")
    return report(pipe.lines)


def configure(broker: KafkaBroker) -> None:
    """The group begins at the start of the topic, and gives up on a job after three deliveries."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in (("share.auto.offset.reset", "earliest"), ("share.delivery.count.limit", str(DELIVERIES)))
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


def start_worker(broker: KafkaBroker, pipe: Pipe) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WORKER), broker.bootstrap_servers, TOPIC, GROUP]
    return subprocess.Popen(command, stdout=pipe.end)


def say_that_its_lock_runs_out(pipe: Pipe) -> None:
    """The worker that hangs does not say it. Said before it happens, so that it stands before what follows from it."""
    until("a worker says that it hangs", lambda: any(line.startswith("hangs") for line in list(pipe.lines)))
    (line,) = [line for line in list(pipe.lines) if line.startswith("hangs")]
    os.write(pipe.end, f"{LOCK_OUT} {line.partition(' ')[2]}\n".encode())


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
    said = [line.split() for line in lines if not line.startswith(("took", LOCK_OUT))]
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


# -- the picture: who held which job when, and what became of it


def picture(topic: str, said: Sequence[str], pids: Iterable[int], limit: int) -> str:
    """An SVG. ``said``: lines "what job delivery pid", in order; ``limit``: deliveries before a job is given up."""
    names = {str(pid): f"W{number}" for number, pid in enumerate(pids, 1)}
    story = Story("jobs: who holds each, and what becomes of it", [], axis="steps: one for each thing that is said")
    places: set[Place] = set()
    for step, line in enumerate(said, 1):
        what, number, delivery, pid = line.split()
        place = (topic, int(number))
        places.add(place)
        if what == LOCK_OUT:
            story.marks.append((step, "its lock runs out"))
        elif what == "hangs":
            story.marks.append((step, f"{names[pid]} hangs"))
            continue
        story.events += _events(step, what, place, names[pid], last=int(delivery) >= limit)
    story.places = sorted(places)
    story.end_s = len(said) + 1
    return draw([story], colours=COLOURS, nobody="nobody has it: it waits")


def _events(step: int, what: str, place: Place, worker: str, *, last: bool) -> list[Event]:
    """A job is taken, or its holder lets it go; then it has come to an end, or waits for the next one."""
    if what == "took":
        return [Event(step, worker, gained=True, places=frozenset({place}))]
    let_go = Event(step, worker, gained=False, places=frozenset({place}))
    end = ENDS.get("archived" if last and what not in ENDS else what)
    return [let_go] if end is None else [let_go, Event(step, end, gained=True, places=frozenset({place}))]


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
