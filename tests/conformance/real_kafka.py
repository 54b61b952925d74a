"""A real Apache Kafka from its Maven jars: one KRaft node, started and stopped by a test or from the shell.

Its release is the one that odradek behaves as by default, or the one that ``$ASK_KAFKA`` names.

The jars (about 130 MB with Streams and the command-line tools) are resolved once into a cache folder,
``$ODRADEK_CACHE`` or ``~/.cache/odradek``. Needs a JDK 17 or newer and Maven; without them :class:`Unavailable` says
what is missing, and tests skip with that line.

From the shell::

    python tests/conformance/real_kafka.py start --port 19092 --config auto.create.topics.enable=true
    python tests/conformance/real_kafka.py tool org.apache.kafka.tools.TopicCommand --bootstrap-server ... --list
    python tests/conformance/real_kafka.py classpath
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

DEFINITION = "4.4.0"
"""The release that odradek behaves as by default."""
KAFKA_VERSION = os.environ.get("ASK_KAFKA", DEFINITION)
RELEASE = KAFKA_VERSION.rpartition(".")[0]
_MOVED = tuple(map(int, RELEASE.split("."))) >= (4, 4)
CONFIG_COMMAND = "org.apache.kafka.tools.ConfigCommand" if _MOVED else "kafka.admin.ConfigCommand"
JAVA_UTILS = "org.apache.kafka.common.utils.internals" if _MOVED else "org.apache.kafka.common.utils"
"""Where `Exit` and `LogContext` are."""
HERE = Path(__file__).resolve().parent
CLUSTER_ID = "b2RyYWRlay10ZXN0cy0wMQ"  # any 16 bytes in URL-safe base64

# A test broker: nothing replicated, no waiting for further members, no background rest that costs a CPU.
TEST_DEFAULTS: Mapping[str, str] = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "true",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "controller.quorum.election.timeout.ms": "100",
    "controller.quorum.fetch.timeout.ms": "500",
    "broker.heartbeat.interval.ms": "200",
}


class Unavailable(Exception):
    """What this machine lacks for running real Kafka, as one line."""


def cache_dir() -> Path:
    """Where jars and compiled client programs are kept between runs."""
    return Path(os.environ.get("ODRADEK_CACHE") or Path.home() / ".cache" / "odradek")


@contextmanager
def cache_lock() -> Iterator[None]:
    """One process at a time makes what is kept: test runs go side by side."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    with (cache_dir() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def java_major() -> int:
    """Major version of the ``java`` on the PATH; raises :class:`Unavailable` without one."""
    java = shutil.which("java")
    if java is None:
        raise Unavailable("needs a JDK 17: no `java` on the PATH")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    if found is None:
        raise Unavailable("needs a JDK 17: `java -version` gave no version")
    return int(found[1])


@functools.cache
def classpath(version: str = KAFKA_VERSION, pom: Path = HERE / "pom.xml") -> str:
    """The Java class path of Kafka's broker, tools and Streams; downloads the jars the first time.

    `pom` names other jars than those, of a `version` of their own.
    """
    if java_major() < 17:
        raise Unavailable(f"needs a JDK 17: found Java {java_major()}")
    libs = cache_dir() / f"kafka-{version}" / "libs"
    complete = libs.parent / f"complete-{_fingerprint(pom)}"
    if not complete.exists():
        _download(libs, complete, version, pom)
    return f"{HERE}:{libs}/*"


def _fingerprint(pom: Path) -> str:
    import hashlib

    return hashlib.sha256(pom.read_bytes()).hexdigest()[:12]


