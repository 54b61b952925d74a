"""Nodes: stops, kills, freezes and starts them, and moves the leadership of partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio

from odradek.broker.cluster import checked_start
from odradek.broker.config.node_config import check_changed_values, check_own_values, quorum_of
from odradek.broker.config.requirements import check_cordons, check_stored
from odradek.broker.controller import partition_control
from odradek.broker.controller.feature_levels import UNSTABLE_APIS_ENABLE, supported_features
from odradek.broker.metadata.image import NO_LEADER, ResourceType
from odradek.broker.mistakes import NearNames
from odradek.broker.partitions.lookups import find_partitions
from odradek.broker.replication.thawed_leaders import Frozen, leading_still, led_by
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.node import Endpoint, Node
    from odradek.broker.releases.release import Release


Undoing = Callable[[], None]
"""Undoes a change, in the broker's thread. It does nothing where what was changed has changed or is gone since."""

_SESSION = "broker.session.timeout.ms"
_QUORUM = "controller.quorum.fetch.timeout.ms"


@dataclass(frozen=True, slots=True)
class NodeInfo(NearNames):
    """A snapshot of a node.

    ``state`` is ``up``, ``frozen`` or ``down``. ``controller`` is true for the active controller. ``leads`` and
    ``replicas`` count the partitions that the node leads and has replicas of, including internal topics; ``behind``
    counts its replicas that are not in sync. ``release`` is the Kafka that the node runs, such as ``3.6``.
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
    release: str


def nodes(cluster: Cluster) -> dict[int, NodeInfo]:
    """Snapshots of all nodes, in the broker's thread."""
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
            release=node.release.name,
        )
        for number, node in cluster.nodes.items()
    }


def node_state(cluster: Cluster, number: int) -> str:
    if not cluster.nodes[number].up:
        return "down"
    return "frozen" if number in cluster.frozen else "up"


def stop_node(cluster: Cluster, node_id: int, *, broker_only: bool = False) -> Undoing:
    """Shut a node down cleanly: the leadership of its partitions moves before its sockets close.

    `broker_only`: the controller of a node that is both goes on. Raises ValueError for a node that is not up, or not
    both.
    """
    if broker_only:
        _stop_broker(cluster, node_id)
    else:
        _up_node(cluster, node_id)
        not_frozen(cluster, node_id)
        take_down(cluster, the_node(cluster, node_id))
    return lambda: start_if_down(cluster, node_id)


def take_down(cluster: Cluster, node: Node) -> None:
    """Shut a node that is up down cleanly, whichever others are up."""
    if not node.is_broker:
        _end_controller(cluster, node.id)
        return
    cluster.membership.retire(node.id)
    _silence(cluster, node.id)


def _stop_broker(cluster: Cluster, node_id: int) -> None:
    node = the_node(cluster, node_id)
    if not (node.is_broker and node.is_controller):
        raise ValueError(f"node {node_id} is not broker and controller: it stops as a whole")
    _is_up(node)
    not_frozen(cluster, node_id)
    node.controls_alone = True
    cluster.membership.retire(node_id)
    _silence(cluster, node_id)


def kill_node(cluster: Cluster, node_id: int) -> Undoing:
    """Take a node down like a crash: its sockets close, and records that were not replicated stay in its log alone.

    Raises ValueError for a node that is not up.
    """
    if node_id not in cluster.frozen:
        _up_node(cluster, node_id)
    forget_frozen(cluster, node_id)
    if node_id in cluster.separate:
        _end_controller(cluster, node_id)
    else:
        crash(cluster, cluster.nodes[node_id])
    return lambda: start_if_down(cluster, node_id)


def halt_node(cluster: Cluster, node_id: int) -> None:
    """Take a broker that is up down like a crash. If it is the last controller, too, that goes on."""
    cluster.nodes[node_id].controls_alone = cluster.quorum.is_last(node_id)
    forget_frozen(cluster, node_id)
    crash(cluster, cluster.nodes[node_id])


def crash(cluster: Cluster, node: Node) -> None:
    """Take a broker that is up down like a crash, whichever others are up."""
    _silence(cluster, node.id)
    cluster.membership.lose(node.id)


