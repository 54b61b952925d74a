"""The verbs that a schedule is made of, and what each does to a cluster.

A verb is a function of the cluster and its arguments. It returns what undoes it, or None where nothing is to be undone.
It raises ValueError, KeyError or KafkaError if it is impossible now (a node is down already, a follower leads
meanwhile).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.faults.fault import Fault, FaultSet
from odradek.broker.faults.wire_fault import WireFault
from odradek.broker.mistakes import did_you_mean
from odradek.broker.nodes import coordinators, disks, links, replication
from odradek.broker.nodes import node_life as nodes

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

Undoing = Callable[[], None]


def kill_node(cluster: Cluster, node_id: int) -> Undoing:
    """Crash a node; it starts again at the end."""
    nodes.kill_node(cluster, node_id)
    return lambda: _bring_back(cluster, node_id)


def stop_node(cluster: Cluster, node_id: int) -> Undoing:
    """Shut a node down in order; it starts again at the end."""
    nodes.stop_node(cluster, node_id)
    return lambda: _bring_back(cluster, node_id)


def _bring_back(cluster: Cluster, node_id: int) -> None:
    if not cluster.nodes[node_id].up:
        nodes.start_node(cluster, node_id)


def freeze_node(cluster: Cluster, node_id: int) -> Undoing:
    """Freeze a node with its sockets open; it thaws at the end."""
    nodes.freeze_node(cluster, node_id)
    return lambda: nodes.thaw_if_frozen(cluster, node_id)


def pause_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> Undoing:
    """Stop copying from the leader to a follower."""
    replication.pause_replication(cluster, topic, partition, node_id)
    return lambda: _resume(cluster, topic, partition, node_id)


def lag_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int, **measure: float) -> Undoing:
    """Keep a follower behind its leader."""
    replication.lag_replication(cluster, topic, partition, node_id, **measure)  # type: ignore[arg-type]
    return lambda: _resume(cluster, topic, partition, node_id)


def _resume(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> None:
    if cluster.topics.get(topic) is not None:
        replication.resume_replication(cluster, topic, partition, node_id)


def cut(cluster: Cluster, a: int, b: int) -> Undoing:
    """Stop copying between two nodes."""
    links.cut_nodes(cluster, a, b)
    return lambda: links.join_nodes(cluster, a, b)


def slow(cluster: Cluster, a: int, b: int, *, ms: float) -> Undoing:
    """Delay copying between two nodes."""
    links.slow(cluster, a, b, ms=ms)
    return lambda: links.hasten(cluster, a, b)


def move_leader(cluster: Cluster, topic: str, partition: int, node_id: int) -> None:
    """Move the leadership to another replica in sync."""
    nodes.move_leader(cluster, topic, partition, node_id)


def elect(cluster: Cluster, topic: str, partition: int, *, unclean: bool = False) -> None:
    """Elect the preferred replica; or, unclean, a live one for a partition without a leader, which may lose records."""
    nodes.elect(cluster, topic, partition, unclean=unclean)


def reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int]) -> Undoing:
    """Give a partition other replicas; the end cancels the reassignment if it is still under way."""
    replication.reassign(cluster, topic, partition, replicas)
    return lambda: replication.cancel_reassignment(cluster, topic, partition)


def advance(cluster: Cluster, seconds: float) -> None:
    """Advance the broker's clock; the schedule's time stays."""
    cluster.clock.advance(seconds)


def answer(cluster: Cluster, api: str, error: str, **which: Any) -> Undoing:
    """Answer requests with an error, without serving them."""
    return _misbehave(cluster, Fault(api, answer=error, **which))


def drop(cluster: Cluster, api: str, **which: Any) -> Undoing:
    """Drop requests: they are neither served nor answered."""
    return _misbehave(cluster, Fault(api, drop=True, **which))


def lose(cluster: Cluster, api: str, **which: Any) -> Undoing:
    """Serve requests without answering them."""
    return _misbehave(cluster, Fault(api, lose=True, **which))


def disconnect(cluster: Cluster, api: str, **which: Any) -> Undoing:
    """Close the connection of a request, without serving it."""
    return _misbehave(cluster, Fault(api, cut=True, **which))


def delay(cluster: Cluster, api: str, ms: int, **which: Any) -> Undoing:
    """Delay requests."""
    return _misbehave(cluster, Fault(api, delay_ms=ms, **which))


def break_answer(cluster: Cluster, api: str, **which: Any) -> Undoing:
    """Serve requests, and cut, delay, split or damage the bytes of their answers: see `WireFault`."""
    return _misbehave(cluster, WireFault(api, **which))


def cut_clients(cluster: Cluster, client: str, node_id: int, *, how: links.How = "silent") -> Undoing:
    """Cut clients off from a node."""
    links.cut_clients(cluster, links.ends_of(cluster, client, node_id, None), how)
    return _mending(cluster)


def slow_clients(cluster: Cluster, client: str, node_id: int, *, ms: float, jitter: float = 0) -> Undoing:
    """Delay a node's answers to clients."""
    links.slow(cluster, client, node_id, ms=ms, jitter=jitter)
    return _mending(cluster)


