"""What the transcript costs: CPU time of the broker's thread for a request, with it and without it.

``python -m tests.bench.bench_transcript`` prints a line for each request and number of connections. Two brokers, one
with a transcript and one without, take turns in slices of some hundred requests; a pair of slices gives one ratio, and
the median of the ratios is told, with that of two brokers without a transcript beside it. CPU time does not count what
other programs do, and what they do to caches meets both sides of a pair.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import odradek
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import request_frame

TOPIC = "orders"
_SLICE = 500
_PAIRS = 31
_ROUNDS = 5  # with new brokers each: where their objects lie in memory makes a difference too
_WARM = 11_000  # so that the transcript is full: the oldest request makes room for the newest

_LOAD = """
import socket, struct, sys
def answer(one):
    (size,) = struct.unpack(">i", exactly(one, 4))
    exactly(one, size)
def exactly(one, count):
    data = one.recv(count)
    while len(data) < count:
        data += one.recv(count - len(data))
    return data
port, connections, frame = int(sys.argv[1]), int(sys.argv[2]), bytes.fromhex(sys.argv[3])
all = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
for line in sys.stdin:
    for _ in range(int(line) // connections):
        for one in all:
            one.sendall(frame)
        for one in all:
            answer(one)
    print("done", flush=True)
"""


def frames() -> dict[str, bytes]:
    """The requests that are measured, as they go over the wire."""
    batch = build_batch([Record(0, 0, None, b"x" * 100, ())])
    produce = ProduceRequest(None, 1, 1000, [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])])
    wanted = FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=100)])
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=100, topics=[wanted])
    return {
        "ApiVersions": request_frame(ApiVersionsRequest("bench", "1"), 3, 1, "bench"),
        "Produce": request_frame(produce, 9, 1, "bench"),
        "Fetch": request_frame(fetch, 12, 1, "bench"),
    }


class Side:
    """A broker, and a program that sends it requests."""

    def __init__(self, broker: odradek.KafkaBroker, load: subprocess.Popen[str]) -> None:
        self._broker = broker
        self._load = load

    def cpu_us(self, requests: int) -> float:
        """CPU time of the broker's thread for each of so many requests, in microseconds."""
        assert self._load.stdin is not None
        assert self._load.stdout is not None
        before = self._broker._look(time.thread_time)
        self._load.stdin.write(f"{requests}\n")
        self._load.stdin.flush()
        if self._load.stdout.readline() != "done\n":
            raise RuntimeError("the load has ended")
        return (self._broker._look(time.thread_time) - before) * 1e6 / requests


@contextmanager
def side(frame: bytes, connections: int, *, transcript: bool) -> Iterator[Side]:
    """A broker under load, warm."""
    with odradek.KafkaBroker(topics={TOPIC: 1}, transcript=transcript) as broker:
        broker.produce(TOPIC, "first")
        port = broker.bootstrap_servers.rpartition(":")[2]
        words = [sys.executable, "-c", _LOAD, port, str(connections), frame.hex()]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
            one = Side(broker, load)
            one.cpu_us(_WARM)
            yield one


def compare(frame: bytes, connections: int, first: bool, second: bool) -> tuple[float, float]:
    """CPU time for a request of a broker with or without a transcript; and by how many percent another one differs."""
    costs, ratios = [], []
    for _ in range(_ROUNDS):
        with side(frame, connections, transcript=first) as one, side(frame, connections, transcript=second) as other:
            for number in range(_PAIRS):
                turns = (one, other) if number % 2 else (other, one)
                cost = {turn: turn.cpu_us(_SLICE) for turn in turns}
                costs.append(cost[one])
                ratios.append(cost[other] / cost[one])
    return statistics.median(costs), (statistics.median(ratios) - 1) * 100


def main() -> None:
    for name, frame in frames().items():
        for connections in (1, 50):
            cost, more = compare(frame, connections, False, True)
            _, noise = compare(frame, connections, False, False)
            told = f"{cost:6.1f} us  transcript {more:+.1f} %  noise {noise:+.1f} %"
            print(f"{name:<12} {connections:>3} connections  {told}")


if __name__ == "__main__":
    main()
