"""Going back on disk: which partitions get other files, laid out before the metadata change and in place behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from odradek.broker.controller.commands import Adopt
from odradek.broker.controller.machine import MAX_BATCH_RECORDS
from odradek.broker.facade.state.partition_copies import PartitionKey, opened
from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
from odradek.protocol.generated.metadata_records.end_transaction_record import EndTransactionRecord
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.storage.backend import StorageError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.controller.restored_logs import RestoredLogs
    from odradek.broker.facade.state.snapshot import Snapshot
    from odradek.broker.partitions.partition import Partition
    from odradek.protocol.message import MetadataRecord


def whole(records: Sequence[MetadataRecord]) -> list[MetadataRecord]:
    """Records that the log is to have all or none of, however many they are; one where there would be none."""
    if len(records) <= MAX_BATCH_RECORDS:
        return list(records) or [NoOpRecord()]
    return [BeginTransactionRecord("Restore"), *records, EndTransactionRecord()]


def adopt(cluster: Cluster, snapshot: Snapshot, records: Sequence[MetadataRecord]) -> RestoredLogs:
    """Write these records, with which all files change. Returns the files, which are to be put in place now."""
    files = _laid_out(cluster, snapshot, records)
    if records or not files.is_empty:
        written = whole(records)
        try:
            files.begin(len(written))
            cluster.controller.ask(Adopt(written))
        except BaseException:
            files.give_up()
            raise
    return files


def _laid_out(cluster: Cluster, snapshot: Snapshot, records: Sequence[MetadataRecord]) -> RestoredLogs:
    """The files of a snapshot for the partitions that differ, or that the records change."""
    assert cluster.directory is not None
    cluster.directory.open_all(cluster.topics)
    logs = cluster.directory.new_restored_logs()
    live = dict(opened(cluster.topics))
    changed = {(each.topic_id, each.partition_id) for each in records if isinstance(each, PartitionRecord)}
    try:
        for key, copy in snapshot.partitions.items():
            if key in changed or key not in live or not copy.is_what(live[key]):
                logs.add(copy.log, key[0], snapshot.image.topics_by_id[key[0]].partitions[key[1]])
        for key, partition in _without_copy(cluster, snapshot):
            if key in snapshot.partitions or (key in live and not partition.log.log_end_offset):
                continue
            logs.drop((partition.topic.name, partition.index))
    except BaseException:
        logs.give_up()
        raise
    return logs


def _without_copy(cluster: Cluster, snapshot: Snapshot) -> Iterable[tuple[PartitionKey, Partition]]:
    """Partitions that the snapshot knows, too, and had nothing then."""
    for topic in cluster.topics.all():
        for partition in topic.partitions:
            key = topic.topic_id, partition.index
            if topic.topic_id in snapshot.image.topics_by_id and key not in snapshot.partitions:
                yield key, partition


def put_in_place(cluster: Cluster, snapshot: Snapshot, logs: RestoredLogs) -> None:
    """The metadata are written: close the logs that go, and rename.

    StorageError where that fails half-way: the next start does the rest, and nothing is written to these partitions
    until then.
    """
    gone = []
    for key, partition in opened(cluster.topics):
        copy = snapshot.partitions.get(key)
        if copy is not None and not copy.is_what(partition):
            gone.append(partition)
            partition.let_go()
    try:
        logs.carry_out()
    except StorageError as error:
        for partition in gone:
            partition.fail(error)
        raise
