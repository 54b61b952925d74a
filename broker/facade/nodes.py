"""Nodes: stops, kills, freezes and starts them, and moves the leadership of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from odradek.broker.controller.commands import ElectLeaders, MoveLeader
from odradek.broker.metadata.registrations import NO_LEADER
from odradek.broker.replication.thawed_leaders import Frozen, leading_still, led_by
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.metadata.node import Node
    from odradek.broker.runtime.machine import Command

_SESSION = "broker.session.timeout.ms"
_QUORUM = "controller.quorum.fetch.timeout.ms"


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node. ``state``: ``up``, ``frozen`` or ``down``.

    ``leads``, ``replicas``: how many partitions it leads and has copies of, Kafka's own among them; ``behind``: copies
    that are not in sync. ``controller``: whether it is the active controller.
    """

    id: int
    state: str
    controller: bool
    host: str
    port: int
    rack: str | None
    leads: int
    replicas: int
    behind: int


def nodes(cluster: Cluster) -> dict[int, NodeInfo]:
    """In the broker's thread."""
    leads, replicas, behind = (dict.fromkeys([-1, *cluster.nodes], 0) for _ in range(3))
    for topic in cluster.topics.all():
        for part in topic.partitions:
            leads[part.leader_id] += 1
            for number in part.replicas:
                replicas[number] += 1
                behind[number] += number not in part.isr
    return {
        number: NodeInfo(
            id=number,
            state=node_state(cluster, number),
            controller=number == cluster.controller_id,
            host=node.host,
            port=node.port,
            rack=node.rack,
            leads=leads[number],
            replicas=replicas[number],
            behind=behind[number],
        )
        for number, node in cluster.nodes.items()
    }


def node_state(cluster: Cluster, number: int) -> str:
    if not cluster.nodes[number].up:
        return "down"
    return "frozen" if number in cluster.frozen else "up"


def stop_node(cluster: Cluster, node_id: int) -> None:
    """Shut a node down in order: others lead its partitions before its listener and connections go.

    ValueError for a node that is not up.
    """
    _up_node(cluster, node_id)
    _not_frozen(cluster, node_id)
    if node_id in cluster.separate:
        _end_controller(cluster, node_id)
        return
    cluster.membership.retire(node_id)
    _silence(cluster, node_id)


def kill_node(cluster: Cluster, node_id: int) -> None:
    """Take a node down as a crash does: listener and connections cut, and what was not replicated only in its own log.

    ValueError for a node that is not up.
    """
    if node_id not in cluster.frozen:
        _up_node(cluster, node_id)
    forget_frozen(cluster, node_id)
    if node_id in cluster.separate:
        _end_controller(cluster, node_id)
        return
    _silence(cluster, node_id)
    cluster.membership.lose(node_id)


def _end_controller(cluster: Cluster, node_id: int) -> None:
    """A controller that is no broker: what is in its log is in all others'."""
    cluster.server.stop_node(cluster.separate[node_id])
    cluster.membership.lose_controller(node_id)


def _silence(cluster: Cluster, node_id: int) -> None:
    cluster.server.stop_node(cluster.nodes[node_id])
    cluster.fetch_sessions.pop(node_id, None)
    cluster.replicator.node_lost(node_id)


def _up_node(cluster: Cluster, node_id: int) -> None:
    if not _node(cluster, node_id).up:
        raise ValueError(f"node {node_id} is down already")
    if cluster.quorum.is_last(node_id):
        raise ValueError(f"node {node_id} is the last controller that is up: the others could change no metadata")


def start_node(cluster: Cluster, node_id: int) -> None:
    """Bring a node back at its old address, with its logs as they were: it follows the leaders of its partitions, and
    leads what nobody leads.

    ValueError for a node that is up; OSError if the address has been taken.
    """
    node = _node(cluster, node_id)
    _not_frozen(cluster, node_id)
    if node.up:
        raise ValueError(f"node {node_id} is up already")
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    cluster.server.stop_node(node)  # one that was unregistered listens still
    cluster.server.bind(node)
    cluster.server.accept(cluster.connection_nursery)
    if node_id in cluster.separate:
        cluster.membership.join_controllers([node_id])
        return
    cluster.membership.rejoin(node_id)
    cluster.replicator.node_back(node_id)


class LeaderMove:
    """Another live replica leads a partition, until the move is taken back."""

    def __init__(self, cluster: Cluster, topic: str, partition: int, node_id: int) -> None:
        self._cluster = cluster
        self._place = (topic, partition)
        self._node_id = node_id
        self._before = NO_LEADER

    def make(self) -> None:
        """Let the node lead, as an election does.

        KeyError for an unknown topic or partition, ValueError for a node that cannot lead it.
        """
        _node(self._cluster, self._node_id)
        led = self._cluster.image.partition(*self._place)
        self._before = NO_LEADER if led is None else led.leader
        _ask(self._cluster, MoveLeader(self._place, self._node_id))

    def take_back(self) -> None:
        """Let the leader before lead again, if it still could; a topic that is gone is none of ours."""
        place = self._cluster.image.partition(*self._place)
        if place is None or place.leader != self._node_id or self._before not in place.isr:
            return
        if self._cluster.nodes[self._before].up:
            _ask(self._cluster, MoveLeader(self._place, self._before))


def move_leader(cluster: Cluster, topic: str, partition: int, node_id: int) -> None:
    """Let another live replica lead a partition, as an election does.

    KeyError for an unknown topic or partition, ValueError for a node that cannot lead it.
    """
    LeaderMove(cluster, topic, partition, node_id).make()


