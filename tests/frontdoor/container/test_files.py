"""The handshakes by which Testcontainers' modules start a container, played against the image's files in a folder.

Each module replaces the container's command by a shell that waits for a script, copies a script in once it knows the
port on the host, and waits for a line of the log. Paths of the image stand below the folder here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from odradek.container.files import install
from tests.conformance.real_kafka import free_ports

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="needs bash, as in the image"),
]

KRAFT = {
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_NODE_ID": "1",
    "CLUSTER_ID": "4L6g3nShT-eMCtK--X86sw",
}
COMMON = {
    "KAFKA_INTER_BROKER_LISTENER_NAME": "BROKER",
    "KAFKA_BROKER_ID": "1",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS": "1",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_LOG_FLUSH_INTERVAL_MESSAGES": str(2**63 - 1),
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
}
FORMAT = "kafka-storage format --ignore-formatted -t {id} -c /etc/kafka/kafka.properties"
RUNNING = r".*Transitioning from RECOVERY to RUNNING.*"

MODULES: dict[str, tuple[bool, str, list[str], str, str]] = {
    # name: (KRaft, shell that runs the script, its lines before the start, its last lines, what is waited for)
    "java, apache/kafka": (True, "", [], "/etc/kafka/docker/run", RUNNING),
    "java, cp-kafka": (True, "", [], "/etc/confluent/docker/run", RUNNING),
    "java, older, ZooKeeper": (
        False,
        "",
        [
            "echo '' > /etc/confluent/docker/ensure",
            "echo 'clientPort=2181' > {tmp}/zookeeper.properties",
            "zookeeper-server-start {tmp}/zookeeper.properties &",
        ],
        "/etc/confluent/docker/run",
        r".*\[KafkaServer id=\d+\] started.*",
    ),
    "python, KRaft": (
        True,
        "sh ",
        [
            "sed -i '/KAFKA_ZOOKEEPER_CONNECT/d' /etc/confluent/docker/configure",
            f"echo '{FORMAT}' >> /etc/confluent/docker/configure",
        ],
        ". /etc/confluent/docker/bash-config\n/etc/confluent/docker/configure\n/etc/confluent/docker/launch",
        r".*Kafka Server started.*",
    ),
    "go": (
        True,
        "bash ",
        [
            "source /etc/confluent/docker/bash-config",
            "sed -i '/KAFKA_ZOOKEEPER_CONNECT/d' /etc/confluent/docker/configure",
            "echo '" + FORMAT.format(id='"$(kafka-storage random-uuid)"') + "' >> /etc/confluent/docker/configure",
            "echo '' > /etc/confluent/docker/ensure",
        ],
        "/etc/confluent/docker/configure\n/etc/confluent/docker/launch",
        RUNNING,
    ),
    "node, KRaft": (True, "", [], "/etc/confluent/docker/run", RUNNING),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    install(tmp_path / "image")
    return tmp_path / "image"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_starts_its_container(name: str, root: Path) -> None:
    kraft, shell, before, last, waited_for = MODULES[name]
    client, broker, controller = free_ports(3)
    listeners = f"PLAINTEXT://127.0.0.1:{client},BROKER://127.0.0.1:{broker}"
    protocols = "BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
    variables = {**COMMON, "KAFKA_LISTENERS": listeners, "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": protocols}
    if kraft:
        variables |= {
            **KRAFT,
            "KAFKA_LISTENERS": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": f"{protocols},CONTROLLER:PLAINTEXT",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": f"1@localhost:{controller}",
        }
    else:
        variables["KAFKA_ZOOKEEPER_CONNECT"] = "localhost:2181"
    script = root / "tmp" / "testcontainers_start.sh"
    script.parent.mkdir()
    advertised = f"PLAINTEXT://localhost:{client},BROKER://127.0.0.1:{broker}"
    lines = ["#!/bin/bash", *before, f"export KAFKA_ADVERTISED_LISTENERS={advertised}", last, ""]
    text = "\n".join(lines).replace("{id}", KRAFT["CLUSTER_ID"]).replace("{tmp}", str(root / "tmp"))
    text = text.replace("/etc/confluent", f"{root}/etc/confluent").replace(
        "/etc/kafka/docker", f"{root}/etc/kafka/docker"
    )
    with Container(root, f"while [ ! -f {script} ]; do sleep 0.1; done; {shell}{script}", variables) as lines_said:
        ready = script.with_suffix(".new")
        ready.write_text(text)
        ready.chmod(0o777)
        ready.rename(script)
        assert any(re.match(waited_for, line) for line in lines_said), "it ended before it said so"
        round_trip(f"localhost:{client}")


class Container:
    """A shell in the place of a container's, with the image's programs before others on its path."""

    def __init__(self, root: Path, command: str, variables: dict[str, str]) -> None:
        path = f"{root}/usr/local/bin:{root}/usr/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "CLUSTER_ID"))}
        environment = {
            **kept,
            "PATH": path,
            "HOME": str(root),
            "ODRADEK_FORMAT_FILE": str(root / "format"),
            **variables,
        }
        self._process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Iterator[str]:
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, 15)
        with self._process:
            assert self._process.stdout is not None
            threading.Thread(target=self._process.stdout.read, daemon=True).start()


def round_trip(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce("orders", b"book")
    assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(60)
    consumer.close()
    assert message is not None
    assert message.value() == b"book"


@pytest.mark.parametrize(
    "file",
    ["usr/bin/kafka-topics", "usr/bin/kafka-topics.sh", "opt/kafka/bin/kafka-topics.sh", "usr/bin/cub", "usr/bin/nc"],
)
def test_the_commands_of_kafkas_images_are_there(file: str, root: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([root / file, "--version"], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "4.4.0\n"


def test_every_file_can_be_run(root: Path) -> None:
    for path in [each for each in root.rglob("*") if each.is_file()]:
        assert os.access(path, os.X_OK), path
        assert "{root}" not in path.read_text()
