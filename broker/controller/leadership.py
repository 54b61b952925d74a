"""Who leads a partition: elections, nodes that go down and come back, replicas that move.

One log serves all replicas of a partition, so every live replica is in sync and an election loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.controller.node import Node
    from odradek.broker.controller.topics import TopicRegistry


class Placed(Protocol):
    """The nodes of a cluster and the topics on them."""

    @property
    def nodes(self) -> Mapping[int, Node]: ...

    @property
    def topics(self) -> TopicRegistry: ...


def live_replicas(cluster: Placed, partition: Partition) -> list[int]:
    """The replicas whose nodes are up, in the order of the replicas."""
    return [node for node in partition.replicas if node in cluster.nodes and cluster.nodes[node].up]


def elect_preferred(cluster: Placed, partition: Partition) -> None:
    """Hand leadership to the first replica; ELECTION_NOT_NEEDED or PREFERRED_LEADER_NOT_AVAILABLE if that cannot be."""
    preferred = partition.replicas[0]
    if partition.leader_id == preferred:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    live = live_replicas(cluster, partition)
    if preferred not in live:
        raise KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")
    partition.set_leader(preferred, isr=live)


def elect_any(cluster: Placed, partition: Partition) -> None:
    """Give a partition without a leader one; ELECTION_NOT_NEEDED or ELIGIBLE_LEADERS_NOT_AVAILABLE otherwise."""
    if partition.leader_id >= 0:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    live = live_replicas(cluster, partition)
    if not live:
        text = "Eligible topic partition leaders are not available."
        raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
    partition.set_leader(live[0], isr=live)


def set_replicas(cluster: Placed, partition: Partition, replicas: Sequence[int]) -> None:
    """Other replicas from now on; the leader stays if it is one of them and its node is up."""
    partition.replicas = list(replicas)
    live = live_replicas(cluster, partition)
    if partition.leader_id in live:
        partition.isr = live
        cluster.topics.leadership_changed(partition.topic)
    else:
        partition.set_leader(live[0] if live else -1, isr=live)


def set_node_up(cluster: Placed, node_id: int, up: bool) -> None:
    """A node goes down (its partitions get other leaders) or comes back (it leads only what nobody led).

    KeyError for an unknown node. Connections and listeners of the node are not touched.
    """
    node = cluster.nodes[node_id]
    if node.up == up:
        return
    node.up = up
    for topic in cluster.topics:
        for partition in topic.partitions:
            if node_id in partition.replicas:
                live = live_replicas(cluster, partition)
                if partition.leader_id in live:
                    partition.isr = live
                else:
                    partition.set_leader(live[0] if live else -1, isr=live)
    cluster.topics.leadership_changed()
