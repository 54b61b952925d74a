"""How long others wait while one client makes 10,000 topics, fills them and looks at them.

Prints the longest steps of the broker's thread by phase: a request, a collection of garbage, anything else between two
waits. A step is measured in CPU time, so other work of the machine makes it longer, but not by waiting.

Run: `python -m tests.bench.bench_pauses [--topics 10000] [--records 100000]`.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections import defaultdict

from odradek.broker.fast.collector import lasting_imports

with lasting_imports():
    import trio

    from odradek.broker.clock import BrokerClock
    from odradek.broker.cluster import Cluster

SHOWN_MS = 4.0
"""Shorter steps are not counted."""
_A_REQUEST = 200


class Steps(trio.abc.Instrument):
    """Notes steps that take long, by phase and kind: a task's name, or `garbage`."""

    def __init__(self) -> None:
        self.phase = "start"
        self.long: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._began = self._collection = 0.0
        gc.callbacks.append(self._collected)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._note(task.name.rpartition(".")[2], self._began)

    def _collected(self, phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            self._collection = time.thread_time()
        else:
            self._note("garbage", self._collection)

    def _note(self, kind: str, began: float) -> None:
        took_ms = (time.thread_time() - began) * 1000
        if took_ms >= SHOWN_MS:
            self.long[self.phase, kind].append(took_ms)


def load(address: str, topics: int, records: int) -> None:
    """The client. It prints each phase when it begins."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": address})
    names = [f"topic-{number}" for number in range(topics)]
    print("create", flush=True)
    for at in range(0, topics, _A_REQUEST):
        created = admin.create_topics([NewTopic(name, 1, 1) for name in names[at : at + _A_REQUEST]])
        for future in created.values():
            future.result(60)
    print("produce", flush=True)
    producer = Producer({"bootstrap.servers": address, "queue.buffering.max.messages": records})
    for number in range(records):
        producer.produce(names[number % topics], bytes(100))
        producer.poll(0)
    assert producer.flush(300) == 0
    print("look", flush=True)
    for _ in range(5):
        assert len(admin.list_topics(timeout=60).topics) >= topics


async def watch(steps: Steps, clock: BrokerClock, options: argparse.Namespace) -> None:
    cluster = Cluster(clock=clock, config={"odradek.fast": "false"})  # the poller answers many requests in one step
    async with cluster.run():
        await cluster.listen("127.0.0.1", 0)
        address = f"127.0.0.1:{cluster.nodes[1].port}"
        arguments = ["--load", address, "--topics", str(options.topics), "--records", str(options.records)]
        command = [sys.executable, "-m", "tests.bench.bench_pauses", *arguments]
        client = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE)
        assert client.stdout is not None
        try:
            async for text in client.stdout:
                steps.phase = text.decode().strip() or steps.phase
            assert await client.wait() == 0
        finally:
            client.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--load", metavar="ADDRESS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        load(options.load, options.topics, options.records)
        return
    steps, clock = Steps(), BrokerClock()
    trio.run(watch, steps, clock, options, clock=clock, instruments=[steps])
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print(f"{'phase':<10}{'step':<28}{'longer than 4 ms':>17}{'longest, ms':>13}")
    for (phase, kind), took in sorted(steps.long.items(), key=lambda entry: -max(entry[1])):
        print(f"{phase:<10}{kind:<28}{len(took):>17}{max(took):>13.1f}")


if __name__ == "__main__":
    main()
