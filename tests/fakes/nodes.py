"""Nodes that go and come back without a network."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord

NO_LEADER_CHANGE = -2


def set_node_up(cluster: Cluster, node_id: int, up: bool) -> None:
    """Let a node go down as in a crash, or come back; nothing changes for one that is so already."""
    if cluster.nodes[node_id].up == up:
        return
    if up:
        cluster.membership.rejoin(node_id)
    else:
        cluster.membership.lose(node_id)


def set_leader(cluster: Cluster, topic: str, partition: int, leader: int, *, isr: list[int] | None = None) -> None:
    """Let a node lead a partition (-1: none does), whatever it is: the leader epoch grows by one."""
    topic_id = cluster.image.topics[topic].topic_id
    cluster.controller.ask(adopt, [PartitionChangeRecord(partition, topic_id, isr, leader)])
