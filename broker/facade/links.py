"""Links between two nodes, or between clients and a node: cut, slow, whole again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade import client_links, replication
from odradek.broker.facade.client_links import End, How
from odradek.broker.net.pace import PROMPT, Pace
from odradek.broker.partitions.slow_link import Slowness

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


def cut(cluster: Cluster, a: End, b: End | None, how: How = "silent", listener: str | None = None) -> None:
    """Nothing goes over a link. ValueError or TypeError for what is no link, or a way to cut it that there is not."""
    nodes = client_links.between_nodes(a, b)
    if nodes is None:
        client_links.cut_clients(cluster, client_links.ends_of(cluster, a, b, listener), how)
        return
    if how != "silent" or listener is not None:
        raise ValueError("a link between two nodes is cut without how= and listener=")
    replication.cut(cluster, *nodes)


def slow(
    cluster: Cluster,
    a: End,
    b: End | None,
    ms: float = 0,
    jitter: float = 0,
    bytes_per_second: int | None = None,
    listener: str | None = None,
    both_ways: bool = False,
) -> None:
    """What goes over a link is late. ValueError or TypeError for what is no link, or no slowness."""
    client_links.check_slowness(ms, jitter, bytes_per_second)
    nodes = client_links.between_nodes(a, b)
    if nodes is None:
        ends = client_links.ends_of(cluster, a, b, listener)
        pace = Pace(round(ms), round(jitter), bytes_per_second)
        client_links.slow_clients(cluster, ends, pace, pace if both_ways else PROMPT)
        return
    if listener is not None or both_ways:
        raise ValueError("a link between two nodes has no listener= and no both_ways=: records go one way")
    replication.slow(cluster, *nodes, Slowness(round(ms), bytes_per_second, round(jitter)))


def uncut(cluster: Cluster, a: End, b: End | None = None, listener: str | None = None) -> None:
    """Undo `cut` between the same ends; a link that is slow stays so."""
    nodes = client_links.between_nodes(a, b)
    if nodes is None:
        client_links.uncut_clients(cluster, client_links.ends_of(cluster, a, b, listener))
    else:
        replication.join(cluster, *nodes)


def hasten(cluster: Cluster, a: End, b: End | None = None, listener: str | None = None) -> None:
    """Undo `slow` between the same ends; a link that is cut stays so."""
    nodes = client_links.between_nodes(a, b)
    if nodes is None:
        client_links.hasten_clients(cluster, client_links.ends_of(cluster, a, b, listener))
    else:
        replication.hasten(cluster, *nodes)


def mend(cluster: Cluster, a: End, b: End | None = None, listener: str | None = None) -> None:
    """Undo `cut` and `slow` between the same ends."""
    nodes = client_links.between_nodes(a, b)
    if nodes is None:
        client_links.mend_clients(cluster, client_links.ends_of(cluster, a, b, listener))
    else:
        replication.hasten(cluster, *nodes)
        replication.join(cluster, *nodes)
