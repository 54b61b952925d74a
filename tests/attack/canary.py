"""A client that does nothing wrong: it produces and fetches all the time, on two connections, and notes how long its
slowest answer took. It is a process of its own, so that only the broker's time counts.

    python -m tests.attack.canary PORT

prints a line when it begins, and for each line that it reads the slowest answer since the last one, in seconds.
"""

from __future__ import annotations

import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.fakes.wire_client import WireClient

TOPIC = "canary"
_PRODUCE, _FETCH = 9, 11
_PAUSE_S = 0.01


class Canary:
    """The process with the client. Leaving the context ends it."""

    def __init__(self, port: int) -> None:
        command = [sys.executable, "-m", __name__, str(port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the canary died")
        return line

    def slowest_s(self) -> float:
        """The slowest answer since the last call, in seconds. AssertionError if an answer was wrong."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._line())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


def sing(port: int) -> None:
    """Produce and fetch until the input ends."""
    with WireClient("127.0.0.1", port) as producer, WireClient("127.0.0.1", port) as consumer:
        topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
        producer.request(CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
        offset = 0
        slowest = 0.0
        while True:
            while offset and select.select([sys.stdin], [], [], _PAUSE_S)[0]:
                if not sys.stdin.readline():
                    return
                print(f"{slowest:.4f}", flush=True)
                slowest = 0.0
            for client, request, version in (
                (producer, _produce(offset), _PRODUCE),
                (consumer, _fetch(offset), _FETCH),
            ):
                began = time.monotonic()
                answer = client.request(request, version)
                slowest = max(slowest, time.monotonic() - began)
                (partition,) = (
                    answer.responses[0].partitions if version == _FETCH else answer.responses[0].partition_responses
                )
                assert partition.error_code == ErrorCode.NONE, answer
                assert version == _PRODUCE or partition.records, answer
            if not offset:
                print("begins", flush=True)  # the broker has imported what it takes
            offset += 1


def _produce(number: int) -> Any:
    now_ms = time.time_ns() // 1_000_000  # an older record is deleted by time, maybe before it is fetched
    batch = build_batch([Record(0, now_ms, None, b"%d" % number)])
    return ProduceRequest(None, 1, 30_000, [TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch)])])


def _fetch(offset: int) -> Any:
    part = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000_000)
    return FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic=TOPIC, partitions=[part])])


if __name__ == "__main__":
    sing(int(sys.argv[1]))