def _download(libs: Path, complete: Path, version: str, pom: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("needs Maven (`mvn`) once, to fetch the jars of Apache Kafka")
    with cache_lock():
        if complete.exists():
            return
        print(f"fetching Apache Kafka {version} with Maven into {libs} (once)", file=sys.stderr, flush=True)
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        command += [f"-Dkafka.version={version}", "-DincludeScope=runtime", f"-DoutputDirectory={libs}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"Maven could not fetch Apache Kafka: {_last_line(done.stdout + done.stderr)}")
        complete.touch()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def java_command(
    main: str, *args: str, heap: str = "256m", extra: Sequence[str] = (), jars: str | None = None
) -> list[str]:
    """The command line that runs a class of Kafka's jars with settings for short-lived, small JVMs.

    `jars`: another class path than that of the broker.
    """
    options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto"]
    return ["java", *options, *extra, "-cp", jars or classpath(), main, *args]


def run_tool(
    main: str, *args: str, timeout: float = 300, stdin: str | None = None, jars: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's command-line classes to its end; the result has returncode, stdout and stderr."""
    return subprocess.run(
        java_command(main, *args, jars=jars), capture_output=True, text=True, timeout=timeout, input=stdin, check=False
    )


def free_ports(count: int) -> list[int]:
    """Ports free on 127.0.0.1 a moment ago, of those that no system gives to a client that connects to something.

    A JVM takes seconds to come to its ports: one out of the clients' range could be a client's by then.
    """
    found: list[int] = []
    for port in random.sample(range(15_000, 32_000), 1000):
        with socket.socket() as attempt:
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            break
    return found


def _escaped(value: str) -> str:
    """A value as Java reads it back from a properties file."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = (int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)


def properties_text(properties: Mapping[str, str]) -> str:
    """A properties file that Java reads as it is meant."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in properties.items())


class RealKafka:
    """One real Kafka node, combined broker and controller, in a folder of its own.

    ``bulk`` runs the JVM as a server would (all compilers, G1, 1 GiB heap): for benchmarks. Otherwise it starts fast.
    The node's data lives in ``folder`` (a new temporary one by default, removed on :meth:`stop`), so a node can be
    stopped and started again on the same data.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        config: Mapping[str, str] | None = None,
        heap: str = "512m",
        folder: Path | None = None,
        bulk: bool = False,
        jvm_options: Sequence[str] = (),
        format_options: Sequence[str] = (),
    ) -> None:
        self.port, self._controller_port = free_ports(2)
        self.port = port or self.port
        self._config = dict(config or {})
        self._heap = heap
        self._keep = folder is not None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="odradek-kafka-"))
        self._bulk = bulk
        self._jvm_options = list(jvm_options)
        self._format_options = list(format_options)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log_dir(self) -> Path:
        """The folder that holds the partitions' folders."""
        return self.folder / "data"

    def properties(self) -> dict[str, str]:
        """The node's ``server.properties``."""
        return {
            "process.roles": "broker,controller",
            "node.id": "0",
            "controller.quorum.voters": f"0@127.0.0.1:{self._controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": str(self.log_dir),
            **TEST_DEFAULTS,
            **self._config,
        }

    def prepare(self) -> None:
        """Write the properties file and format the data folder, where that is not done yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        properties = self.folder / "server.properties"
        properties.write_text(properties_text(self.properties()))
        if (self.log_dir / "meta.properties").exists():
            return
        arguments = ["format", "-t", CLUSTER_ID, "-c", str(properties), *self._format_options]
        done = run_tool("kafka.tools.StorageTool", *arguments)
        if done.returncode:
            raise RuntimeError(f"formatting the data folder failed: {done.stdout}{done.stderr}")

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the JVM without waiting for the broker to answer."""
        properties = str(self.folder / "server.properties")
        command = java_command("kafka.Kafka", properties, heap=self._heap, extra=self._jvm_options)
        if self._bulk:
            server = ["-Xms1g", "-Xmx1g", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]
            server += ["-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"]
            command = ["java", *server, *self._jvm_options, "-cp", classpath(), "kafka.Kafka", properties]
        with open(self.folder / "output.txt", "ab") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, cwd=self.folder)
        return self.process

    def start(self, timeout: float = 180) -> RealKafka:
        """Start the node and wait until it answers an ApiVersions request and has joined its own cluster."""
        self.prepare()
        process = self.launch()
        deadline = time.monotonic() + timeout
        while not broker_answers(self.port):
            if process.poll() is not None or time.monotonic() > deadline:
                self._fail()
            time.sleep(0.05)
        return self

    def _fail(self) -> None:
        output = (self.folder / "output.txt").read_text(errors="replace")
        self.stop()
        raise RuntimeError(f"real Kafka did not start:\n{output[-4000:]}")

    def stop(self, *, kill: bool = False) -> None:
        """End the node (``kill``: without letting it clean up) and remove its folder if it was a temporary one."""
        self.halt(kill=kill)
        if not self._keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def halt(self, *, kill: bool = False) -> None:
        """End the node and keep its data for another :meth:`start`."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @contextmanager
    def running(self, *, kill: bool = False) -> Iterator[str]:
        """Started, on the data of before if there are any; its address. It keeps its data."""
        self.start()
        try:
            yield self.bootstrap_servers
        finally:
            self.halt(kill=kill)

    def __enter__(self) -> RealKafka:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop(kill=True)


def broker_answers(port: int, host: str = "127.0.0.1") -> bool:
    """True when a broker on the port answers Metadata v1 with itself as a member and an elected controller."""
    frame = struct.pack(">hhih", 3, 1, 1, -1) + struct.pack(">i", 0)  # header v1 without client id; no topics
    try:
        with socket.create_connection((host, port), 1) as connection:
            connection.settimeout(2)
            connection.sendall(struct.pack(">i", len(frame)) + frame)
            answer = connection.makefile("rb")
            size = answer.read(4)
            if len(size) < 4:
                return False
            body = answer.read(struct.unpack(">i", size)[0])
    except OSError:
        return False
    return len(body) >= 8 and struct.unpack(">i", body[4:8])[0] > 0


def _main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="a real Apache Kafka from its Maven jars")
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="run one node until interrupted")
    start.add_argument("--port", type=int, default=0)
    start.add_argument("--heap", default="512m")
    start.add_argument("--folder", type=Path)
    start.add_argument("--config", action="append", default=[], metavar="NAME=VALUE")
    commands.add_parser("classpath", help="print the Java class path")
    tool = commands.add_parser("tool", help="run a class of Kafka's tools")
    tool.add_argument("main")
    tool.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if options.command == "classpath":
        print(classpath())
        return 0
    if options.command == "tool":
        return subprocess.run(java_command(options.main, *options.arguments), check=False).returncode
    config = dict(pair.split("=", 1) for pair in options.config)
    node = RealKafka(port=options.port, config=config, heap=options.heap, folder=options.folder).start()
    print(f"real Kafka ready on {node.bootstrap_servers}, data in {node.log_dir}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        assert node.process is not None
        node.process.wait()
    except KeyboardInterrupt:
        pass
    node.stop()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(_main(sys.argv[1:]))
    except Unavailable as missing:
        sys.exit(str(missing))
