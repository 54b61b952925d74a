"""Attacks on what a broker stands on: its log directory, its file descriptors, its disk, its life.

Each has a broker of its own, with a canary where a client is to go on meanwhile.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.attack.canary import Canary
from tests.attack.victim import Victim
from tests.broker.controller.test_hostile_directories import CASES, KINDS, fill_directory, picture
from tests.crash.harness import run
from tests.fakes.wire_client import WireClient

_STARTS_WITHIN_S = 10.0
_FEW_FILES = 150
_SMALL_DISK = 64 << 20
_KILLS_A_ROUND = 4


def directories(victim: Victim, seed: int, until: float, count: int) -> str:
    """Start a broker in log directories in which a link, a pipe or something huge is in the place of a file."""
    rng = random.Random(seed)
    became: Counter[str] = Counter()
    slowest_s, most = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        prepared, outside = Path(name) / "prepared", Path(name) / "outside"
        fill_directory(prepared, outside)
        before = picture(outside)
        while time.monotonic() < until and not 0 < count <= became.total():
            kind, place = rng.choice(CASES)
            directory = shutil.copytree(prepared, Path(name) / "data")
            path = directory / place
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            KINDS[kind](path, outside)
            began = time.monotonic()
            try:
                with Victim(data_dir=directory) as started:
                    slowest_s = max(slowest_s, time.monotonic() - began)
                    with Canary(started.ports["PLAIN"]) as canary:
                        canary.slowest_s()
                    most = max(most, started.memory("VmHWM"))
                    faults = started.faults()
                    assert not faults, f"{kind} as {place}: {faults}"
                became["started"] += 1
            except RuntimeError as refused:
                if "Traceback" in str(refused):
                    raise
                became["refused"] += 1
            assert picture(outside) == before, f"{kind} as {place} changed what lies outside"
            shutil.rmtree(directory)
            for left in Path(name).glob("data.*"):
                left.unlink() if left.is_symlink() or not left.is_dir() else shutil.rmtree(left)
    assert slowest_s < _STARTS_WITHIN_S, f"a start took {slowest_s:.1f} s"
    told = f"{became['started']} brokers started, {became['refused']} refused, nothing outside changed"
    return f"{told}; slowest start {slowest_s:.1f} s, at most {most >> 20} MB"


def descriptors(victim: Victim, seed: int, until: float, count: int) -> str:
    """Take a broker's last file descriptors with connections and partitions, and give them back."""
    rounds = refused = 0
    with Victim() as small, Canary(small.ports["PLAIN"]) as canary:
        small.limit_files(small.open_files() + _FEW_FILES)
        while time.monotonic() < until and not 0 < count <= rounds:
            with ExitStack() as crowd:
                for _ in range(2 * _FEW_FILES):
                    crowd.enter_context(socket.create_connection(("127.0.0.1", small.ports["PLAIN"])))
                slowest_s = canary.slowest_s()  # its connections go on
            with WireClient("127.0.0.1", small.ports["PLAIN"]) as client:
                topic = CreatableTopic(name=f"many-{rounds}", num_partitions=_FEW_FILES, replication_factor=1)
                client.request(CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
                answers = [_produce(client, topic.name, number, b"x") for number in range(_FEW_FILES)]
                refused += sum(code != ErrorCode.NONE for code in answers)
                _delete(client, topic.name)
            rounds += 1
        faults = small.faults()
        assert not faults, faults
        return f"{rounds} rounds: {refused} appends refused; the canary waited {slowest_s * 1000:.0f} ms at last"


def disk(victim: Victim, seed: int, until: float, count: int) -> str:
    """Fill a small disk, free it, and write again."""
    if os.geteuid() or shutil.which("mount") is None:
        return "not tried: a small disk takes root"
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_SMALL_DISK}", "small", name], check=False).returncode:
            return "not tried: no disk can be mounted"
        try:
            return _fill(Path(name) / "data", until, count)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


def _fill(data_dir: Path, until: float, count: int) -> str:
    rounds = written = 0
    config = {"log.segment.delete.delay.ms": "0", "log.retention.bytes": "-1"}
    with Victim(config, data_dir) as small, WireClient("127.0.0.1", small.ports["PLAIN"]) as client:
        while time.monotonic() < until and not 0 < count <= rounds:
            name = f"big-{rounds}"
            client.request(CreateTopicsRequest([CreatableTopic(name, num_partitions=1, replication_factor=1)], 30_000))
            appended = 0
            while _produce(client, name, 0, os.urandom(900_000)) == ErrorCode.NONE:
                appended += 1
                assert appended * 900_000 < _SMALL_DISK, "the disk is never full"
            assert appended, "the disk was free again, and nothing could be written"
            written += appended
            _delete(client, name)
            rounds += 1
        faults = small.faults()
        assert not faults, faults
    with Victim(config, data_dir) as again:
        assert not again.faults(), again.faults()
    return f"{rounds} times full, {written} appends, started again"


def kills(victim: Victim, seed: int, until: float, count: int) -> str:
    """Kill a durable broker under load again and again; all that clients were told is there afterwards."""
    told: Counter[str] = Counter()
    while time.monotonic() < until and not 0 < count <= told["rounds"]:
        with tempfile.TemporaryDirectory(prefix="attack-") as name:
            told.update(run(Path(name) / "data", _KILLS_A_ROUND, seed + told["rounds"]))
    return f"{told['rounds']} kills, {told['acknowledged']:,} records acknowledged, none lost, none twice"


def _produce(client: WireClient, topic: str, partition: int, value: bytes) -> int:
    batch = build_batch([Record(0, 0, None, value)])
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])
    answer = client.request(ProduceRequest(None, 1, 30_000, [data]), 9)
    code: int = answer.responses[0].partition_responses[0].error_code
    return code


def _delete(client: WireClient, topic: str) -> None:
    client.request(DeleteTopicsRequest([DeleteTopicState(topic)], timeout_ms=30_000))