def _mending(cluster: Cluster) -> Undoing:
    """Undoes only the latest bad link."""
    made = cluster.server.links.client_links[-1]
    return lambda: cluster.server.links.remove(lambda link: link is made)


def fail_disk(cluster: Cluster, node_id: int, how: disks.DiskHow = "full") -> Undoing:
    """Let a node's disk fail: the node halts with its next record. At the end it starts again with a new disk."""
    if not cluster.nodes[node_id].up:
        raise ValueError(f"node {node_id} is down")
    disks.fail_disk(cluster, node_id, how)
    failing = disks.disks_of(cluster)
    fault = failing.faults[-1]

    def mend() -> None:
        failing.remove(lambda each: each is fault)
        if fault.hits and node_id not in cluster.frozen:
            _bring_back(cluster, node_id)

    return mend


def slow_disk(cluster: Cluster, node_id: int, *, ms: float) -> Undoing:
    """Slow down each sync of a node's disk."""
    disks.slow_disk(cluster, node_id, ms)
    return lambda: _sync_at_once(cluster, node_id)


def _sync_at_once(cluster: Cluster, node_id: int) -> None:
    if cluster.durability is not None:
        cluster.durability.late_ms.pop(node_id, None)


def hold_load(cluster: Cluster, topic: str, partition: int, *, now: bool = False) -> Undoing:
    """Keep a coordinator that takes over from loading; with `now` it also forgets what it has loaded."""
    coordinators.hold_load(cluster, topic, partition, now=now)
    return lambda: coordinators.release_load(cluster, topic, partition)


def _misbehave(cluster: Cluster, fault: Fault) -> Undoing:
    """Add a fault to those that the user has set; the end removes only this one."""
    cluster.set_faults([*_faults(cluster), fault])
    return lambda: cluster.set_faults([each for each in _faults(cluster) if each is not fault])


def _faults(cluster: Cluster) -> list[Fault]:
    known = cluster.dispatcher.faults
    return known.faults if isinstance(known, FaultSet) else []


VERBS: dict[str, Callable[..., Undoing | None]] = {
    verb.__name__: verb
    for verb in (
        kill_node,
        stop_node,
        freeze_node,
        pause_replication,
        lag_replication,
        cut,
        slow,
        move_leader,
        elect,
        reassign,
        advance,
        answer,
        drop,
        lose,
        disconnect,
        delay,
        break_answer,
        cut_clients,
        slow_clients,
        fail_disk,
        slow_disk,
        hold_load,
    )
}
"""Every verb by its name."""


def verb_named(name: str) -> Callable[..., Undoing | None]:
    """A verb; ValueError, with the nearest name, if there is none."""
    verb = VERBS.get(name)
    if verb is None:
        raise ValueError(f"no fault is called {name!r}{did_you_mean(name, VERBS)}; there are {', '.join(VERBS)}")
    return verb