def _end_controller(cluster: Cluster, node_id: int) -> None:
    """A controller that is no broker: what is in its log is in all others'."""
    cluster.server.stop_node(cluster.separate[node_id])
    cluster.membership.lose_controller(node_id)


def _silence(cluster: Cluster, node_id: int) -> None:
    node = cluster.nodes[node_id]
    cluster.server.stop_node(node, _endpoints_that_stop(node))
    cluster.fetch_sessions.pop(node_id, None)
    if (quotas := cluster.quota_switch.quotas) is not None:
        quotas.forget(node_id)
    cluster.replicator.node_lost(node_id)


def _endpoints_that_stop(node: Node) -> list[Endpoint] | None:
    """None for all."""
    return list(node.endpoints.values()) if node.controls_alone else None


def _is_up(node: Node) -> None:
    if not node.up:
        raise ValueError(f"node {node.id} is down already")


def _up_node(cluster: Cluster, node_id: int) -> None:
    _is_up(the_node(cluster, node_id))
    if cluster.quorum.is_last(node_id):
        raise ValueError(f"node {node_id} is the last controller that is up: the others could change no metadata")


def start_node(cluster: Cluster, node_id: int, config: Mapping[str, str] | None = None) -> None:
    """Start a node at its old address with its old logs. It follows the leaders, and leads partitions without one.

    `config`: the values that it has of its own from now on; None for those that it had. Raises ValueError for a node
    that is up, and for values that do not fit, OSError if the address has been taken.
    """
    node = the_node(cluster, node_id)
    not_frozen(cluster, node_id)
    if node.up:
        raise ValueError(f"node {node_id} is up already")
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    if config is None:
        check_values(cluster, node_id)
    change = None if config is None else changed_values(cluster, node, config)
    cluster.server.stop_node(node, _endpoints_that_stop(node))  # a node that was unregistered still listens
    if change is not None:
        change.make()
    bring_up(cluster, node)


def start_if_down(cluster: Cluster, node_id: int) -> None:
    """Start a node, unless it has been started, or has left the cluster, since."""
    node = cluster.members.get(node_id)
    if node is not None and not node.up:
        start_node(cluster, node_id)


def bring_up(cluster: Cluster, node: Node) -> None:
    """Let a node that is down listen, if the cluster does, and register."""
    assert cluster.connection_nursery is not None
    if cluster.server.running:
        cluster.server.bind(node, _endpoints_that_stop(node))
        cluster.server.accept(cluster.connection_nursery)
    node.controls_alone = False
    cluster.forget_log_levels([node.id])
    if not node.is_broker:
        cluster.membership.join_controllers([node.id])
        return
    cluster.membership.rejoin(node.id)
    cluster.replicator.node_back(node.id)
    cluster.live_listeners.apply(node.id)


def start_with(cluster: Cluster, config: BrokerConfig) -> None:
    """Give each node its own configs of `config`. Nodes whose configs change restart, if they are up."""
    now = cluster.config.static_nodes
    others = [node for node in cluster.members.values() if config.static_nodes.get(node.id, {}) != now.get(node.id, {})]
    up = [node for node in others if node.up]
    for node in up:
        thaw_if_frozen(cluster, node.id)
        take_down(cluster, node)
    for node in others:
        cluster.server.stop_node(node, _endpoints_that_stop(node))
        NewValues(cluster, node, config).make()
    for node in up:
        bring_up(cluster, node)


def restart_node(cluster: Cluster, node_id: int, between: Callable[[], None]) -> None:
    """Stop a node that is up as `stop_node` does, and start it again. `between` is called while it is down."""
    take_down(cluster, the_node(cluster, node_id))
    between()
    start_node(cluster, node_id)


