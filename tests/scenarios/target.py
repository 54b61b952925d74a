"""The broker that a scenario runs against: odradek in a process of its own, a real Kafka, or one that already runs."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.conformance.real_kafka import RealKafka, free_ports, properties_text

# Both brokers run the scenarios with these, so that a death is noticed within a second and the log cleaner is prompt.
SCENARIO_CONFIG: Mapping[str, str] = {
    "group.min.session.timeout.ms": "100",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "600",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.regex.refresh.interval.ms": "10000",
    "group.consumer.max.size": "12",
    "group.streams.min.heartbeat.interval.ms": "100",
    "group.streams.min.session.timeout.ms": "600",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.max.size": "6",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "auto.create.topics.enable": "true",
    # Some scenarios write records with timestamps of years ago: the default retention would delete them before they are
    # read, if its turn came then.
    "log.retention.check.interval.ms": "86400000",
}
Answer = TypeVar("Answer")
READY_LINE = re.compile(r"odradek ready on (\S+:\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """A running broker: ``name`` is ``odradek`` or ``kafka``, ``complaints`` gives new tracebacks of its log."""

    name: str
    bootstrap: str
    complaints: Callable[[], str] = lambda: ""
    nodes: int = 1


def unique(name: str) -> str:
    """A topic, group or transactional id that no other test of this run has."""
    return f"{name}-{secrets.token_hex(4)}"


def wait_until(what: str, probe: Callable[[], Answer], timeout: float = 60) -> Answer:
    """The first true answer of the probe; fails, naming what was awaited and the last answer, after the timeout."""
    deadline = time.monotonic() + timeout
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout} s; last answer {answer!r}")
        time.sleep(0.02)


@contextmanager
def odradek_target(
    nodes: int = 1, config: Mapping[str, str] = SCENARIO_CONFIG, arguments: Sequence[str] = ()
) -> Iterator[Target]:
    """``odradek serve`` in its own process, stopped at the end; a stop that is not clean is an error."""
    command = [sys.executable, "-m", "odradek", "serve", "--nodes", str(nodes), *arguments]
    if "listeners" not in config:
        command += ["--host", "127.0.0.1", "--port", "0"]
    for name, value in config.items():
        command += ["--config", f"{name}={value}"]
    with tempfile.TemporaryDirectory(prefix="odradek-") as folder:
        log = Path(folder) / "log.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        ready = READY_LINE.match(line)
        if ready is None:
            process.kill()
            process.wait()
            process.stdout.close()
            raise RuntimeError(f"odradek did not start: {line!r} {log.read_text(errors='replace')[-3000:]}")
        try:
            yield Target("odradek", ready[1], _LogWatch(log), nodes)
        finally:
            process.terminate()
            try:
                status = process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            process.stdout.close()
        assert status == 0, f"odradek stopped with status {status}: {log.read_text(errors='replace')[-3000:]}"


class _LogWatch:
    """Reads what was added to a log since the last call and gives it back if a traceback is in it."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._seen = 0

    def __call__(self) -> str:
        with self._log.open("rb") as file:
            file.seek(self._seen)
            added = file.read()
        self._seen += len(added)
        text = added.decode(errors="replace")
        return text if "Traceback" in text else ""


@contextmanager
def served(
    side: str, properties: Mapping[str, str], *, jvm_options: Sequence[str] = (), secrets: Iterable[str] = ()
) -> Iterator[None]:
    """A broker of a side, started with one file of properties; the first listener is plain.

    A traceback in odradek's log, one of the secrets, or a bad end is an error.
    """
    listeners = properties["listeners"]
    (controller,) = free_ports(1)
    known = {
        "process.roles": "broker,controller",
        "node.id": "0",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"0@127.0.0.1:{controller}",
        "inter.broker.listener.name": "PLAINTEXT",
        **properties,
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": listeners,
        "listener.security.protocol.map": f"{properties['listener.security.protocol.map']},CONTROLLER:PLAINTEXT",
    }
    if side == "kafka":
        port = int(listeners.partition(",")[0].rpartition(":")[2])
        with RealKafka(port=port, config=known, jvm_options=jvm_options):
            yield
    else:
        with tempfile.TemporaryDirectory(prefix="odradek-") as folder:
            file = Path(folder) / "server.properties"
            file.write_text(properties_text(known))
            with _odradek_of_file(file):
                yield
            log = file.with_suffix(".log").read_text()
            assert not [secret for secret in secrets if secret in log]


@contextmanager
def _odradek_of_file(file: Path) -> Iterator[None]:
    """``odradek serve --config-file`` in its own process."""
    log = file.with_suffix(".log")
    command = [sys.executable, "-m", "odradek", "serve", "--config-file", str(file)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
    assert process.stdout is not None
    with process.stdout:
        line = process.stdout.readline()
        if not line.startswith("odradek ready on "):
            process.kill()
            process.wait()
            raise RuntimeError(f"odradek did not start: {line!r} {log.read_text(errors='replace')[-3000:]}")
        try:
            yield
        finally:
            process.terminate()
            status = process.wait(60)
    text = log.read_text(errors="replace")
    assert status == 0, f"odradek stopped with status {status}: {text[-3000:]}"
    assert "Traceback" not in text, text[-8000:]


@contextmanager
def usual_target(side: str) -> Iterator[Target]:
    """The broker of the scenarios without wishes of their own.

    ``$ODRADEK_TARGET`` and ``$ODRADEK_REAL_KAFKA`` (host:port) name one that already runs.
    """
    if running := os.environ.get("ODRADEK_TARGET" if side == "odradek" else "ODRADEK_REAL_KAFKA"):
        yield Target(side, running)
    elif side == "odradek":
        with odradek_target() as started:
            yield started
    else:
        first_retention = {"log.initial.task.delay.ms": SCENARIO_CONFIG["log.retention.check.interval.ms"]}
        with RealKafka(config={**SCENARIO_CONFIG, **first_retention}) as node:
            yield Target("kafka", node.bootstrap_servers)
