"""The nodes of this process as members of the cluster: registered, fenced, shut down."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from odradek.broker.controller.broker_control import (
    fence_broker,
    register_broker,
    register_controller,
    shut_down_brokers,
    unfence_brokers,
)
from odradek.broker.controller.controller import Controller
from odradek.broker.controller.feature_levels import CONTROLLERS_SINCE
from odradek.broker.controller.quorum import Quorum
from odradek.broker.metadata.image import METADATA_VERSION, Endpoint, MetadataDelta, MetadataImage, directory_of
from odradek.broker.metadata.node import Node
from odradek.protocol.uuids import new_uuid

CONTROLLER_LISTENER = "CONTROLLER"
_signed = struct.Struct(">qq").unpack
"""Kafka orders ids as two signed numbers."""


class Membership:
    """Tells the controller which nodes are there. Owner: the cluster.

    `nodes`: the brokers; `separate`: controllers that are no brokers. `directories`: the ids of each broker's log
    directories. Where a node listens is known after its registration, so `listening` amends it.
    """

    def __init__(
        self, controller: Controller, nodes: Mapping[int, Node], separate: Mapping[int, Node], quorum: Quorum
    ) -> None:
        self._controller = controller
        self._nodes = nodes
        self._separate = separate
        self._quorum = quorum
        self._incarnations: dict[int, bytes] = {}
        self._crashed: set[int] = set()
        self._started: set[int] = set()
        """The controllers that have been started."""
        self.directories: dict[int, Sequence[bytes]] = {}
        self.keep_directories({node_id: (new_uuid(),) for node_id in nodes})
        for node in separate.values():
            node.metadata_directory = new_uuid()

    def keep_directories(
        self, directories: Mapping[int, Sequence[bytes]], metadata: Mapping[int, bytes] | None = None
    ) -> None:
        """The nodes have these log directories. `metadata`: where the metadata log is, if not in the first."""
        self.directories = dict(directories)
        for node_id, ids in directories.items():
            self._nodes[node_id].metadata_directory = ids[0] if metadata is None else metadata[node_id]
        for node_id, node in self._separate.items():
            if metadata is not None:
                node.metadata_directory = metadata[node_id]

    def admit(self, node: Node) -> None:
        """A broker is known from now on, with a log directory of its own."""
        self.directories[node.id] = (new_uuid(),)
        [node.metadata_directory] = self.directories[node.id]

    def dismiss(self, node_id: int) -> None:
        """A broker is known no more."""
        self.directories.pop(node_id, None)
        for known in (self._crashed, self._started):
            known.discard(node_id)
        self._incarnations.pop(node_id, None)

    def join(self, node_ids: Iterable[int]) -> None:
        """These nodes have started: new incarnations, unfenced."""
        joining = list(node_ids)
        for node_id in joining:
            self._incarnations[node_id] = new_uuid()
            if self._nodes[node_id].is_controller:
                self._register_controller(self._nodes[node_id])
            self._register(node_id)
        self._controller.ask(unfence_brokers, joining)

    def join_controllers(self, node_ids: Iterable[int]) -> None:
        """These controllers, which are no brokers, have started."""
        for node_id in node_ids:
            self._separate[node_id].up = True
            self._register_controller(self._separate[node_id])
            self._quorum.joined(node_id)

    def lose_controller(self, node_id: int) -> None:
        """A controller that is no broker is gone; another one leads if it did."""
        self._separate[node_id].up = False
        self._quorum.left(node_id)

    def listening(self, node_ids: Iterable[int]) -> None:
        """Register the addresses where these nodes listen."""
        for node_id in node_ids:
            self._register(node_id)
        for node in (*self._nodes.values(), *self._separate.values()):
            if node.up and node.controllers and not self._knows_address_of(node):
                self._register_controller(node)

    def lose(self, node_id: int) -> None:
        """Fence a node that has crashed; another one becomes the controller if it was.

        The controller of a node that `controls_alone` goes on.
        """
        self._crashed.add(node_id)
        self._controller.ask(fence_broker, node_id)
        if not self._nodes[node_id].controls_alone:
            self._quorum.left(node_id)

    def retire(self, node_id: int) -> None:
        """Shut a node down in order: others lead its partitions first; another one becomes the controller if it was.

        The controller of a node that `controls_alone` goes on.
        """
        self._controller.ask(shut_down_brokers, [node_id])
        if not self._nodes[node_id].controls_alone:
            self._quorum.left(node_id)

    def rejoin(self, node_id: int) -> None:
        """A node that was gone is back; it is the controller if no other node is up."""
        self.join([node_id])
        self._quorum.joined(node_id)

    def awake(self, node_id: int) -> None:
        """A node that was only silent continues; it is the controller if no other node is up."""
        self._crashed.discard(node_id)
        if node_id in self._controller.image.brokers:
            self._controller.ask(unfence_brokers, [node_id])
        self._quorum.joined(node_id)

    def shut_down(self) -> None:
        """All nodes stop in order."""
        self._controller.ask(shut_down_brokers, [node_id for node_id in self._nodes if node_id in self._incarnations])

    def fence_strangers(self) -> None:
        """Brokers that the metadata names and this process does not run are not there."""
        for node_id in [node for node in self._controller.image.brokers if node not in self._nodes]:
            self._controller.ask(fence_broker, node_id)

    def find_disks(self, node_id: int) -> list[tuple[str, int]]:
        """The disks of a node work: it has all its replicas. Returns the partitions whose replica was lost."""
        image = self._controller.image
        found = [
            (topic, index)
            for topic in image.topics.values()
            for index, partition in enumerate(topic.partitions)
            if partition.is_lost(node_id)
        ]
        if found:
            from odradek.broker.controller.partition_control import assign_replicas

            home = directory_of(image, node_id)
            replicas = [(topic.topic_id, index, home) for topic, index in found]
            self._controller.ask(assign_replicas, node_id, replicas)
        return [(topic.name, index) for topic, index in found]

    def broker_epoch(self, node_id: int) -> int:
        """The epoch of the node's registration, -1 without one."""
        broker = self._controller.image.brokers.get(node_id)
        return -1 if broker is None else broker.epoch

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for node_id in delta.brokers:
            node, broker = self._nodes.get(node_id), image.brokers.get(node_id)
            if node is not None:
                node.up = broker is not None and not broker.fenced
        if delta.features:
            self._register_missing_controllers(image)

    def _register_missing_controllers(self, image: MetadataImage) -> None:
        """Register controllers that have no record yet. `metadata.version` permits that from 3.7-IV0 on."""
        if image.feature(METADATA_VERSION) < CONTROLLERS_SINCE:
            return
        for node in (*self._nodes.values(), *self._separate.values()):
            if node.up and node.id in self._started and node.id not in image.controllers:
                self._controller.post(register_controller, node.id, new_uuid(), controller_endpoints(node))

    def _register_controller(self, node: Node) -> None:
        self._started.add(node.id)
        self._controller.ask(register_controller, node.id, new_uuid(), controller_endpoints(node))

    def _knows_address_of(self, node: Node) -> bool:
        known = self._controller.image.controllers.get(node.id)
        return known is not None and list(known.endpoints) == controller_endpoints(node)

    def _register(self, node_id: int) -> None:
        node = self._nodes[node_id]
        directories = sorted(self.directories[node_id], key=_signed)
        endpoints = [
            Endpoint(name, *each.registered(), each.listener.protocol.number)
            for name, each in node.endpoints.items()
            if each.told
        ]
        epoch = self._controller.next_offset
        incarnation = self._incarnations[node_id]
        crashed = node_id in self._crashed
        self._crashed.discard(node_id)
        self._controller.ask(
            register_broker, node_id, incarnation, epoch, endpoints, node.rack, directories, crashed=crashed
        )


def controller_endpoints(node: Node, dialled_host: str | None = None) -> list[Endpoint]:
    """The endpoints of a node as a controller: the configured listeners, or else its listeners for clients."""
    if not node.controllers:
        first = node.first
        return [
            Endpoint(CONTROLLER_LISTENER, *(first.address_for(dialled_host) if dialled_host else first.registered()))
        ]
    return [
        Endpoint(name, *each.registered(), each.listener.protocol.number) for name, each in node.controllers.items()
    ]
