"""The nodes of this process as members of the cluster: registered, fenced, shut down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.controller.commands import (
    FenceBroker,
    RegisterBroker,
    RegisterController,
    ShutDownBrokers,
    UnfenceBrokers,
)
from odradek.broker.controller.controller import Controller
from odradek.broker.metadata.delta import MetadataDelta
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.metadata.node import Node
from odradek.broker.metadata.registrations import Endpoint
from odradek.protocol.uuids import new_uuid

CONTROLLER_LISTENER = "CONTROLLER"


class Membership:
    """Tells the controller which nodes are there. Owner: the cluster.

    Every node is broker and controller. `directories`: the id of each node's log directory. Where a node listens is
    known after its registration, so `listening` amends it.
    """

    def __init__(self, controller: Controller, nodes: Mapping[int, Node]) -> None:
        self._controller = controller
        self._nodes = nodes
        self._incarnations: dict[int, bytes] = {}
        self.directories: dict[int, bytes] = {node_id: new_uuid() for node_id in nodes}

    def join(self, node_ids: Iterable[int]) -> None:
        """These nodes have started: new incarnations, unfenced."""
        joining = list(node_ids)
        for node_id in joining:
            self._incarnations[node_id] = new_uuid()
            endpoints = self._endpoints(node_id, CONTROLLER_LISTENER)
            self._controller.ask(RegisterController(node_id, new_uuid(), endpoints))
            self._register(node_id)
        self._controller.ask(UnfenceBrokers(joining))

    def listening(self, node_ids: Iterable[int]) -> None:
        """These nodes have got the addresses where they listen."""
        for node_id in node_ids:
            self._register(node_id)

    def lose(self, node_id: int) -> None:
        """A node is gone, as in a crash; another one is the controller if it was."""
        self._controller.ask(FenceBroker(node_id))
        if self._controller.controller_id == node_id:
            up = (node.id for node in self._nodes.values() if node.up)
            self._controller.take_over(next(up, node_id))

    def rejoin(self, node_id: int) -> None:
        """A node that was gone is back; it is the controller if no other node is up."""
        self.join([node_id])
        if not self._nodes[self._controller.controller_id].up:
            self._controller.take_over(node_id)

    def shut_down(self) -> None:
        """All nodes stop in order."""
        self._controller.ask(ShutDownBrokers([node_id for node_id in self._nodes if node_id in self._incarnations]))

    def fence_strangers(self) -> None:
        """Brokers that the metadata names and this process does not run are not there."""
        for node_id in [node for node in self._controller.image.brokers if node not in self._nodes]:
            self._controller.ask(FenceBroker(node_id))

    def broker_epoch(self, node_id: int) -> int:
        """The epoch of the node's registration, -1 without one."""
        broker = self._controller.image.brokers.get(node_id)
        return -1 if broker is None else broker.epoch

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`."""
        for node_id in delta.brokers:
            node, broker = self._nodes.get(node_id), image.brokers.get(node_id)
            if node is not None:
                node.up = broker is not None and not broker.fenced

    def _register(self, node_id: int) -> None:
        node = self._nodes[node_id]
        directories = [self.directories[node_id]]
        endpoints = self._endpoints(node_id, "PLAINTEXT")
        epoch = self._controller.next_offset
        incarnation = self._incarnations[node_id]
        self._controller.ask(RegisterBroker(node_id, incarnation, epoch, endpoints, node.rack, directories))

    def _endpoints(self, node_id: int, listener: str) -> list[Endpoint]:
        node = self._nodes[node_id]
        return [Endpoint(listener, *node.address_for(None))]