def move_leader(cluster: Cluster, topic: str, partition: int, node_id: int) -> Undoing:
    """Make another live replica the leader of a partition. The previous leader becomes it again, if it still can.

    Raises UNKNOWN_TOPIC_OR_PARTITION for an unknown topic or partition, ValueError for a node that cannot lead it.
    """
    find_partitions(cluster.topics, topic, partition)
    the_node(cluster, node_id)
    led = cluster.image.partition(topic, partition)
    before = NO_LEADER if led is None else led.leader
    _lead(cluster, (topic, partition), node_id)

    def move_back() -> None:
        place = cluster.image.partition(topic, partition)
        if place is not None and place.leader == node_id and before in place.isr and cluster.nodes[before].up:
            _lead(cluster, (topic, partition), before)

    return move_back


def elect(
    cluster: Cluster, topic: str, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False
) -> None:
    """Elect the leader of one partition, or of all: the preferred replica, or `node_id`, which must be in sync.

    With `unclean`, a partition without a leader gets a live replica that may lack records: the first one, or `node_id`.
    A partition that has its preferred leader keeps it. Raises UNKNOWN_TOPIC_OR_PARTITION for an unknown topic or
    partition, ValueError if the election is not possible.
    """
    places = [(topic, each.index) for each in find_partitions(cluster.topics, topic, partition)]
    if node_id is not None:
        the_node(cluster, node_id)
        for place in places:
            _lead(cluster, place, node_id, unclean=unclean)
        return
    errors = cluster.controller.ask(partition_control.elect_leaders, places, unclean=unclean)
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
        raise ValueError(text)


def _lead(cluster: Cluster, place: tuple[str, int], node_id: int, *, unclean: bool = False) -> None:
    try:
        cluster.controller.ask(partition_control.move_leader, place, node_id, unclean=unclean)
    except KafkaError as error:
        raise ValueError(error.message or error.code.name) from None


def not_frozen(cluster: Cluster, node_id: int) -> None:
    """ValueError for a node that is frozen."""
    if node_id in cluster.frozen:
        raise ValueError(f"node {node_id} is frozen: thaw it, or kill it")


def the_node(cluster: Cluster, node_id: int) -> Node:
    """A broker or controller; ValueError, which names all, for an unknown id."""
    node = cluster.members.get(node_id)
    if node is None:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.members))}")
    return node


def freeze_node(cluster: Cluster, node_id: int) -> Undoing:
    """Pause a node. Raises ValueError if it is down or frozen already.

    The sockets of a frozen node stay open, and the system accepts connections for it, but it answers nothing and no
    replica follows it. The controller fences it after `broker.session.timeout.ms` on the broker's clock; if it was the
    controller itself, another node takes over after `controller.quorum.fetch.timeout.ms`, and counts from then on.
    """
    node = the_node(cluster, node_id)
    if node_id in cluster.frozen:
        raise ValueError(f"node {node_id} is frozen already")
    if not node.up:
        raise ValueError(f"node {node_id} is down")
    cluster.server.freeze(node)
    cluster.replicator.node_lost(node_id)
    _watch(cluster, node_id)
    return lambda: thaw_if_frozen(cluster, node_id)


def thaw_node(cluster: Cluster, node_id: int) -> None:
    """Resume a frozen node; it answers the requests in its sockets and rejoins. Raises ValueError for another node."""
    node = the_node(cluster, node_id)
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
            _watch(cluster, other)  # perhaps there was no node to fence it


def thaw_if_frozen(cluster: Cluster, node_id: int) -> None:
    """Undo `freeze_node`, unless the node has been thawed or killed since."""
    if node_id in cluster.frozen:
        thaw_node(cluster, node_id)


def thaw_all(cluster: Cluster) -> None:
    """Resume all frozen nodes."""
    for node_id in list(cluster.frozen):
        thaw_node(cluster, node_id)


def forget_frozen(cluster: Cluster, node_id: int) -> None:
    """Close the sockets of a frozen node that is killed."""
    frozen = cluster.frozen.pop(node_id, None)
    if frozen is not None:
        frozen.cancel()
        cluster.server.links.thaw(node_id)


