"""A real Kafka whose controllers tools may reach: nodes of both roles, or brokers and controllers apart."""

from __future__ import annotations

import base64
import os
import shutil
import signal
from collections.abc import Mapping, Sequence

from tests.conformance.kafka_processes import KafkaProcesses
from tests.conformance.real_kafka import CLUSTER_ID, TEST_DEFAULTS, free_ports, properties_text, run_tool

TIMES: Mapping[str, str] = {  # several JVMs start at once
    "controller.quorum.election.timeout.ms": "1000",
    "controller.quorum.fetch.timeout.ms": "3000",
    "initial.broker.registration.timeout.ms": "300000",
}


class RealQuorum(KafkaProcesses):
    """Nodes of a Kafka.

    A node that is broker and controller has both roles. Voters are static (`controller.quorum.voters`), or, with
    `dynamic`, named by the metadata log (KIP-853). `format_options`: more of what `kafka-storage format` takes.
    """

    START_TIMEOUT_S = 400

    def __init__(
        self,
        brokers: Sequence[int],
        controllers: Sequence[int],
        *,
        config: Mapping[str, str] | None = None,
        dynamic: bool = False,
        format_options: Sequence[str] = (),
        heap: str = "256m",
    ) -> None:
        super().__init__("quorum", heap=heap)
        ports = free_ports(len(brokers) + len(controllers))
        self.brokers = dict(zip(brokers, ports, strict=False))
        self.controllers = dict(zip(controllers, ports[len(brokers) :], strict=True))
        self._config = dict(config or {})
        self._dynamic = dynamic
        self._format_options = format_options
        self._directories = {node: _directory_id() for node in self.nodes}

    @property
    def nodes(self) -> list[int]:
        """The ids of all nodes, controllers first."""
        return list(dict.fromkeys([*self.controllers, *self.brokers]))

    @property
    def broker_ports(self) -> Mapping[int, int]:
        return self.brokers

    def stop(self, node: int) -> None:
        """SIGTERM; returns when the process has ended."""
        self.end(node, signal.SIGTERM)

    def prepare(self) -> None:
        for node in self.nodes:
            folder = self.folder / str(node)
            folder.mkdir()
            (folder / "server.properties").write_text(properties_text(self.properties(node)))
        first = next(iter(self.controllers))
        arguments = ["format", "-t", CLUSTER_ID, "-c", str(self.folder / str(first) / "server.properties")]
        if self._dynamic:
            voters = [f"{node}@127.0.0.1:{port}:{self._directories[node]}" for node, port in self.controllers.items()]
            arguments += ["--initial-controllers", ",".join(voters)]
        done = run_tool("kafka.tools.StorageTool", *arguments, *self._format_options)
        if done.returncode:
            raise RuntimeError(f"formatting a controller's folder failed: {done.stdout}{done.stderr}")
        formatted = self.folder / str(first) / "data"
        for node in self.nodes:  # a JVM for each would take seconds
            data = self.folder / str(node) / "data"
            if node in self.controllers and node != first:
                shutil.copytree(formatted, data)
            data.mkdir(exist_ok=True)
            meta = {"node.id": str(node), "directory.id": self._directories[node], "version": "1"}
            (data / "meta.properties").write_text(properties_text({**meta, "cluster.id": CLUSTER_ID}))

    def properties(self, node: int) -> dict[str, str]:
        """A node's `server.properties`."""
        roles = [*(["broker"] if node in self.brokers else []), *(["controller"] if node in self.controllers else [])]
        listeners = [
            *([f"CLIENT://127.0.0.1:{self.brokers[node]}"] if node in self.brokers else []),
            *([f"CONTROLLER://127.0.0.1:{self.controllers[node]}"] if node in self.controllers else []),
        ]
        addresses = {each: f"127.0.0.1:{port}" for each, port in self.controllers.items()}
        found = {
            **TEST_DEFAULTS,
            **TIMES,
            "node.id": str(node),
            "process.roles": ",".join(roles),
            "listeners": ",".join(listeners),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.folder / str(node) / "data"),
            **self._config,
        }
        if node in self.brokers:
            found["inter.broker.listener.name"] = "CLIENT"
        if self._dynamic:
            found["controller.quorum.bootstrap.servers"] = ",".join(addresses.values())
        else:
            found["controller.quorum.voters"] = ",".join(f"{each}@{at}" for each, at in addresses.items())
        return found


def _directory_id() -> str:
    return base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=").replace("-", "A").replace("_", "B")
