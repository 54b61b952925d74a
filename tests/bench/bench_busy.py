"""A broker in the process of a test that computes: how long another process waits for its answers.

``python -m tests.bench.bench_busy`` prints p50 and p99 of the time from a request to its answer, one at a time on one
connection, for a broker in a thread and for one in a process of its own (``process=True``), while the test's thread
sleeps and while it runs a loop of pure Python. Threads of one interpreter take turns: one that computes gives way when
another has asked for ``sys.getswitchinterval()``, 5 ms unless changed, so the loop is measured with 1 ms too.

A client that asks again at once often finds the broker's thread still awake, one that pauses finds it asleep: both are
measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import odradek
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import request_frame
from tests.bench.machine import OtherWork, machine

TOPIC = "orders"
PAUSES_MS = (0, 2)
_WARM = 100
_CLIENT = """
import json, socket, struct, sys, time
def exactly(one, count):
    data = one.recv(count)
    while len(data) < count:
        data += one.recv(count - len(data))
    return data
port, warm, count, pause_ms, frame = *map(int, sys.argv[1:5]), bytes.fromhex(sys.argv[5])
one = socket.create_connection(("127.0.0.1", port))
one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
taken = []
for _ in range(warm + count):
    time.sleep(pause_ms / 1000) if pause_ms else None
    began = time.perf_counter_ns()
    one.sendall(frame)
    exactly(one, *struct.unpack(">i", exactly(one, 4)))
    taken.append(time.perf_counter_ns() - began)
print(json.dumps(taken[warm:]))
"""


class Way(NamedTuple):
    """How a row is measured; ``interval_ms``: the interpreter's switch interval."""

    process: bool
    busy: bool
    interval_ms: int

    def title(self) -> str:
        place = "a process of its own" if self.process else "a thread"
        return f"{place}, test {'computes' if self.busy else 'waits'}, switch interval {self.interval_ms} ms"


WAYS = (
    Way(process=False, busy=False, interval_ms=5),
    Way(process=False, busy=True, interval_ms=5),
    Way(process=False, busy=True, interval_ms=1),
    Way(process=True, busy=False, interval_ms=5),
    Way(process=True, busy=True, interval_ms=5),
)


def frames() -> dict[str, bytes]:
    """The requests that are measured, as they go over the wire."""
    batch = build_batch([Record(0, 0, None, b"x" * 100, ())])
    produce = ProduceRequest(None, 1, 1000, [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])])
    wanted = FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=100)])
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=100, topics=[wanted])
    return {"Produce": request_frame(produce, 9, 1, "bench"), "Fetch": request_frame(fetch, 12, 1, "bench")}


@contextmanager
def switch_interval(milliseconds: int) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(milliseconds / 1000)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def latencies_us(port: int, frame: bytes, count: int, pause_ms: int, *, busy: bool) -> list[float]:
    """The time of each request of a client in another process, while this thread waits or computes."""
    command = [sys.executable, "-c", _CLIENT, str(port), str(_WARM), str(count), str(pause_ms), frame.hex()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        answer: list[bytes] = []

        def read() -> None:
            assert client.stdout is not None
            answer.append(client.stdout.read())

        reader = threading.Thread(target=read)
        reader.start()
        while busy and not answer:
            compute()
        reader.join()
    return [taken / 1000 for taken in json.loads(answer[0])]


def compute() -> int:
    """Some milliseconds of pure Python, which never gives way by itself."""
    value = 1
    for number in range(50_000):
        value = (value * 31 + number) % 1_000_003
    return value


def row(way: Way, count: int) -> dict[tuple[str, int], list[float]]:
    """The latencies by request and pause."""
    with switch_interval(way.interval_ms), odradek.KafkaBroker(topics={TOPIC: 1}, process=way.process) as broker:
        port = int(broker.bootstrap_servers.rpartition(":")[2])
        return {
            (name, pause_ms): latencies_us(port, frame, count, pause_ms, busy=way.busy)
            for name, frame in frames().items()
            for pause_ms in PAUSES_MS
        }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_busy")
    parser.add_argument("--requests", type=int, default=1000, help="in each pass")
    parser.add_argument("--passes", type=int, default=3, help="of all rows, in turns; the figures are of all passes")
    options = parser.parse_args(arguments)
    other = OtherWork()
    found: dict[Way, dict[tuple[str, int], list[float]]] = {way: {} for way in WAYS}
    for _ in range(options.passes):
        for way in WAYS:
            for what, taken in row(way, options.requests).items():
                found[way].setdefault(what, []).extend(taken)
    print(f"{machine()}; {other.share():.0%} of it was busy with other work")
    print(f"{'p50 and p99 in us':60s}" + "".join(f"{name}, pause {ms} ms".rjust(24) for name, ms in found[WAYS[0]]))
    for way, latencies in found.items():
        cuts = [statistics.quantiles(taken, n=100) for taken in latencies.values()]
        print(f"{way.title():60s}" + "".join(f"{each[49]:12,.0f}{each[98]:12,.0f}" for each in cuts))


if __name__ == "__main__":
    main(sys.argv[1:])
