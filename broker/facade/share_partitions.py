"""How far a share group is with its records: those in flight by state and by how often they were delivered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.broker.partitions.registry import PartitionRegistry
    from odradek.broker.partitions.share.live import LiveSharePartition, SharePartitions


@dataclass(frozen=True, slots=True)
class SharePartitionInfo:
    """Where a share group is in a partition from which its members fetch.

    Records before ``start_offset`` are done with; nobody has fetched those from ``end_offset`` on. Of those between:
    ``records`` by state (``available`` again, ``acquired``, ``acknowledged``, ``archived``), ``deliveries`` by state
    and number of deliveries, ``held`` by the member that has acquired them.
    """

    start_offset: int
    end_offset: int
    records: Mapping[str, int]
    deliveries: Mapping[str, Mapping[int, int]]
    held: Mapping[str, int]


# -- in the broker's thread


def share_partitions(
    shared: SharePartitions, topics: PartitionRegistry, group_id: str
) -> dict[tuple[str, int], SharePartitionInfo]:
    """The partitions from which members of a group fetch, by topic and number."""
    found = {}
    for live in shared.of_group(group_id):
        topic = topics.by_id(live.key.topic_id)
        if topic is not None:
            found[topic.name, live.key.partition] = _info(live)
    return dict(sorted(found.items()))


def _info(live: LiveSharePartition) -> SharePartitionInfo:
    machine = live.machine
    records: dict[str, int] = {}
    deliveries: dict[str, dict[int, int]] = {}
    held: dict[str, int] = {}
    for piece in machine.pieces():
        state = piece.state.name.lower()
        records[state] = records.get(state, 0) + len(piece)
        counts = deliveries.setdefault(state, {})
        counts[piece.delivery_count] = counts.get(piece.delivery_count, 0) + len(piece)
        if piece.member_id:
            held[piece.member_id] = held.get(piece.member_id, 0) + len(piece)
    end_offset = machine.start_offset + machine.in_flight
    return SharePartitionInfo(machine.start_offset, end_offset, records, deliveries, held)
