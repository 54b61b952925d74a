"""A story of failures: the cluster it happens to, connections to its nodes, waiting, and what was written down."""

from __future__ import annotations

import secrets
import select
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.protocol.generated.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.wire_client import WireError
from tests.fakes.wire_client import WireClient
from tests.scenarios.failures.targets import NODES, FailingCluster

PATIENCE_S = 120
"""Real seconds that a state may take to come; many of odradek's."""
COORDINATED = ("__consumer_offsets", "__transaction_state")
Answer = TypeVar("Answer")


def error(code: int) -> str:
    """An error code by its name in Kafka."""
    return ErrorCode(code).name


def _secret() -> str:
    """One with which the group "group" and the transactional id "tx" belong to partition 0 of their topics."""
    while True:
        found = secrets.token_hex(4)
        if partition_for(f"group-{found}", 3) == partition_for(f"tx-{found}", 3) == 0:
            return found


class _Connection(WireClient):
    """One that `select` can wait for."""

    def fileno(self) -> int:
        """That of the socket."""
        return self._socket.fileno()


class Pending:
    """A request that was sent on a connection of its own, and whose answer may have to wait."""

    def __init__(self, cluster: FailingCluster, client: _Connection, request: Any, version: int) -> None:
        self._cluster, self._client, self._request, self._version = cluster, client, request, version
        self._id = client.send(request, version)

    def answer(self) -> Any:
        """The answer; lets time pass until it is there. WireError if the connection breaks."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.answered():
            assert time.monotonic() < deadline, f"no answer to {self._request}"
            self._cluster.pass_time()
        with self._client:
            return self._client.receive(self._request, self._version, self._id)

    def answered(self) -> bool:
        """Whether there is an answer, or an end of the connection, to read."""
        self._cluster.pass_time(0)
        return bool(select.select([self._client], [], [], 0)[0])

    def drop(self) -> None:
        """Hang up without waiting for an answer."""
        self._client.close()


class Core:
    """What all that is asked of a cluster needs."""

    def __init__(self, cluster: FailingCluster) -> None:
        self.cluster = cluster
        self.secret = _secret()
        self.transcript: list[Any] = []
        self.ids: dict[str, bytes] = {}
        self._clients: dict[int, WireClient] = {}
        self._down: set[int] = set()

    def note(self, asked: str, answer: Any) -> None:
        """Write down what was asked, and what came back."""
        self.transcript.append([asked, answer])

    def real(self, name: str) -> str:
        """What a topic, group or transactional id of the story is called at the cluster."""
        return name if name in COORDINATED else f"{name}-{self.secret}"

    def shown(self, text: str | None) -> str | None:
        """A name or a text of the cluster as the story has it."""
        return None if text is None else text.replace(f"-{self.secret}", "")

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    # -- verbs

    def kill(self, *nodes: int) -> None:
        """Crashes."""
        for node in nodes:
            self._leave(node)
            self.cluster.kill(node)

    def stop(self, node: int) -> None:
        """A shutdown in order."""
        self._leave(node)
        self.cluster.stop(node)

    def freeze(self, node: int) -> None:
        """A node that answers nothing, its connections open."""
        self._leave(node)
        self.cluster.freeze(node)

    def start(self, node: int) -> None:
        """A node comes back."""
        self.cluster.start(node)
        self._down.discard(node)

    def thaw(self, node: int) -> None:
        """A frozen node goes on."""
        self.cluster.thaw(node)
        self._down.discard(node)

    def _leave(self, node: int) -> None:
        self._hang_up(node)
        self._down.add(node)

    def isolate(self, node: int, *others: int) -> None:
        """Cut the links of a node with others, or with all."""
        for other in others or NODES:
            if other != node:
                self.cluster.cut(node, other)

    def rejoin(self, node: int, *others: int) -> None:
        """Mend the links of a node."""
        for other in others or NODES:
            if other != node:
                self.cluster.mend(node, other)

    # -- asking

    def begin(self, node: int, request: Any, version: int) -> Pending:
        """Send a request on a connection of its own."""
        client = _Connection("127.0.0.1", self.cluster.port(node), timeout_s=PATIENCE_S)
        return Pending(self.cluster, client, request, version)

    def ask(self, node: int, request: Any, version: int) -> Any:
        """The answer to a request that is answered without delay, on the story's connection to the node."""
        for attempt in (1, 2):
            client = self._clients.get(node)
            if client is None:
                client = WireClient("127.0.0.1", self.cluster.port(node), timeout_s=PATIENCE_S)
                self._clients[node] = client
            try:
                return client.request(request, version)
            except WireError:  # the node has been restarted since the last request
                self._hang_up(node)
                if attempt == 2:
                    raise
        raise AssertionError

    def _hang_up(self, node: int) -> None:
        client = self._clients.pop(node, None)
        if client is not None:
            client.close()

    def until(self, what: str, probe: Callable[[], Answer]) -> Answer:
        """The first true answer of a probe; a connection that breaks counts as false. Time passes in between."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer: Any = None
            try:
                answer = probe()
            except WireError as failure:
                answer, last = None, failure
            else:
                last = answer
            if answer:
                return answer  # type: ignore[no-any-return]
            assert time.monotonic() < deadline, f"{what}: never seen; at last {last!r}"
            self.cluster.pass_time()

    # -- topics

    def create(self, topic: str, *replicas: Iterable[int], **configs: object) -> None:
        """A topic whose partitions have these replicas, known and in sync everywhere; [1, 2, 3] if none are named."""
        assigned = [CreatableReplicaAssignment(index, list(each)) for index, each in enumerate(replicas or [(1, 2, 3)])]
        wanted = [CreatableTopicConfig(name.replace("_", "."), str(value)) for name, value in configs.items()]
        request = CreateTopicsRequest([CreatableTopic(self.real(topic), -1, -1, assigned, wanted)], 60_000)
        created = self.ask(1, request, 7).topics[0]
        assert created.error_code == 0, (topic, error(created.error_code), created.error_message)
        self.ids[topic] = created.topic_id
        for index, each in enumerate(assigned):
            self.await_isr(topic, each.broker_ids, index)

    def partition(self, topic: str, index: int = 0, node: int = 1) -> Any:
        """A partition as a node's metadata has it (with ELR), None if the node does not know it."""
        request = DescribeTopicPartitionsRequest([TopicRequest(self.real(topic))])
        found = self.ask(node, request, 0).topics[0].partitions
        return next((each for each in found if each.partition_index == index), None)

    def live(self) -> list[int]:
        """The nodes that answer."""
        return [node for node in NODES if node not in self._down]

    def await_isr(self, topic: str, isr: Iterable[int], index: int = 0) -> None:
        """Wait until all nodes that are up know these replicas to be in sync."""
        wanted = set(isr)
        for node in self.live():
            self.until(
                f"ISR {wanted} of {topic} at {node}",
                lambda node=node: (found := self.partition(topic, index, node)) and set(found.isr_nodes) == wanted,  # type: ignore[misc]
            )

    def await_leader(self, topic: str, leader: int, index: int = 0) -> int:
        """Wait until all nodes that are up know this leader (-1: none), and it leads; returns the leader's epoch."""
        epoch = -1
        for node in self.live():
            found = self.until(
                f"leader {leader} of {topic} at {node}",
                lambda node=node: (p := self.partition(topic, index, node)) and p.leader_id == leader and p,  # type: ignore[misc]
            )
            epoch = found.leader_epoch
        if leader in self.live():
            self.until(f"{leader} leads {topic}", lambda: self._leads(leader, topic, index))
        return epoch

    def _leads(self, node: int, topic: str, index: int) -> bool:
        """Whether a node answers as the leader: it knows that it is a moment before it does so."""
        request = ListOffsetsRequest(
            -1, topics=[ListOffsetsTopic(self.real(topic), [ListOffsetsPartition(index, -1, -2)])]
        )
        return bool(self.ask(node, request, 7).topics[0].partitions[0].error_code == 0)

    def create_coordinators(self) -> None:
        """The topics of the coordinators, once for each cluster: node 1 is the coordinator of "group" and of "tx"."""
        for topic in COORDINATED:
            replicas = [CreatableReplicaAssignment(index, [*NODES[index:], *NODES[:index]]) for index in range(3)]
            configs = [CreatableTopicConfig("cleanup.policy", "compact")]
            if topic == COORDINATED[1]:
                configs.append(CreatableTopicConfig("min.insync.replicas", "2"))
            request = CreateTopicsRequest([CreatableTopic(topic, -1, -1, replicas, configs)], 60_000)
            assert error(self.ask(1, request, 7).topics[0].error_code) in ("NONE", "TOPIC_ALREADY_EXISTS")
            self.await_isr(topic, NODES)

    # -- what metadata shows

    def show(self, asked: str, topic: str, index: int = 0, node: int | None = None) -> None:
        """Write down a partition as DescribeTopicPartitions and Metadata show it."""
        asked_node = self.live()[-1] if node is None else node
        found = self.partition(topic, index, asked_node)
        request = MetadataRequest([MetadataRequestTopic(name=self.real(topic))], False)
        plain = self.ask(asked_node, request, 12).topics[0].partitions
        told = next(each for each in plain if each.partition_index == index)
        self.note(
            f"partition: {asked}",
            {
                "error": error(found.error_code),
                "error in Metadata": error(told.error_code),
                "leader": [found.leader_id, found.leader_epoch],
                "leader in Metadata": [told.leader_id, told.leader_epoch],
                "replicas": found.replica_nodes,
                "isr": sorted(found.isr_nodes),
                "isr in Metadata": sorted(told.isr_nodes),
                "elr": None if found.eligible_leader_replicas is None else sorted(found.eligible_leader_replicas),
                "last known elr": found.last_known_elr,
                "offline": sorted(found.offline_replicas),
            },
        )
