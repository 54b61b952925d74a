"""What becomes of records of share groups, told in the log at INFO: locks that run out, records that are archived."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.share.states import ARCHIVED, StateBatch

_log = logging.getLogger("odradek.broker.partitions.share")


def is_told() -> bool:
    """Whether anybody listens."""
    return _log.isEnabledFor(logging.INFO)


def tell_expired(group_id: str, partition: Partition, locks: Iterable[tuple[str, StateBatch]]) -> None:
    """Locks have run out: who held them, and what the records are now."""
    for member_id, batch in locks:
        text = "group %s: member %s said nothing of records %d to %d of %s-%d before its lock ran out (delivery %d)"
        _log.info(text, group_id, member_id, *batch[:2], partition.topic.name, partition.index, batch.delivery_count)


def tell_archived(group_id: str, partition: Partition, batches: Iterable[StateBatch]) -> None:
    """Records that nobody gets any more: rejected, or delivered as often as the group's limit allows."""
    for batch in batches:
        if batch.state == ARCHIVED:
            text = "group %s: records %d to %d of %s-%d are archived after delivery %d"
            _log.info(text, group_id, *batch[:2], partition.topic.name, partition.index, batch.delivery_count)
