"""A real Kafka cluster of three brokers and a controller of its own, each a process that a test can take down.

The controller never fails, so metadata has a leader whatever happens to the brokers. Brokers fetch from each other
through `Links`, which can be cut; clients and the controller reach them directly.
"""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Container, Mapping, Sequence

from tests.conformance.kafka_processes import KafkaProcesses
from tests.conformance.links import Links
from tests.conformance.real_kafka import CLUSTER_ID, TEST_DEFAULTS, free_ports, properties_text, run_tool

CONTROLLER = 100
"""The controller's node id, which no broker has."""
BROKERS = (1, 2, 3)

TIMES: Mapping[str, str] = {
    "replica.lag.time.max.ms": "3000",
    "replica.fetch.backoff.ms": "100",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "250",
    "auto.leader.rebalance.enable": "false",
    "num.replica.fetchers": "1",
}


class RealCluster(KafkaProcesses):
    """Brokers 1, 2 and 3 of a Kafka, and its controller."""

    START_TIMEOUT_S = 240

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__("cluster")
        self._config = dict(config)
        self._controller_port, *ports = free_ports(1 + 2 * len(BROKERS))
        self.ports = dict(zip(BROKERS, ports, strict=False))
        self._replication_ports = dict(zip(BROKERS, ports[len(BROKERS) :], strict=True))
        self._paused: set[int] = set()
        self.links = Links()
        self._proxies = {node: self.links.add(node, port) for node, port in self._replication_ports.items()}

    @property
    def nodes(self) -> Sequence[int]:
        return (CONTROLLER, *BROKERS)

    @property
    def broker_ports(self) -> Mapping[int, int]:
        return self.ports

    def needed_by(self, node: int) -> Container[int]:
        """Other brokers may be down."""
        return (node, CONTROLLER)

    def close(self) -> None:
        super().close()
        self.links.close()

    # -- verbs

    def up(self, node: int) -> bool:
        """Whether a broker's process runs."""
        return node in self._processes and self._processes[node].poll() is None

    def stop(self, node: int) -> None:
        """SIGTERM: leaders are handed over first. Returns when the process has ended."""
        self.end(node, signal.SIGTERM)

    def kill(self, node: int) -> None:
        """SIGKILL: the controller notices after ``broker.session.timeout.ms``."""
        self.end(node, signal.SIGKILL)

    def start(self, *nodes: int) -> None:
        """Start brokers on their old data; returns when all serve clients."""
        for node in nodes:
            self.launch(node)
        for node in nodes:
            self.wait_answering(node)

    def pause(self, node: int) -> None:
        """SIGSTOP: the sockets stay open, nothing is answered."""
        self._processes[node].send_signal(signal.SIGSTOP)
        self._paused.add(node)

    def resume(self, node: int) -> None:
        """SIGCONT."""
        self._processes[node].send_signal(signal.SIGCONT)
        self._paused.discard(node)

    @property
    def paused(self) -> frozenset[int]:
        """The brokers that were paused and not resumed."""
        return frozenset(self._paused)

    # -- inside

    def end(self, node: int, how: signal.Signals) -> None:
        """A paused broker is resumed, so that it hears what it shall do."""
        if node in self._paused:
            self._paused.discard(node)
            if how is not signal.SIGKILL:
                self._processes[node].send_signal(signal.SIGCONT)
        super().end(node, how)

    def prepare(self) -> None:
        for node in self.nodes:
            folder = self.folder / str(node)
            folder.mkdir()
            (folder / "server.properties").write_text(properties_text(self._properties(node)))
        properties = str(self.folder / str(CONTROLLER) / "server.properties")
        done = run_tool("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", properties)
        if done.returncode:
            raise RuntimeError(f"formatting the controller's folder failed: {done.stdout}{done.stderr}")
        for node in BROKERS:  # a JVM for each would take seconds
            data = self.folder / str(node) / "data"
            data.mkdir()
            directory_id = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=").replace("-", "A", 1)
            meta = {"node.id": str(node), "directory.id": directory_id, "version": "1", "cluster.id": CLUSTER_ID}
            (data / "meta.properties").write_text(properties_text(meta))

    def _properties(self, node: int) -> dict[str, str]:
        common = {
            **TEST_DEFAULTS,
            **TIMES,
            "node.id": str(node),
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self._controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.folder / str(node) / "data"),
            **self._config,
        }
        if node == CONTROLLER:
            listener = f"CONTROLLER://127.0.0.1:{self._controller_port}"
            return {**common, "process.roles": "controller", "listeners": listener}
        client = f"CLIENT://127.0.0.1:{self.ports[node]}"
        return {
            **common,
            "process.roles": "broker",
            "listeners": f"{client},REPLICATION://127.0.0.1:{self._replication_ports[node]}",
            "advertised.listeners": f"{client},REPLICATION://127.0.0.1:{self._proxies[node]}",
            "inter.broker.listener.name": "REPLICATION",
        }