def elect(
    cluster: Cluster, topic: str, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False
) -> None:
    """Elect leaders, of one partition or of all: the preferred replicas, or `node_id`, which has to be in sync.

    `unclean`: where nobody leads, a live replica that may lack records: the first one, or `node_id`. A partition that
    has its preferred leader keeps it. KeyError for an unknown topic or partition, ValueError where it cannot be.
    """
    known = cluster.image.topics.get(topic)
    if known is None:
        raise KeyError(f"no topic {topic}")
    places = [(topic, index) for index in ([partition] if partition is not None else range(len(known.partitions)))]
    if node_id is not None:
        _node(cluster, node_id)
        for place in places:
            _ask(cluster, MoveLeader(place, node_id, unclean=unclean))
        return
    errors = cluster.controller.ask(ElectLeaders(places, unclean=unclean))
    for place, error in zip(places, errors, strict=True):
        needless = error is not None and error.code is ErrorCode.ELECTION_NOT_NEEDED
        if error is None or (needless and (partition is None or not unclean)):
            continue
        text = f"{place[0]}-{place[1]}: {error.message}"
        if needless:
            led = cluster.image.partition(*place)
            text = (
                f"{place[0]}-{place[1]} is led by node {led.leader if led else NO_LEADER}: an unclean election needs "
            )
            text += "a partition without a leader"
        raise _mistake(error, text)


def _ask(cluster: Cluster, command: Command[None]) -> None:
    try:
        cluster.controller.ask(command)
    except KafkaError as error:
        raise _mistake(error, error.message or error.code.name) from None


def _mistake(error: KafkaError, text: str) -> Exception:
    """The user's mistake, in Python's words."""
    return KeyError(text) if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else ValueError(text)


def _not_frozen(cluster: Cluster, node_id: int) -> None:
    if node_id in cluster.frozen:
        raise ValueError(f"node {node_id} is frozen: thaw it, or kill it")


def _node(cluster: Cluster, node_id: int) -> Node:
    node = cluster.members.get(node_id)
    if node is None:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.members))}")
    return node


def freeze_node(cluster: Cluster, node_id: int) -> None:
    """Pause a node. ValueError for one that is down or frozen already."""
    node = _node(cluster, node_id)
    if node_id in cluster.frozen:
        raise ValueError(f"node {node_id} is frozen already")
    if not node.up:
        raise ValueError(f"node {node_id} is down")
    cluster.server.freeze(node)
    cluster.replicator.node_lost(node_id)
    _watch(cluster, node_id)


def thaw_node(cluster: Cluster, node_id: int) -> None:
    """Let a node go on: it answers what waits in its sockets, and is a member again. ValueError unless it is frozen."""
    node = _node(cluster, node_id)
    if node_id not in cluster.frozen:
        raise ValueError(f"node {node_id} is not frozen")
    frozen = cluster.frozen.pop(node_id)
    frozen.cancel()
    cluster.membership.awake(node_id)
    known = frozen.led if cluster.directory is None else {}
    with leading_still(known, node_id, cluster.clock.now_ms()):
        cluster.server.thaw(node)
    cluster.replicator.node_back(node_id)
    for other in cluster.frozen:
        if cluster.nodes[other].up:
            _watch(cluster, other)  # there may have been nobody to fence it


def thaw_if_frozen(cluster: Cluster, node_id: int) -> None:
    """Undo `freeze_node`, whatever has become of the node meanwhile."""
    if node_id in cluster.frozen:
        thaw_node(cluster, node_id)


def thaw_all(cluster: Cluster) -> None:
    """Let all frozen nodes go on."""
    for node_id in list(cluster.frozen):
        thaw_node(cluster, node_id)


def forget_frozen(cluster: Cluster, node_id: int) -> None:
    """A frozen node dies: its sockets close."""
    frozen = cluster.frozen.pop(node_id, None)
    if frozen is not None:
        frozen.cancel()
        cluster.server.links.thaw(node_id)


def _watch(cluster: Cluster, node_id: int) -> None:
    """Let the others notice in time that a node is silent."""
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    frozen = cluster.frozen.get(node_id)
    if frozen is None:
        frozen = cluster.frozen[node_id] = Frozen(led_by(cluster.topics, node_id))
    frozen.cancel()
    frozen.scope = trio.CancelScope()
    cluster.connection_nursery.start_soon(_fence_in_time, cluster, node_id, frozen.scope, cluster.clock.now_ms())


async def _fence_in_time(cluster: Cluster, node_id: int, scope: trio.CancelScope, since_ms: int) -> None:
    with scope:
        if cluster.controller_id == node_id:
            since_ms += cluster.config.get_int(_QUORUM)
            await cluster.clock.sleep_until_ms(since_ms)
            successor = next((node.id for node in cluster.quorum.voters if _is_awake(cluster, node)), None)
            if successor is None:
                return
            cluster.controller.take_over(successor)
        await cluster.clock.sleep_until_ms(since_ms + cluster.config.get_int(_SESSION))
        if _awake(cluster) is not None and node_id in cluster.image.brokers:
            cluster.membership.lose(node_id)


def _awake(cluster: Cluster) -> int | None:
    """A node that works, the first of them."""
    return next((node.id for node in cluster.up_nodes() if _is_awake(cluster, node)), None)


def _is_awake(cluster: Cluster, node: Node) -> bool:
    return node.up and node.id not in cluster.frozen
