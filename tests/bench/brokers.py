"""The brokers of a benchmark, as processes whose memory and CPU time can be read."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from odradek.broker.coordinator.service import partition_for
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.bench.compiled_form import compiled_package
from tests.bench.go_program import go_program
from tests.bench.table import COMPILED, KAFKA, KFAKE, ODRADEK
from tests.conformance.real_kafka import RealKafka, broker_answers, free_ports
from tests.fakes.wire_client import WireClient

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "auto.create.topics.enable": "false",
}
RELOADED = re.compile(r"Finished loading of metadata from __consumer_offsets-(\d+) .*? in (\d+)ms")
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 300
CPU_CLOCK = 2
"""Linux' clock of a process' CPU time: with the process' id it makes a clock's id, as clock_getcpuclockid does."""


class Side:
    """A running broker process."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    start_seconds: float
    secure_port: int | None = None
    """A listener with TLS or log-ins beside the plain one; the load goes there."""
    load_options: tuple[str, ...] = ()
    """What the load program has to know of it."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def memory_mb(self) -> float:
        """Resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def cpu_seconds(self) -> float:
        """User and system time so far, of all threads, those that have ended too."""
        return time.clock_gettime((~self.process.pid) << 3 | CPU_CLOCK)

    def apis(self) -> frozenset[int]:
        """The keys of the APIs that it serves."""
        with WireClient(port=self.port) as client:
            return frozenset(api.api_key for api in client.request(ApiVersionsRequest(), 0).api_keys)

    def stop(self) -> None:
        raise NotImplementedError


class Odradek(Side):
    """``odradek serve`` in its own process, from this working tree or another package's folder."""

    name = ODRADEK

    def __init__(
        self, config: Mapping[str, str] | None = None, data_dir: Path | None = None, package: Path | None = None
    ) -> None:
        self._package = package
        self._command = [sys.executable, "-m", "odradek", "serve"]
        if self.secure_port is None:
            (self.port,) = free_ports(1)
            self._command += ["--host", "127.0.0.1", "--port", str(self.port)]
        settings = config or {}
        if "odradek.kafka.version" not in settings:  # an older release does not have all of them
            settings = {**CONFIG, **settings}
        for name, value in settings.items():
            self._command += ["--config", f"{name}={value}"]
        if data_dir is not None:
            self._command += ["--data-dir", str(data_dir)]
        self.launch()

    def launch(self) -> None:
        began = time.monotonic()
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, env=self.environment())
        self.start_seconds = wait_for(self.process, self.port, began)

    def environment(self) -> dict[str, str]:
        """As on a user's machine: the second start finds compiled modules, and nothing measures coverage."""
        ours = ("PYTHONDONTWRITEBYTECODE", "COVERAGE_")
        found = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return found if self._package is None else {**found, "PYTHONPATH": str(self._package)}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Compiled(Odradek):
    """``odradek serve`` with its hot modules compiled."""

    name = COMPILED

    def __init__(self) -> None:
        super().__init__(package=compiled_package())


class Kfake(Side):
    """franz-go's fake cluster, one node; Unavailable where it can't be built.

    It has no delays before the first rebalance or between assignments, so it needs no CONFIG.
    """

    name = KFAKE

    def __init__(self, *arguments: str) -> None:
        program = go_program("kfake")
        (self.port,) = free_ports(1)
        began = time.monotonic()
        self.process = subprocess.Popen([str(program), "-p", str(self.port), *arguments], stdout=subprocess.DEVNULL)
        self.start_seconds = wait_for(self.process, self.port, began, answers=not arguments)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Kafka(Side):
    """A real Kafka as a server would run it: 1 GiB heap, G1, all compilers."""

    name = KAFKA

    def __init__(self, config: Mapping[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="odradek-bench-"))
        self.node = RealKafka(config={**CONFIG, **(config or {})}, bulk=True, folder=self.folder)
        self.node.prepare()
        self.launch()

    def launch(self) -> None:
        self.port = self.node.port
        began = time.monotonic()
        self.process = self.node.launch()
        self.start_seconds = wait_for(self.process, self.port, began)

    def reload_seconds(self) -> float:
        """Restart on the same data and read from the log how long the fullest offsets partition took to load."""
        self.node.halt()
        (self.folder / "output.txt").write_text("")
        self.launch()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            output = (self.folder / "output.txt").read_text(errors="replace")
            loads = [int(milliseconds) for _, milliseconds in RELOADED.findall(output)]
            if len(loads) == 50:
                return max(loads) / 1000
            time.sleep(0.2)
        raise RuntimeError("real Kafka did not tell that it loaded its offsets")

    def compact_offsets(self, group: str, topic: str) -> None:
        """Let the log cleaner run over the offsets of a group: 1,000 commits for each partition of ``topic``."""
        settings = {"min.cleanable.dirty.ratio": "0.001", "segment.ms": "1"}
        changed = [AlterableConfig(name, 0, value) for name, value in settings.items()]
        commit = OffsetCommitRequest(group)
        commit.topics = [OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 999)])]
        folder = self.node.log_dir / f"{CONSUMER_OFFSETS}-{partition_for(group, 50)}"
        with WireClient(port=self.port) as client:
            client.request(IncrementalAlterConfigsRequest([AlterConfigsResource(2, CONSUMER_OFFSETS, changed)]))
            deadline = time.monotonic() + 60
            while sum(segment.stat().st_size for segment in folder.glob("*.log")) > 1_000_000:
                if time.monotonic() > deadline:
                    raise RuntimeError("real Kafka did not compact its offsets")
                client.request(commit, 7)  # begins a new segment
                time.sleep(0.5)

    def stop(self) -> None:
        self.node.stop(kill=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(process: subprocess.Popen[bytes], port: int, began: float, *, answers: bool = True) -> float:
    """Seconds from ``began`` until the broker on the port answers its first request, or only listens.

    RuntimeError, and an end to the process, if that does not come within `PATIENCE_S`.
    """
    while True:
        with socket.socket() as probe:
            open_port = probe.connect_ex(("127.0.0.1", port)) == 0
        if open_port and (not answers or broker_answers(port)):
            return time.monotonic() - began
        if process.poll() is not None:
            raise RuntimeError(f"the broker ended with status {process.returncode}")
        if time.monotonic() > began + PATIENCE_S:
            process.kill()
            process.wait()
            raise RuntimeError(f"the broker did not answer within {PATIENCE_S} seconds")
        time.sleep(0.002)
