"""The broker at a glance, and its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.facade.groups.description import group_ids
from odradek.broker.facade.transactions import list_transactions
from odradek.broker.requests.faults import FaultSet

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Overview:
    """How much of everything there is. ``now_ms`` and ``frozen`` are the clock's.

    ``topics`` and ``partitions`` are without Kafka's own. ``transactions``: those open or ending. ``requests``: as many
    as the transcript holds. ``nodes_up``: those that are neither down nor frozen.
    """

    now_ms: int
    frozen: bool
    nodes: int
    nodes_up: int
    topics: int
    partitions: int
    groups: int
    transactions: int
    requests: int
    faults: int
    bugs: int


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


def overview(cluster: Cluster) -> Overview:
    """In the broker's thread."""
    topics = [each for each in cluster.topics.all() if not each.internal]
    faults = cluster.dispatcher.faults
    now_ms = cluster.clock.now_ms()
    transactions = list_transactions(cluster.transactions, cluster.nodes, now_ms)
    return Overview(
        now_ms=now_ms,
        frozen=cluster.clock.frozen,
        nodes=len(cluster.nodes),
        nodes_up=sum(_state(cluster, number) == "up" for number in cluster.nodes),
        topics=len(topics),
        partitions=sum(len(each.partitions) for each in topics),
        groups=len(group_ids(cluster.groups)),
        transactions=sum(each.age_ms is not None for each in transactions.values()),
        requests=len(cluster.recent.entries),
        faults=len(faults.faults) if isinstance(faults, FaultSet) else 0,
        bugs=len(cluster.bug_log.bugs),
    )


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
            state=_state(cluster, number),
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


def _state(cluster: Cluster, number: int) -> str:
    if not cluster.nodes[number].up:
        return "down"
    return "frozen" if number in cluster.frozen else "up"
