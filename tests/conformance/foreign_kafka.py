"""A real Kafka on a log directory that something else wrote, with static voters or with bootstrap servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conformance.real_kafka import RealKafka


class ForeignKafka(RealKafka):
    """A real node whose log directory is written before it starts."""

    def __init__(self, node_id: int, folder: Path) -> None:
        super().__init__(folder=folder, heap="256m")
        self.node_id = node_id
        self.quorum: Mapping[str, str] = {}

    @property
    def controller_port(self) -> int:
        return self._controller_port

    @property
    def directory_id(self) -> bytes:
        return bytes([0x40 + self.node_id]) * 16

    def properties(self) -> dict[str, str]:
        known = super().properties()
        del known["controller.quorum.voters"]
        slower = {"controller.quorum.election.timeout.ms": "1000", "controller.quorum.fetch.timeout.ms": "2000"}
        return {**known, **slower, "node.id": str(self.node_id), **self.quorum}


def static_voters(nodes: Sequence[ForeignKafka]) -> dict[str, str]:
    return {"controller.quorum.voters": ",".join(f"{n.node_id}@127.0.0.1:{n.controller_port}" for n in nodes)}


def bootstrap_servers(nodes: Sequence[ForeignKafka]) -> dict[str, str]:
    return {"controller.quorum.bootstrap.servers": ",".join(f"127.0.0.1:{n.controller_port}" for n in nodes)}
