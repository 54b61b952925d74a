"""What one hostile request does to the other clients: `python -m tests.bench.bench_hostile`.

A row sends one request, or one on each of several connections at once, to a broker in a process of its own. A producer
and a consumer in another process go on meanwhile, one small request after the other. The row tells the slowest answer
that they had to wait for, the most memory that the broker took, and what the hostile client got, and when.

    [--mb 1] [--elements 990000] [--connections 1] [--only TEXT] [--tls] [--package DIR] [--worst MS] [--sample N]

`--package`: what the broker runs, as PYTHONPATH: `build/compiled` or another tree's `src`. `--worst`: rows with a
slower answer than that are a failure. `--sample N`: every N-th row. A new case is a row of `hostile_requests`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import WireConnection, WireError, request_frame
from tests.bench.brokers import Odradek
from tests.bench.hostile_requests import KNOWN, PARTITIONS, Row, rows
from tests.bench.secured_brokers import SecureOdradek

CANARY = "canary"
PATIENCE_S = 60.0
MEMORY_MB = 1024
CUT_MS = 1_000_000.0
_SECURE = ClientSecurity.parse({"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"})


class Canary:
    """Clients in a process of their own. `slowest_ms()` tells of the time since it was asked before."""

    def __init__(self, port: int, *, tls: bool) -> None:
        command = [sys.executable, "-m", "tests.bench.bench_hostile", "--canary", str(port)]
        command += ["--tls"] if tls else []
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.slowest_ms()

    def slowest_ms(self) -> float:
        """The slowest answer, one that is still missing included; CUT_MS when a client was cut."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print("how long", file=self._process.stdin, flush=True)
        return float(json.loads(self._process.stdout.readline()))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


def be_canary(port: int, *, tls: bool) -> None:
    """Produce and fetch; answer each line of the input with the slowest answer since the last one."""
    batch = build_batch([Record(0, 0, None, b"x" * 100, ())])
    produce = ProduceRequest(None, 1, 1000, [TopicProduceData(CANARY, partition_data=[PartitionProduceData(0, batch)])])
    wanted = FetchTopic(CANARY, partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=100)])
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=100, topics=[wanted])
    began: dict[int, float] = {}
    slowest = [0.0, 0.0]

    def go_on(number: int, frame: bytes) -> None:
        try:
            with _connected(port, tls=tls) as connection:
                while True:
                    began[number] = time.monotonic()
                    connection.send_frame(frame)
                    connection.receive_frame()
                    slowest[number] = max(slowest[number], time.monotonic() - began[number])
                    time.sleep(0.002)
        except WireError as error:
            print(f"a canary was cut: {error}", file=sys.stderr)
            slowest[number] = CUT_MS / 1000

    frames = [request_frame(produce, 9, 1), request_frame(fetch, 11, 1)]
    for number, frame in enumerate(frames):
        threading.Thread(target=go_on, args=(number, frame), daemon=True).start()
    for _ in sys.stdin:
        waiting = [time.monotonic() - start for start in list(began.values())]
        print(json.dumps(1000 * max([*slowest, *waiting])), flush=True)
        slowest[:] = [0.0 if each != CUT_MS / 1000 else each for each in slowest]


def _connected(port: int, *, tls: bool) -> WireConnection:
    return WireConnection("127.0.0.1", port, timeout_s=PATIENCE_S, security=_SECURE if tls else PLAIN_TEXT)


class Stage:
    """A broker and its canary, made anew when a row has ruined them."""

    def __init__(self, package: Path | None, *, tls: bool) -> None:
        self.tls = tls
        self.release = ""
        self._package = package
        self._begin()

    def _begin(self) -> None:
        if self.tls:
            self.broker: Odradek = SecureOdradek(Path(tempfile.mkdtemp(prefix="hostile-")), self._package)
        else:
            config = {"odradek.kafka.version": self.release, "message.max.bytes": "50000000"} if self.release else None
            self.broker = Odradek(config, package=self._package)
        self.port = self.broker.secure_port or self.broker.port
        with _connected(self.port, tls=self.tls) as client:
            made = CreateTopicsRequest([CreatableTopic(KNOWN, PARTITIONS, 1), CreatableTopic(CANARY, 1, 1)])
            client.receive(made, 5, client.send(made, 5))
        self.canary = Canary(self.port, tls=self.tls)

    def renew(self, release: str) -> None:
        self.release = release
        self.stop()
        self._begin()

    def stop(self) -> None:
        self.canary.stop()
        self.broker.process.kill()
        self.broker.process.wait()

    def forget_peak(self) -> None:
        Path(f"/proc/{self.broker.process.pid}/clear_refs").write_text("5")

    def memory_mb(self, field: str) -> int:
        for line in Path(f"/proc/{self.broker.process.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) // 1024
        return 0


def measure(stage: Stage, row: Row, size: int, most: int, connections: int) -> dict[str, Any]:
    """Send the row's request and look on."""
    request = row.make(size, most)
    frame = request_frame(request, row.version, 1)
    if row.before is not None:
        with _connected(stage.port, tls=stage.tls) as client:
            row.before(client)
    stage.forget_peak()
    stage.canary.slowest_ms()
    got: list[str] = []

    def send() -> None:
        try:
            with _connected(stage.port, tls=stage.tls) as client:
                client.send_frame(frame)
                got.append(f"{len(client.receive_frame())} bytes")
        except WireError as error:
            got.append("cut" if "closed" in str(error) or "reset" in str(error).lower() else str(error)[-30:])

    began = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    time.sleep(0.05)
    return {
        "row": f"{row.name} v{row.version}",
        "sent": len(frame),
        "slowest_ms": round(stage.canary.slowest_ms()),
        "peak_mb": stage.memory_mb("VmHWM"),
        "after_mb": stage.memory_mb("VmRSS"),
        "seconds": round(seconds, 2),
        "got": got[0],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=1)
    parser.add_argument("--elements", type=int, default=990_000)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--package", type=Path)
    parser.add_argument("--worst", type=float, default=1000)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--canary", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.canary is not None:
        be_canary(options.canary, tls=options.tls)
        return 0
    wanted = [row for row in rows() if options.only in f"{row.name} v{row.version}"][:: options.sample]
    if options.tls:
        wanted = [row for row in wanted if not row.release]
    stage = Stage(options.package, tls=options.tls)
    failed = 0
    print(f"{'row':70} {'sent':>9} {'slowest':>9} {'peak':>8} {'after':>8} {'seconds':>8}  got", flush=True)
    try:
        for row in wanted:
            if row.release != stage.release or row.before is not None:
                stage.renew(row.release)
            found = measure(stage, row, int(options.mb * 1e6), options.elements, options.connections)
            bad = found["slowest_ms"] > options.worst or found["peak_mb"] > MEMORY_MB
            failed += bad
            print(
                f"{found['row']:70} {found['sent']:9} {found['slowest_ms']:6} ms {found['peak_mb']:5} MB "
                f"{found['after_mb']:5} MB {found['seconds']:8}  {found['got']}{'  <--' if bad else ''}",
                flush=True,
            )
            if bad or found["after_mb"] > MEMORY_MB // 2:
                stage.renew(row.release)
    finally:
        stage.stop()
    print(f"{len(wanted)} rows, {failed} over {options.worst:.0f} ms or {MEMORY_MB} MB")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
