"""Cuts and slows links, between two nodes or between clients and a node, and keeps followers behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from odradek.broker.controller.partition_control import Reassignment, reassign_partitions
from odradek.broker.mistakes import did_you_mean
from odradek.broker.net.client_links import ClientLink, Way
from odradek.broker.net.wire import PROMPT, Pace, Terms
from odradek.broker.nodes.node_life import Undoing
from odradek.broker.partitions.lookups import find_partitions
from odradek.broker.partitions.replicas import NOTHING, Lag, Slowness

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


End = int | str
"""One end of a link: a node id, or a client id in which `*` matches anything."""

How = Literal["silent", "reset", "close"]


class Ends(NamedTuple):
    """A link between clients and a node; None means every node, or every listener."""

    client: str
    node_id: int | None
    listener: str | None


# -- links of either kind


def cut(cluster: Cluster, a: End, b: End | None, how: How = "silent", listener: str | None = None) -> Undoing:
    """Cut a link. Raises ValueError or TypeError if there is no such link, or if it cannot be cut in this way.

    Between two nodes it stops replication; both keep serving clients.
    """
    nodes = between_nodes(a, b)
    if nodes is None:
        ways = {way.value: way for way in Way}
        if how not in ways:
            raise ValueError(f"how={how!r}: expected one of {', '.join(ways)}{did_you_mean(str(how), ways)}")
        return _add(cluster, ClientLink(*ends_of(cluster, a, b, listener), way=ways[how]))
    if how != "silent" or listener is not None:
        raise ValueError("a link between two nodes is cut without how= and listener=")
    _check_nodes(cluster, *nodes)
    cluster.replicator.link(*nodes, cut=True)
    return lambda: cluster.replicator.link(*nodes, cut=False)


def slow(
    cluster: Cluster,
    a: End,
    b: End | None,
    ms: float = 0,
    jitter: float = 0,
    bytes_per_second: int | None = None,
    listener: str | None = None,
    both_ways: bool = False,
) -> Undoing:
    """Delay what crosses a link. Raises ValueError or TypeError if there is no such link, or no delay is given."""
    check_slowness(ms, jitter, bytes_per_second)
    nodes = between_nodes(a, b)
    if nodes is None:
        pace = Pace(round(ms), round(jitter), bytes_per_second)
        terms = Terms(False, pace, pace if both_ways else PROMPT)
        return _add(cluster, ClientLink(*ends_of(cluster, a, b, listener), terms=terms))
    if listener is not None or both_ways:
        raise ValueError("a link between two nodes takes no listener= and no both_ways=: records go one way")
    _check_nodes(cluster, *nodes)
    cluster.replicator.slow(*nodes, Slowness(round(ms), bytes_per_second, round(jitter)))
    return lambda: cluster.replicator.slow(*nodes, None)


def _add(cluster: Cluster, made: ClientLink) -> Undoing:
    """The undo leaves other bad links between the same ends."""
    cluster.server.links.add(made)
    return lambda: cluster.server.links.remove(lambda link: link is made)


def between_nodes(a: End, b: End | None) -> tuple[int, int] | None:
    """Both ends, if both are nodes."""
    return (a, b) if isinstance(a, int) and isinstance(b, int) else None


def check_slowness(ms: float, jitter: float, bytes_per_second: int | None) -> None:
    """Raise ValueError unless these figures describe a slow link."""
    if ms < 0 or jitter < 0:
        raise ValueError(f"ms={ms}, jitter={jitter}: a delay must not be negative")
    if bytes_per_second is not None and bytes_per_second < 1:
        raise ValueError(f"bytes_per_second={bytes_per_second}: expected 1 or more; use cut() to stop all traffic")
    if not ms and not jitter and bytes_per_second is None:
        raise ValueError("a slow link needs ms=, jitter= or bytes_per_second=")


def _check_nodes(cluster: Cluster, a: int, b: int) -> None:
    for node_id in (a, b):
        check_node(cluster, node_id)
    if a == b:
        raise ValueError(f"node {a} has no link to itself")


# -- links to clients


def refuse_connections(cluster: Cluster, node_id: int, listener: str | None = None) -> Undoing:
    """Close one or all of a node's listeners, so that the system refuses new connections. Open connections stay.

    The undo raises OSError if the address has been taken.
    """
    node = cluster.nodes[check_node(cluster, node_id)]
    if not node.up:
        raise ValueError(f"node {node_id} is down")
    cluster.server.refuse(node, _check_listener(cluster, listener))
    return lambda: accept_connections(cluster, node_id, listener)


def accept_connections(cluster: Cluster, node_id: int, listener: str | None = None) -> None:
    """Undo `refuse_connections`, unless the node has gone down since."""
    node = cluster.nodes.get(node_id)
    if node is not None and node.up:
        cluster.server.accept_again(node, listener)


def mend_all(cluster: Cluster) -> None:
    """Mend the links of all clients, and accept connections on all nodes."""
    cluster.server.links.clear()
    for node_id in cluster.nodes:
        accept_connections(cluster, node_id)


def ends_of(cluster: Cluster, a: End, b: End | None, listener: str | None) -> Ends:
    """The link between clients and a node, given in either order. Raises ValueError or TypeError if there is none."""
    for end in (a, b):
        if isinstance(end, bool) or not isinstance(end, int | str | None):
            raise TypeError(f"{end!r}: expected a node id or a client id as an end of a link")
    client, node = (b, a) if isinstance(a, int) else (a, b)
    if not isinstance(client, str) or isinstance(node, str):
        raise ValueError(f"no link between {a!r} and {b!r}: expected two nodes, or a client id and a node")
    if not client:
        raise ValueError("a client id must not be empty; '*' matches any client")
    return Ends(client, None if node is None else check_node(cluster, node), _check_listener(cluster, listener))


def check_node(cluster: Cluster, node_id: int) -> int:
    """The id of a broker; ValueError, which names all brokers, for any other."""
    if node_id not in cluster.nodes:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
    return node_id


def _check_listener(cluster: Cluster, listener: str | None) -> str | None:
    known = {name for node in cluster.nodes.values() for name in node.endpoints}
    if listener is not None and listener not in known:
        near = did_you_mean(listener, known)
        raise ValueError(f"no listener {listener}{near}: the cluster has {', '.join(sorted(known))}")
    return listener


# -- replication: followers that a test keeps behind, and reassignments


def pause_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> Undoing:
    """Stop a follower from replicating, while its node keeps serving clients.

    A node without a replica may be named: it applies when a reassignment gives it one.
    """
    return _hold(cluster, topic, partition, node_id, NOTHING)


def lag_replication(
    cluster: Cluster,
    topic: str,
    partition: int | None,
    node_id: int,
    *,
    records: int | None = None,
    size_bytes: int | None = None,
    seconds: float | None = None,
) -> Undoing:
    """Keep a follower behind its leader. Raises ValueError unless exactly one measure is given."""
    given = [measure for measure in (records, size_bytes, seconds) if measure is not None]
    if len(given) != 1 or given[0] < 0:
        raise ValueError("lag_replication: give exactly one of records=, size_bytes= or seconds=, and none below 0")
    ms = None if seconds is None else round(seconds * 1000)
    return _hold(cluster, topic, partition, node_id, Lag(records, size_bytes, ms))


def reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int]) -> Undoing:
    """Move a partition to other replicas. The reassignment completes when they are in sync, which may be at once.

    The undo cancels it, if it has not completed.

    Raises UNKNOWN_TOPIC_OR_PARTITION for an unknown topic or partition, ValueError for impossible replicas.
    """
    find_partitions(cluster.topics, topic, partition)
    _reassign(cluster, topic, partition, list(replicas))

    def cancel() -> None:
        place = cluster.image.partition(topic, partition)
        if place is not None and place.is_reassigned:
            _reassign(cluster, topic, partition, None)

    return cancel


def _reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int] | None) -> None:
    (error,) = cluster.controller.ask(reassign_partitions, [Reassignment((topic, partition), replicas)])
    if error is not None:
        raise ValueError(error.message)


def _hold(cluster: Cluster, topic: str, partition: int | None, node_id: int, lag: Lag) -> Undoing:
    for one in find_partitions(cluster.topics, topic, partition):
        check_node(cluster, node_id)
        if one.leader_id == node_id:
            others = ", ".join(str(each) for each in one.replicas if each != node_id)
            hint = f"name a follower: {others}" if others else "it has no follower"
            raise ValueError(f"node {node_id} leads {topic}-{one.index}; {hint}")
        cluster.replicator.hold(one, node_id, lag)

    def resume() -> None:
        if cluster.topics.get(topic) is not None and node_id in cluster.nodes:
            for one in find_partitions(cluster.topics, topic, partition):
                cluster.replicator.hold(one, node_id, None)

    return resume
