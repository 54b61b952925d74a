"""Requests of the simulated clients: over real sockets, with time-outs on the run's clock, tried again as in Java."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import trio

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import ConnectionClosed, TrioWireClient

REQUEST_TIMEOUT_S = 5.0
GROUP, TRANSACTION = 0, 1
_NOT_HERE = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class LostError(Exception):
    """No answer came, or no connection: whether the request was served nobody knows."""


class WrongError(AssertionError):
    """A client was told what a cluster that keeps its promises never says."""


class Wire:
    """What one task of a client says, and hears.

    `ports`: of the nodes by id. `doing`: what it is at, for the report of a client that gets nowhere.
    """

    def __init__(self, name: str, ports: dict[int, int], random: Random) -> None:
        self.name = name
        self.doing = "nothing"
        self.random = random
        self._ports = ports
        self._open: dict[int, TrioWireClient] = {}
        self._leaders: dict[tuple[str, int], tuple[int, int]] = {}
        self._coordinators: dict[tuple[int, str], int] = {}

    async def ask(self, node: int, request: Any, version: int, timeout: float = REQUEST_TIMEOUT_S) -> Any:
        """The answer of a node; LostError after the time-out, or when the connection ends."""
        self.doing = f"{type(request).__name__} v{version} at node {node}"
        try:
            with trio.fail_after(timeout):
                client = self._open.get(node)
                if client is None:
                    client = self._open[node] = await self._connect(node)
                return await client.request(request, version)
        except (OSError, ConnectionClosed, trio.BrokenResourceError, trio.TooSlowError) as error:
            await self._drop(node)
            raise LostError(f"{self.doing}: {error!r}") from error
        except BaseException:
            await self._drop(node)
            raise

    async def _connect(self, node: int) -> TrioWireClient:
        sock = trio.socket.socket()
        try:
            await sock.connect(("127.0.0.1", self._ports[node]))
        except BaseException:
            sock.close()
            raise
        return TrioWireClient(trio.SocketStream(sock), client_id=self.name)

    async def _drop(self, node: int) -> None:
        client = self._open.pop(node, None)
        if client is not None:
            with trio.CancelScope(shield=True):
                await client.aclose()

    async def close(self) -> None:
        """Hang up everywhere."""
        for node in list(self._open):
            await self._drop(node)

    async def pause(self) -> None:
        """Between two tries."""
        await trio.sleep(self.random.uniform(0.05, 0.15))

    # -- leaders

    async def at_leader(self, topic: str, partition: int, make: Callable[[int], Any], version: int) -> Any:
        """Ask the leader as far as it is known; `make(epoch)` makes the request. LostError if there is none."""
        known = self._leaders.get((topic, partition))
        if known is None:
            await self._learn_leaders(topic)
            known = self._leaders.get((topic, partition))
        if known is None:
            raise LostError(f"{topic}-{partition} has no leader")
        node, epoch = known
        try:
            return await self.ask(node, make(epoch), version)
        except LostError:
            self.forget_leader(topic, partition)
            raise

    def forget_leader(self, topic: str, partition: int) -> None:
        """Ask again who leads."""
        self._leaders.pop((topic, partition), None)

    async def _learn_leaders(self, topic: str) -> None:
        request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        response = await self.ask(self.random.choice(sorted(self._ports)), request, 12)
        for each in response.topics:
            for partition in each.partitions:
                if partition.leader_id >= 0:
                    self._leaders[topic, partition.partition_index] = (partition.leader_id, partition.leader_epoch)

    # -- coordinators

    async def at_coordinator(
        self,
        kind: int,
        key: str,
        request: Any,
        version: int,
        code_of: Callable[[Any], int],
        timeout: float = REQUEST_TIMEOUT_S,
    ) -> tuple[ErrorCode, Any]:
        """The coordinator's answer and its error; tried again until one comes that is not about where it is."""
        while True:
            try:
                node = await self._coordinator(kind, key)
                response = await self.ask(node, request, version, timeout)
            except LostError:
                self._coordinators.pop((kind, key), None)
                await self.pause()
                continue
            code = ErrorCode(code_of(response))
            if code not in _NOT_HERE:
                return code, response
            self._coordinators.pop((kind, key), None)
            await self.pause()

    async def _coordinator(self, kind: int, key: str) -> int:
        known = self._coordinators.get((kind, key))
        if known is None:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            response = await self.ask(self.random.choice(sorted(self._ports)), request, 4)
            found = response.coordinators[0]
            if found.error_code:
                raise LostError(f"no coordinator of {key}: {ErrorCode(found.error_code).name}")
            known = self._coordinators[kind, key] = found.node_id
        return known