def _watch(cluster: Cluster, node_id: int) -> None:
    """Let the other nodes notice in time that a node is silent."""
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
            since_ms += cluster.config.get_int(_QUORUM, node_id)
            await cluster.clock.sleep_until_ms(since_ms)
            successor = next((node.id for node in cluster.quorum.voters if _is_awake(cluster, node)), None)
            if successor is None:
                return
            cluster.controller.take_over(successor)
        await cluster.clock.sleep_until_ms(since_ms + cluster.config.get_int(_SESSION, cluster.controller_id))
        if _awake(cluster) is not None and node_id in cluster.image.brokers:
            cluster.membership.lose(node_id)


def _awake(cluster: Cluster) -> int | None:
    """The first node that is neither down nor frozen."""
    return next((node.id for node in cluster.up_nodes() if _is_awake(cluster, node)), None)


def _is_awake(cluster: Cluster, node: Node) -> bool:
    return node.up and node.id not in cluster.frozen


# -- the configs that a node has of its own, which may be others when it starts again


_NONE = (0, 0)


class NewValues:
    """The configs of its own that a node starts with. ConfigError, and nothing is changed, if it would not start."""

    def __init__(self, cluster: Cluster, node: Node, config: BrokerConfig) -> None:
        self._cluster = cluster
        self._node = node
        self._config = config
        self._start = checked_start(config, counting(cluster, node.id))

    def make(self) -> None:
        """Apply the configs to the node, which does not listen now. Listeners that stay keep their addresses."""
        cluster, node = self._cluster, self._node
        before = {each.listener.name: each for each in node.all_endpoints}
        cluster.take_nodes(self._config)
        node.take(self._start.layouts[node.id])
        now = {each.listener.name: each for each in node.all_endpoints}
        for name, old in before.items():
            if name in now and now[name].listener == old.listener:
                now[name].host, now[name].port = old.host, old.port
            else:
                cluster.server.release_address(node, name)
                cluster.forget_tls(node.id, name)
        cluster.server.replace_endpoints(node, {name: cluster.gate_of(each) for name, each in now.items()})
        node.rack = self._start.racks.get(node.id)
        node.unstable = cluster.config.get_bool(UNSTABLE_APIS_ENABLE, node.id)
        node.run(node.release)


def changed_values(cluster: Cluster, node: Node, own: Mapping[str, str]) -> NewValues:
    """Other configs for a node that is down. A config that all nodes share may change if no other broker is up.

    ConfigError for what does not fit.
    """
    made = cluster.config.with_node(node.id, own)
    if node.is_broker and counting(cluster, node.id).isdisjoint(cluster.nodes.keys() - {node.id}):
        made.model_id = node.id
    change = NewValues(cluster, node, made)
    check_changed_values(cluster.config, made, node.id)
    check_features(node, node.release, made, cluster.image.features)
    check_cordons(made, [node.id])
    _check_tiers(cluster, made)
    return change


def check_features(node: Node, release: Release, config: BrokerConfig, finalized: Mapping[str, int]) -> None:
    """ValueError if a node of a release would not start, as it does not support the levels that are finalized."""
    supported = supported_features(config, release, node.id)
    for name, level in finalized.items() if supported else ():
        low, high = supported.get(name, _NONE)
        if not low <= level <= high:
            raise ValueError(
                f"node {node.id} does not start as Kafka {release}: Unable to register because the broker does not "
                f"support finalized version {level} of {name}. The broker wants a version between {low} and {high}, "
                "inclusive."
            )


def check_values(cluster: Cluster, node_id: int) -> None:
    """ConfigError if a node that is down would not start beside the nodes that are up."""
    if cluster.config.static_nodes:
        check_own_values(cluster.config.as_started(), quorum_of(cluster.config), counting(cluster, node_id))


def counting(cluster: Cluster, node_id: int) -> set[int]:
    """The nodes whose configs are compared when this one starts."""
    return {node.id for node in cluster.members.values() if node.runs} | {node_id}


def _check_tiers(cluster: Cluster, config: BrokerConfig) -> None:
    system = "remote.log.storage.system.enable"
    if cluster.config.get_bool(system) and not config.get_bool(system):
        image = cluster.image
        check_stored(config, (image.configs_of(ResourceType.TOPIC, name) for name in image.topics))
