"""From what a request names to the partition, the addresses of its leader, and the active controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from odradek.broker.metadata.node import Node
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_number, scala_order

D = TypeVar("D")


def find_partition(ctx: RequestContext, topic_name: str, index: int) -> Partition:
    """The partition `index` of a topic, whoever leads it; UNKNOWN_TOPIC_OR_PARTITION if there is none."""
    topic = ctx.services.topics.get(topic_name)
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return topic.partitions[index]


# -- Leader hints: the address of the leader in NOT_LEADER_OR_FOLLOWER answers, so that a client need not ask Metadata
# (KIP-951).


def reachable(ctx: RequestContext, nodes: Iterable[Node]) -> Iterator[tuple[Node, tuple[str, int]]]:
    """The nodes that have the client's listener, with their addresses on it."""
    for node in nodes:
        address = node.address_for(ctx.connection.listener, ctx.connection.host)
        if address is not None:
            yield node, address


def leader_endpoints(ctx: RequestContext, leader_ids: Iterable[int], make: Callable[..., Any]) -> list[Any]:
    """The addresses of these nodes, each once, as the client would reach them; `make` is the response's struct.

    They come in the order of a map of Scala, as in Kafka.
    """
    nodes = ctx.services.nodes
    order = scala_order(leader_ids, hash_of_number)
    leaders = [nodes[node_id] for node_id in order if node_id in nodes and nodes[node_id].up]
    return [
        make(node_id=node.id, host=host, port=port, rack=node.rack) for node, (host, port) in reachable(ctx, leaders)
    ]


# -- The active controller: who it is for clients of brokers, and what only it may do for those of controllers.


THE_LEADER = "The active controller appears to be node {}."
NOT_THIS_ONE = "This is not the correct controller for this cluster."
_NOBODY = -1


def told_controller(ctx: RequestContext) -> int:
    """The node that a broker names as the controller: clients must be able to reach it as a broker.

    Kafka names any broker that is up, which forwards what it gets.
    """
    services = ctx.services
    leader_id = services.controller.controller_id
    if leader_id in services.nodes and services.nodes[leader_id].up:
        return leader_id
    return next((node.id for node in services.up_nodes()), _NOBODY)


def is_for_another(ctx: RequestContext) -> bool:
    """Whether only the controller may answer, another node is the controller, and this node does not forward to it."""
    return not ctx.release.forwards_to_controller and ctx.node.id != ctx.services.controller.controller_id


def check_forwards(ctx: RequestContext, why: str | None = None) -> None:
    """NOT_CONTROLLER, with this text, for what is for another node."""
    if is_for_another(ctx):
        raise KafkaError(ErrorCode.NOT_CONTROLLER, why)


def repeated(described: Iterable[D], asked: Sequence[str]) -> list[D]:
    """The descriptions of all names asked for, in order; `described` has each name once, in the order of the first."""
    by_name = dict(zip(dict.fromkeys(asked), described, strict=True))
    return [by_name[name] for name in asked]


def check_in_time(timeout_ms: int) -> None:
    """REQUEST_TIMED_OUT if the client gives the controller no time.

    As nothing takes time here, that is the only time-out of these requests.
    """
    if timeout_ms <= 0:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)


def check_leads(ctx: RequestContext, why: str | None = THE_LEADER) -> None:
    """NOT_CONTROLLER, with Kafka's text, unless the asked node is the active controller."""
    leader_id = ctx.services.controller.controller_id
    if ctx.node.id != leader_id:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, None if why is None else why.format(leader_id))
