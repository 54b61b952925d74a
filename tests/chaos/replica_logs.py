"""What lies on each node, read as it lies."""

from __future__ import annotations

from odradek.broker.partitions.partition import Partition
from odradek.protocol.record_batch import RecordBatch, iter_batches


def batches_on(partition: Partition, node: int) -> list[RecordBatch]:
    """All batches of one node's copy."""
    copy = partition.copy_on(node)
    log, end = (partition.log, partition.log.log_end_offset) if copy is None else (copy.log, copy.end)
    found: list[RecordBatch] = []
    offset = log.log_start_offset
    while offset < end:
        found += iter_batches(log.read(offset, max_bytes=1 << 30, up_to_offset=end).parts)
        offset = found[-1].next_offset
    return found


def values_on(partition: Partition, node: int) -> list[bytes]:
    """The values of one node's copy, in order."""
    return [bytes(record.value or b"") for each in batches_on(partition, node) for record in each.records()]
