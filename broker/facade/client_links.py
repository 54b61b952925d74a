"""Bad links between clients and nodes: cut, slow, or with nobody listening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.net.links import ClientLink, Way
from odradek.broker.net.pace import Pace
from odradek.broker.net.wire import Terms

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

End = int | str
"""One end of a link: a node by its id, or clients by theirs, where `*` stands for anything."""

How = Literal["silent", "reset", "close"]


class Ends(NamedTuple):
    """Clients, and the node that they are at; None for every node."""

    client: str
    node_id: int | None
    listener: str | None


def between_nodes(a: End, b: End | None) -> tuple[int, int] | None:
    """Both ends, if both are nodes."""
    return (a, b) if isinstance(a, int) and isinstance(b, int) else None


def cut_clients(cluster: Cluster, ends: Ends, how: How) -> None:
    """Cut clients off. ValueError for a way that there is not."""
    ways = {way.value: way for way in Way}
    if how not in ways:
        raise ValueError(f"how={how!r}: a link is cut by one of {', '.join(ways)}{did_you_mean(str(how), ways)}")
    cluster.server.links.add(ClientLink(*ends, way=ways[how]))


def slow_clients(cluster: Cluster, ends: Ends, answers: Pace, requests: Pace) -> None:
    """Let answers and requests be late, or slow."""
    cluster.server.links.add(ClientLink(*ends, terms=Terms(False, answers, requests)))


def mend_clients(cluster: Cluster, ends: Ends) -> None:
    """Undo both between these ends, at once: what comes now is not late."""
    cluster.server.links.remove(lambda link: link.between == ends)


def uncut_clients(cluster: Cluster, ends: Ends) -> None:
    """Undo `cut_clients` between these ends."""
    cluster.server.links.remove(lambda link: link.between == ends and link.way is not None)


def hasten_clients(cluster: Cluster, ends: Ends) -> None:
    """Undo `slow_clients` between these ends."""
    cluster.server.links.remove(lambda link: link.between == ends and link.way is None)


def refuse_connections(cluster: Cluster, node_id: int, listener: str | None = None) -> None:
    """Close a node's listeners, or one of them: the system refuses who dials. Connections that are there stay."""
    node = cluster.nodes[_checked_node(cluster, node_id)]
    if not node.up:
        raise ValueError(f"node {node_id} is down")
    cluster.server.refuse(node, _checked_listener(cluster, listener))


def accept_connections(cluster: Cluster, node_id: int, listener: str | None = None) -> None:
    """Undo `refuse_connections`."""
    cluster.server.accept_again(cluster.nodes[_checked_node(cluster, node_id)], _checked_listener(cluster, listener))


def accept_if_refused(cluster: Cluster, node_id: int, listener: str | None = None) -> None:
    """The same, whatever has become of the node meanwhile."""
    if cluster.nodes[node_id].up:
        accept_connections(cluster, node_id, listener)


def mend_all(cluster: Cluster) -> None:
    """Undo all of it, for all clients and nodes."""
    cluster.server.links.clear()
    for node_id in cluster.nodes:
        accept_if_refused(cluster, node_id)


def ends_of(cluster: Cluster, a: End, b: End | None, listener: str | None) -> Ends:
    """Clients and a node, in either order. ValueError or TypeError for ends that are no such link."""
    for end in (a, b):
        if isinstance(end, bool) or not isinstance(end, int | str | None):
            raise TypeError(f"{end!r}: an end of a link is a node's id or a client's id")
    client, node = (b, a) if isinstance(a, int) else (a, b)
    if not isinstance(client, str) or isinstance(node, str):
        raise ValueError(f"no link between {a!r} and {b!r}: it is between two nodes, or a client's id and a node")
    if not client:
        raise ValueError("a client's id is not empty; '*' is any client")
    return Ends(client, None if node is None else _checked_node(cluster, node), _checked_listener(cluster, listener))


def check_slowness(ms: float, jitter: float, bytes_per_second: int | None) -> None:
    """ValueError unless a link is slow with these figures."""
    if ms < 0 or jitter < 0:
        raise ValueError(f"ms={ms}, jitter={jitter}: a delay is not negative")
    if bytes_per_second is not None and bytes_per_second < 1:
        raise ValueError(f"bytes_per_second={bytes_per_second}: a line carries at least one; cut() carries none")
    if not ms and not jitter and bytes_per_second is None:
        raise ValueError("a slow link: say ms=, jitter= or bytes_per_second=")


def _checked_node(cluster: Cluster, node_id: int) -> int:
    if node_id not in cluster.nodes:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
    return node_id


def _checked_listener(cluster: Cluster, listener: str | None) -> str | None:
    known = {name for node in cluster.nodes.values() for name in node.endpoints}
    if listener is not None and listener not in known:
        near = did_you_mean(listener, known)
        raise ValueError(f"no listener {listener}{near}: the cluster has {', '.join(sorted(known))}")
    return listener
