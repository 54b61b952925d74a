"""Old and new clients on old and new brokers: each writes with its codecs, reads in a group, and uses transactions.

What they make of real brokers lies in `tests/vectors/old_clients.json`; this asks a real broker of a release, and
keeps what it shows:

    python -m tests.scenarios.old_clients.runs RELEASE HOST:PORT [CLIENT ...]

4.0 and later close the connections of kafka-python and aiokafka that speak as 0.10. Those are not asked about them:
aiokafka gives up after 100 s, and kafka-python had not after four minutes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.wire_client import WireConnection
from tests.conformance.real_kafka import Unavailable, cache_dir, cache_lock, classpath, java_command

Outcome = dict[str, str]

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parents[1] / "vectors" / "old_clients.json"
OLDEST_JAVA = "0.11.0.3"
JAVA = (OLDEST_JAVA, "1.1.1", "2.0.1", "2.8.2", "3.9.1", "4.0.2", "4.4.0")
PYTHON_PACKAGES = ("kafka-python==2.0.2", "aiokafka==0.8.1", "confluent-kafka==2.0.2", "python-snappy==0.7.3")
PYTHON = (
    *("kafka-python 0.10", "kafka-python 0.11", "aiokafka 0.10", "aiokafka 0.11"),
    *("librdkafka 0.9.0", "librdkafka 0.10.0", "librdkafka"),
)
"""Client, and the version of the broker that it is told to find."""
NEWEST = ("kafka-python newest", "aiokafka newest", "librdkafka newest")
"""Those that this Python has."""
GO = {
    "sarama 1.24.1": ("sarama.go", "github.com/Shopify/sarama", "0.10.2.0"),
    "sarama 1.61.1": ("sarama.go", "github.com/IBM/sarama", ""),
    "kafka-go 0.3.10": ("kafka_go.go", "github.com/segmentio/kafka-go", ""),
    "kafka-go 0.4.51": ("kafka_go.go", "github.com/segmentio/kafka-go", ""),
    "franz-go 1.0.0": ("franz_go.go", "github.com/twmb/franz-go", ""),
    "franz-go 1.22.2": ("franz_go.go", "github.com/twmb/franz-go", ""),
}
"""Client to its program, its module, and the version of the broker that it is told to find."""
JS = ("kafkajs 1.16.0", "kafkajs 2.2.4")
CLIENTS = (*(f"java {version}" for version in JAVA), *PYTHON, *NEWEST, *GO, *JS)
RELEASES = ("2.8", "3.9", "4.0", "4.4")
STEPS = ("produce", "group", "transactions")
SHOWN = {
    "kafka-python": "kafka-python 2.0.2 with `api_version`",
    "aiokafka": "aiokafka 0.8.1 with `api_version`",
    "librdkafka": "librdkafka 2.0.2 with `broker.version.fallback`",
    "java": "Java",
}
SHOWN_WHOLE = {
    "librdkafka": "librdkafka 2.0.2",
    "sarama 1.24.1": "sarama 1.24.1 with `Version` 0.10.2",
    **{client: f"{client.removesuffix(' newest')}, a new one" for client in NEWEST},
}


def run(client: str, bootstrap_servers: str) -> Outcome:
    """What a client makes of a broker: step to outcome. Raises Unavailable where the client cannot be had."""
    command = _command(client)
    topic = f"old-{time.time_ns()}"
    _create(bootstrap_servers, [topic, f"{topic}-transactions"])
    done = subprocess.run(
        [*command, bootstrap_servers, topic], capture_output=True, text=True, timeout=600, check=False
    )
    lines = [line.partition("=") for line in done.stdout.splitlines()]
    told = {step: outcome for step, _, outcome in lines if step in STEPS}
    if not told:
        raise RuntimeError(f"{client} told nothing: {done.stderr[-1000:]}")
    return told


def _create(bootstrap_servers: str, names: Iterable[str]) -> None:
    host, _, port = bootstrap_servers.partition(":")
    with WireConnection(host, int(port)) as connection:
        request = CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names], 30_000)
        answer = connection.receive(request, 4, connection.send(request, 4))
    assert not any(topic.error_code for topic in answer.topics)


def _command(client: str) -> list[str]:
    name, _, version = client.partition(" ")
    if name == "java":
        return _java(version)
    if client in GO:
        return _go(client, *GO[client])
    if client in JS:
        return _js(version)
    if client in NEWEST:
        return [sys.executable, str(HERE / "old_client.py"), client]
    return _python(client)


def _java(version: str) -> list[str]:
    jars = classpath(version, HERE / "clients.xml").rpartition(":")[2]
    return java_command("OldClient", jars=f"{_compiled()}:{jars}", heap="200m")


def _compiled() -> Path:
    source = HERE / "OldClient.java"
    folder = cache_dir() / f"old-client-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    jars = classpath(OLDEST_JAVA, HERE / "clients.xml").rpartition(":")[2]
    with cache_lock():
        if not folder.exists():
            compiler = shutil.which("javac")
            if compiler is None:
                raise Unavailable("needs a JDK 17: no `javac` on the PATH")
            subprocess.run([compiler, "-cp", jars, "-d", str(folder), str(source)], check=True)
    return folder


def _python(client: str) -> list[str]:
    folder = cache_dir() / f"old-clients-{hashlib.sha256(' '.join(PYTHON_PACKAGES).encode()).hexdigest()[:16]}"
    with cache_lock():
        if not (folder / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            install = [str(folder / "bin" / "pip"), "install", "-q", "--only-binary", "confluent-kafka"]
            done = subprocess.run([*install, *PYTHON_PACKAGES], capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"needs {', '.join(PYTHON_PACKAGES)}: {done.stderr.strip().splitlines()[-1]}")
            (folder / "complete").touch()
    return [str(folder / "bin" / "python"), str(HERE / "old_client.py"), client]


def _go(client: str, source: str, module: str, told_version: str) -> list[str]:
    """Go looks the checksums of the modules up (GOSUMDB), so none are kept here."""
    files = {name: (HERE / "go" / name).read_text(encoding="utf-8") for name in (source, "tell.go")}
    files[source] = files[source].replace("github.com/IBM/sarama", module)
    files["go.mod"] = f"module odradek/old\n\ngo 1.26.0\n\nrequire {module} v{client.partition(' ')[2]}\n"
    folder = cache_dir() / f"old-go-{hashlib.sha256(''.join(files.values()).encode()).hexdigest()[:16]}"
    program = folder / "program"
    with cache_lock():
        if not program.exists():
            go = shutil.which("go")
            if go is None:
                raise Unavailable("needs Go: no `go` on the PATH")
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
            build = [go, "build", "-mod=mod", "-o", str(program), "."]
            done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"needs the Go modules of {client}: {done.stderr.strip().splitlines()[-1]}")
    return [str(program), told_version] if told_version else [str(program)]


def _js(version: str) -> list[str]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Unavailable("needs Node.js: no `node` or `npm` on the PATH")
    source = HERE / "kafkajs.mjs"
    digest = hashlib.sha256(source.read_bytes() + version.encode()).hexdigest()[:16]
    folder = cache_dir() / f"old-kafkajs-{digest}"
    with cache_lock():
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder)
            command = [npm, "install", "--no-audit", "--no-fund", "--silent", f"kafkajs@{version}"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"needs kafkajs {version} from npm: {(done.stderr + done.stdout).strip()[-200:]}")
            (folder / "complete").touch()
    return [node, str(folder / source.name)]


def recorded() -> Mapping[str, Mapping[str, Outcome]]:
    """Release to client to what it makes of a real broker."""
    loaded: Mapping[str, Mapping[str, Outcome]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return loaded


def markdown() -> str:
    """The table in docs/versions.md."""
    lines = [f"| Client | {' | '.join(RELEASES)} |", "| --- |" + " --- |" * len(RELEASES)]
    table = recorded()
    for client in CLIENTS:
        cells = [_cell(table[release].get(client, {})) for release in RELEASES]
        lines.append(f"| {_shown(client)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(client: str) -> str:
    name, _, version = client.partition(" ")
    return SHOWN_WHOLE.get(client) or f"{SHOWN.get(name, name)} {version}"


def _cell(outcome: Outcome) -> str:
    if not outcome:
        return "not tried"
    works = [name for name in STEPS if " " in outcome.get(name, "")]
    return "all" if len(works) == len(outcome) else ", ".join(works) or "nothing"


def main() -> None:
    release, servers, *clients = sys.argv[1:]
    table = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for client in clients or CLIENTS:
        table.setdefault(release, {})[client] = run(client, servers)
        RECORDED.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
