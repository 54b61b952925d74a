"""A real Kafka of three brokers as a cluster that fails on command."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations

from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.conformance.real_cluster import RealCluster
from tests.fakes.wire_client import WireClient
from tests.scenarios.failures.targets import CONFIG, NODES, STEP_S, FailingCluster
from tests.scenarios.target import wait_until

NOTHING: Mapping[str, str] = {}


class KafkaCluster:
    """The processes of a `RealCluster`, and its links."""

    def __init__(self, real: RealCluster) -> None:
        self._real = real
        self._cut: set[tuple[int, int]] = set()

    def port(self, node: int) -> int:
        return self._real.ports[node]

    def stop(self, node: int) -> None:
        self._real.stop(node)

    def kill(self, node: int) -> None:
        self._real.kill(node)

    def start(self, node: int) -> None:
        self._real.start(node)

    def freeze(self, node: int) -> None:
        self._real.pause(node)

    def thaw(self, node: int) -> None:
        self._real.resume(node)

    def cut(self, a: int, b: int) -> None:
        self._real.links.cut(a, b)

    def mend(self, a: int, b: int) -> None:
        self._real.links.mend(a, b)

    def pass_time(self, seconds: float = STEP_S) -> None:
        time.sleep(min(seconds, 0.05) if seconds == STEP_S else seconds)

    def heal(self) -> None:
        for a, b in combinations(NODES, 2):
            self.mend(a, b)
        for node in sorted(self._real.paused):
            self.thaw(node)
        self._real.start(*(node for node in NODES if not self._real.up(node)))
        wait_until("all replicas in sync", self._whole, 120)
        with WireClient("127.0.0.1", self.port(1), timeout_s=120) as client:
            client.request(ElectLeadersRequest(0, None, 60_000))
        wait_until("preferred leaders", self._preferred, 120)

    def _whole(self) -> bool:
        return all(len(isr) == len(replicas) for replicas, isr, _ in self._partitions())

    def _preferred(self) -> bool:
        return all(leader == replicas[0] for replicas, _, leader in self._partitions())

    def _partitions(self) -> list[tuple[list[int], list[int], int]]:
        """Replicas, ISR and leader as each node knows them: they follow the controller one by one."""
        found = []
        for node in NODES:
            with WireClient("127.0.0.1", self.port(node), timeout_s=120) as client:
                answer = client.request(MetadataRequest(None), 12)
            if len(answer.brokers) < len(NODES):
                return [([0], [], -1)]  # not whole
            for topic in answer.topics:
                found += [(each.replica_nodes, each.isr_nodes, each.leader_id) for each in topic.partitions]
        return found


@contextmanager
def kafka_cluster(more: Mapping[str, str] = NOTHING) -> Iterator[FailingCluster]:
    """A real Kafka of three brokers, with `more` configs; Unavailable without what it needs."""
    with RealCluster({**CONFIG, "num.network.threads": "1", "num.io.threads": "4", **more}) as real:
        yield KafkaCluster(real)
