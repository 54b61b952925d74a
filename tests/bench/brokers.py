"""The two brokers of a benchmark, as processes whose memory and CPU time can be read."""

from __future__ import annotations

import hashlib
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

from odradek.broker.coordinator.routing import partition_for
from odradek.broker.metadata.topic_names import CONSUMER_OFFSETS
from odradek.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.conformance.real_kafka import RealKafka, broker_answers, free_ports
from tests.fakes.certificates import issued_by, new_authority
from tests.fakes.wire_client import WireClient
from tests.scenarios.sasl_broker import jaas

CONFIG = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "auto.create.topics.enable": "false",
}
RELOADED = re.compile(r"Finished loading of metadata from __consumer_offsets-(\d+) .*? in (\d+)ms")
USER, PASSWORD = "alice", "alice-secret"
TICKS = os.sysconf("SC_CLK_TCK")


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
        """User and system time so far, of all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self) -> None:
        raise NotImplementedError


class Odradek(Side):
    """``odradek serve`` in its own process."""

    name = "odradek"

    def __init__(self, config: Mapping[str, str] | None = None, data_dir: Path | None = None) -> None:
        self._command = [sys.executable, "-m", "odradek", "serve"]
        if self.secure_port is None:
            (self.port,) = free_ports(1)
            self._command += ["--host", "127.0.0.1", "--port", str(self.port)]
        for name, value in {**CONFIG, **(config or {})}.items():
            self._command += ["--config", f"{name}={value}"]
        if data_dir is not None:
            self._command += ["--data-dir", str(data_dir)]
        self.launch()

    def launch(self) -> None:
        began = time.monotonic()
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, env=self.environment())
        self.start_seconds = wait_for(self.process, self.port, began)

    def environment(self) -> dict[str, str]:
        """As on a user's machine, where the second start finds compiled modules."""
        return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Revision(Odradek):
    """``odradek serve`` from another working tree."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        super().__init__()

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PYTHONPATH": str(self._tree / "src")}


class Kafka(Side):
    """A real Kafka as a server would run it: 1 GiB heap, G1, all compilers."""

    name = "Kafka"

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


class SecureOdradek(Odradek):
    """The same with a TLS listener."""

    load_options = ("-s",)

    def __init__(self, folder: Path) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(tls_config(folder, self.port, self.secure_port, controller))


class SecureKafka(Kafka):
    """The same with a TLS listener."""

    load_options = ("-s",)

    def __init__(self, folder: Path) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(tls_config(folder, self.port, self.secure_port, controller))

    def launch(self) -> None:
        self.node.port = self.port
        super().launch()


class SaslOdradek(Odradek):
    """The same with a listener where clients log in, an authorizer, and 1,000 access control entries."""

    load_options = ("-u", f"{USER}:{PASSWORD}")

    def __init__(self) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(sasl_config(self.port, self.secure_port, controller))
        give_rights(self.port)


class SaslKafka(Kafka):
    """The same with a listener where clients log in, an authorizer, and 1,000 access control entries."""

    load_options = ("-u", f"{USER}:{PASSWORD}")

    def __init__(self) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(sasl_config(self.port, self.secure_port, controller))
        give_rights(self.port)

    def launch(self) -> None:
        self.node.port = self.port
        super().launch()


def sasl_config(plain: int, sasl: int, controller: int) -> dict[str, str]:
    """Two listeners, PLAIN and SCRAM at the second; on the first anybody may do anything."""
    told = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}"
    prefix = "listener.name.sasl_plaintext"
    return {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"0@127.0.0.1:{controller}",
        "node.id": "0",
        "listeners": f"{told},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": told,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        f"{prefix}.plain.sasl.jaas.config": jaas("PLAIN", **{f"user_{USER}": PASSWORD}),
        f"{prefix}.scram-sha-256.sasl.jaas.config": jaas("SCRAM-SHA-256"),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def give_rights(port: int) -> None:
    """The user of the load may use topics, and 990 others have rights to other topics; it may log in by SCRAM."""
    topic, cluster, prefixed, literal = 2, 4, 4, 3
    read, write, create, describe, allow = 3, 4, 5, 8, 3
    acls = [AclCreation(topic, "produce", prefixed, f"User:{USER}", "*", right, allow) for right in (read, write)]
    acls += [AclCreation(topic, "", prefixed, f"User:{USER}", "*", describe, allow)]
    acls[-1].resource_name = "p"
    acls += [AclCreation(cluster, "kafka-cluster", literal, f"User:{USER}", "*", create, allow)]
    acls += [
        AclCreation(topic, f"orders-{number}", prefixed if number % 2 else literal, f"User:u{number}", "*", read, allow)
        for number in range(1000 - len(acls))
    ]
    salt = b"sixteen bytes of"
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, 4096)
    with WireClient(port=port) as client:
        made = client.request(CreateAclsRequest(acls))
        assert len(made.results) == 1000
        assert not any(result.error_code for result in made.results)
        user = ScramCredentialUpsertion(USER, 1, 4096, salt, salted)
        (result,) = client.request(AlterUserScramCredentialsRequest([], [user])).results
        assert not result.error_code


def tls_config(folder: Path, plain: int, secure: int, controller: int) -> dict[str, str]:
    """Two listeners; the certificate is made anew, with an EC key."""
    certificate = issued_by(new_authority("Bench CA"), "broker", hosts=["127.0.0.1"])
    path = folder / "broker.pem"
    path.write_text(certificate.key_pem + certificate.chain_pem)
    told = f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{secure}"
    return {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"0@127.0.0.1:{controller}",
        "node.id": "0",
        "listeners": f"{told},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": told,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(path),
    }


def wait_for(process: subprocess.Popen[bytes], port: int, began: float) -> float:
    """Seconds from ``began`` until the broker on the port answers its first request."""
    while True:
        with socket.socket() as probe:
            open_port = probe.connect_ex(("127.0.0.1", port)) == 0
        if open_port and broker_answers(port):
            return time.monotonic() - began
        if process.poll() is not None:
            raise RuntimeError(f"the broker ended with status {process.returncode}")
        if time.monotonic() > began + 60:
            raise RuntimeError("the broker did not answer within a minute")
        time.sleep(0.002)
