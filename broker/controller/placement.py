"""Which nodes hold which partition of a new topic, and what Kafka says of a placement given by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from odradek.broker.metadata.registrations import BrokerRegistration
from odradek.broker.releases.release import Release, release_of
from odradek.protocol.errors import ErrorCode, KafkaError

_DEFAULT = release_of()


def spread(
    brokers: Iterable[BrokerRegistration],
    partitions: int,
    replication_factor: int,
    start: int,
    release: Release = _DEFAULT,
) -> list[list[int]]:
    """Replicas of `partitions` new partitions: leaders go round the nodes from `start`, replicas over the racks.

    Nodes that are down come last, so they lead nothing. INVALID_REPLICATION_FACTOR, in the words of the release, if
    there are too few nodes.
    """
    ordered = list(brokers)
    up = _alternate_racks([broker for broker in ordered if broker.is_active])
    down = _alternate_racks([broker for broker in ordered if not broker.is_active])
    if not up:
        text = (
            f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced, or "
            "have all their log directories cordoned."
        )
        told = release.text("no brokers", text, factor=replication_factor)
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, told)
    if replication_factor > len(ordered):
        text = (
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {len(ordered)} broker(s) are registered or some "
            "brokers have all their log directories cordoned."
        )
        told = release.text("replication factor", text, factor=replication_factor, brokers=len(ordered))
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, told)
    placed: list[list[int]] = []
    for partition in range(partitions):
        lap, turn = divmod(start + partition, len(up))
        # After each lap the followers move on by one, so that no pair of nodes shares everything.
        rest = up[turn + 1 :] + up[:turn]
        shift = lap % len(rest) if rest else 0
        candidates = [up[turn], *rest[shift:], *rest[:shift], *down]
        placed.append(_over_racks(candidates, replication_factor))
    return placed


def _alternate_racks(nodes: Sequence[BrokerRegistration]) -> list[BrokerRegistration]:
    racks: dict[str | None, list[BrokerRegistration]] = {}
    for node in nodes:
        racks.setdefault(node.rack, []).append(node)
    return [node for row in zip_longest(*racks.values()) for node in row if node is not None]


def _over_racks(candidates: Sequence[BrokerRegistration], count: int) -> list[int]:
    """The first `count` candidates, taking no rack twice before each has been taken once."""
    chosen: list[BrokerRegistration] = []
    waiting = list(candidates)
    while len(chosen) < count:
        used: set[str | None] = set()
        for node in list(waiting):
            if len(chosen) < count and (node.rack is None or node.rack not in used):
                used.add(node.rack)
                chosen.append(node)
                waiting.remove(node)
    return [node.id for node in chosen]


def check_replicas(
    nodes: Mapping[int, BrokerRegistration], replicas: Sequence[int], replication_factor: int | None
) -> None:
    """INVALID_REPLICA_ASSIGNMENT if `replicas` cannot be the replicas of one partition."""
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        raise KafkaError(code, "The manual partition assignment includes an empty replica list.")
    ordered = sorted(replicas)
    for previous, current in zip([None, *ordered], ordered, strict=False):
        if current == previous:
            text = f"The manual partition assignment includes the broker {current} more than once."
            raise KafkaError(code, text)
        if current not in nodes:
            text = f"The manual partition assignment includes broker {current}, but no such broker is registered."
            raise KafkaError(code, text)
    if replication_factor is not None and len(replicas) != replication_factor:
        raise KafkaError(
            code,
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replication_factor} replica(s).",
        )
