"""A cluster of three whose coordinators' followers are kept behind, driven over TCP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek import KafkaBroker, Undo
from odradek.broker.coordinator.service import CoordinatorService
from odradek.broker.partitions.partition import Partition
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.fakes.wire_client import WireClient

GROUP, TRANSACTION = 0, 1
TOPICS = ("__consumer_offsets", "__transaction_state")


class Pending:
    """A request that is sent and whose answer has not been read."""

    def __init__(self, wire: WireClient, request: Any, version: int) -> None:
        self._wire, self._request, self._version = wire, request, version
        self._number = wire.send(request, version)

    def answer(self) -> Any:
        return self._wire.receive(self._request, self._version, self._number)


class Lagging:
    """One key's coordinator: `GROUP` or `TRANSACTION`."""

    def __init__(self, broker: KafkaBroker, key: str, kind: int = GROUP) -> None:
        self.broker = broker
        self.key = key
        self.kind = kind
        self.topic = TOPICS[kind]
        self._wires: list[WireClient] = []
        self._paused: dict[int, Undo] = {}
        self.find()
        self.index = broker._look(lambda: self.service.partition_for(key))

    @property
    def service(self) -> CoordinatorService[Any]:
        cluster = self.broker.cluster
        return cluster.groups if self.kind == GROUP else cluster.transactions

    @property
    def partition(self) -> Partition:
        return self.broker.cluster.topics.by_name(self.topic).partitions[self.index]

    @property
    def leader(self) -> int:
        return self.partition.leader_id

    @property
    def followers(self) -> list[int]:
        return [node for node in self.partition.replicas if node != self.leader]

    def find(self, node: int | None = None) -> Any:
        up = node or self.broker.cluster.up_nodes()[0].id
        return self.ask(FindCoordinatorRequest(key=self.key, key_type=self.kind), 2, up)

    def wire(self, node: int) -> WireClient:
        host, port = self.broker.cluster.nodes[node].first.host, self.broker.cluster.nodes[node].port
        wire = WireClient(host or "127.0.0.1", port)
        self._wires.append(wire)
        return wire

    def send(self, request: Any, version: int, node: int | None = None) -> Pending:
        return Pending(self.wire(node or self.leader), request, version)

    def ask(self, request: Any, version: int, node: int | None = None) -> Any:
        return self.send(request, version, node).answer()

    def close(self) -> None:
        for wire in self._wires:
            wire.close()

    # -- replicas

    def pause(self, *nodes: int) -> None:
        for node in nodes or self.followers:
            self._paused[node] = self.broker.topic(self.topic).pause_replication(self.index, node)

    def resume(self, *nodes: int) -> None:
        for node in nodes or self.followers:
            self._paused.pop(node).undo()

    def waiting(self, count: int = 1) -> None:
        """Until so many commands wait for replicas."""
        self.until(lambda: self._waiting() == count)

    def _waiting(self) -> int:
        return self.service.shard(self.index).uncommitted

    def until(self, holds: Callable[[], bool]) -> None:
        for _ in range(20_000):
            if self.broker._look(holds):
                return
        raise AssertionError("it never came to that")

    # -- requests

    def commit(self, offset: int) -> OffsetCommitRequest:
        rows = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
        return OffsetCommitRequest(self.key, -1, "", topics=rows)

    def fetch(self, *, stable: bool = False) -> OffsetFetchRequest:
        group = OffsetFetchRequestGroup(self.key, topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])])
        return OffsetFetchRequest(groups=[group], require_stable=stable)

    def fetched(self) -> tuple[int, int]:
        """(error, offset) that OffsetFetch answers."""
        return fetched(self.ask(self.fetch(), 8))


def committed(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)


def fetched(answer: Any) -> tuple[int, int]:
    (group,) = answer.groups
    if group.error_code:
        return int(group.error_code), -1
    row = group.topics[0].partitions[0]
    return int(row.error_code), int(row.committed_offset)
