"""The metadata log in memory: offsets, epochs, snapshots."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import MAX_BATCH_RECORDS, ControllerMachine
from odradek.broker.controller.metadata_log import MemoryMetadataLog, runs
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.message import MetadataRecord
from tests.fakes.images import picture


def test_offsets_count_records_and_epochs_take_one() -> None:
    log = MemoryMetadataLog()
    log.begin_epoch(1, 0)
    stored = log.append([NoOpRecord(), NoOpRecord()], 0)
    assert [(each.offset, each.epoch) for each in stored] == [(1, 1), (2, 1)]
    log.begin_epoch(2, 0)
    assert (log.end_offset, log.leader_epoch) == (4, 2)


def test_a_snapshot_takes_the_place_of_the_log() -> None:
    cluster = Cluster()
    log = cluster.controller.log
    assert isinstance(log, MemoryMetadataLog)
    for number in range(20):
        cluster.create_topic(f"t{number}")
    log._max_records = 30
    cluster.create_topic("last")
    assert (log.batches, log.start_offset) == ([], log.end_offset)
    cluster.create_topic("behind")
    assert len(log.batches) == 1
    machine = ControllerMachine(cluster.config, 1)
    assert list(log.load(machine)) == [log.end_offset]
    assert picture(machine.image) == picture(cluster.image)


def test_many_records_are_several_batches() -> None:
    records: list[MetadataRecord] = [NoOpRecord()] * (2 * MAX_BATCH_RECORDS + 1)
    assert [len(run) for run in runs(records)] == [MAX_BATCH_RECORDS, MAX_BATCH_RECORDS, 1]
