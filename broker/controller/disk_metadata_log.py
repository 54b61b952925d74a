"""The metadata log on disk: `__cluster_metadata-0` in Kafka's own batches, with snapshots, as KRaft keeps it (KIP-630).

The leader is the node that the folder belongs to; the quorum is this process, so an append is committed at once.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trio

from odradek.broker.controller.machine import StoredRecord, runs
from odradek.broker.metadata.image import CLUSTER_METADATA, METADATA_VERSION, MetadataImage, is_topic_name
from odradek.broker.metadata.snapshot import records_of
from odradek.broker.runtime.machine import Machine, Producer
from odradek.protocol import metadata_records
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.leader_change_message import Voter as NamedVoter
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_batch import (
    MAX_BATCH_BYTES,
    KRaftControl,
    build_kraft_control_batch,
    build_metadata_batch,
    control_messages,
)
from odradek.protocol.metadata_batch import metadata_records as records_in
from odradek.protocol.record_batch import RecordBatch, iter_batches
from odradek.storage import trimming
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import LEADER_EPOCHS, LOG_START_OFFSETS
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.formats.segment_files import LOG, file_name, parse_file_name
from odradek.storage.log_config import LogConfig
from odradek.storage.metadata_snapshot import (
    NO_SNAPSHOT,
    MetadataSnapshot,
    SnapshotId,
    newest_snapshot,
    parse_snapshot_name,
    read_metadata_snapshot,
    snapshot_batches,
    write_metadata_snapshot,
)
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from odradek.storage.quorum_state import QuorumState, read_quorum_state, write_quorum_state

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

_log = logging.getLogger(__name__)

FOLDER = f"{CLUSTER_METADATA}-0"
TOPIC_ID = bytes(15) + b"\x01"
_READ_BYTES = 1 << 20
_LONG_LOAD = 50_000
"""Records behind the last snapshot that a start reads before it takes one, so that the next start need not."""
_MOST_PARTITIONS = 1_000_000
"""The image has a place for each number below the highest one of a topic."""
_Key = tuple[str, int]
_KEY: _Key = (CLUSTER_METADATA, 0)


class DiskMetadataLog:
    """See `odradek.broker.controller.machine.MetadataLog`.

    `node_ids`: the nodes of the quorum. `founders`: the same, as a new log with kraft.version 1 has them; None founds a
    log with kraft.version 0, whose voters each node's configuration names. `on_append` is called after each append, in
    the same step. Owner: the data directory, which opens and closes it with the other logs.
    """

    deleted = False

    def __init__(
        self,
        backend: DiskBackend,
        config: BrokerConfig,
        node_ids: Sequence[int],
        founders: VotersRecord | None,
        now_ms: Callable[[], int],
        on_append: Callable[[DiskMetadataLog], None],
    ) -> None:
        self._backend = backend
        self._fs = backend.fs
        self._config = config
        self._now_ms = now_ms
        self._on_append = on_append
        self.folder = backend.directory / FOLDER
        self._failure: StorageError | None = None
        self._node_ids = node_ids
        self._founders = founders
        self._voters: VotersRecord | None = None
        self.kraft_version = 0
        self._image: MetadataImage | None = None
        self._last_timestamp = 0
        self.log = self._open_log()
        self._snapshot = newest_snapshot(self.folder) or NO_SNAPSHOT
        if self._snapshot.end_offset > self.log.log_end_offset:
            self._begin_at_snapshot()
        state = read_quorum_state(self._fs, self.folder)
        self.leader_epoch = max(
            self.log.leader_epochs.latest, self._snapshot.epoch, 0 if state is None else state.leader_epoch, 0
        )
        self._bytes_since_snapshot = 0
        self._loaded = 0
        self._snapshot_ms = now_ms()
        self._under_way: _SnapshotUnderWay | None = None
        self._begun: trio.Event | None = None

    # -- opening

    def _open_log(self) -> PartitionLog:
        numbers = self._config.get_int
        config = LogConfig(
            segment_bytes=numbers("metadata.log.segment.bytes"),
            segment_ms=numbers("metadata.log.segment.ms"),
            max_message_bytes=MAX_BATCH_BYTES,
            retention_ms=-1,
            retention_bytes=-1,
        )
        return PartitionLog(*_KEY, config, self._backend, now_ms=self._now_ms(), topic_id=TOPIC_ID)

    def _begin_at_snapshot(self) -> None:
        """The log ends before the newest snapshot: everything in it is in the snapshot, so it begins there anew."""
        self.log.close()
        for entry in self._fs.entries(self.folder):
            if parse_file_name(entry.name) is not None:
                self._fs.remove(self.folder / entry.name)
        self._fs.remove(self.folder / LEADER_EPOCHS)
        self._backend.set_offset(LOG_START_OFFSETS, _KEY, self._snapshot.end_offset)
        self.log = self._open_log()

    # -- the contract of a journal

    apart = False

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.log_end_offset

    def append(
        self, records: Sequence[MetadataRecord], now_ms: int, producer: Producer | None = None
    ) -> list[StoredRecord]:
        first = self.end_offset
        self._write(
            build_metadata_batch(
                records,
                timestamp=now_ms,
                base_offset=first,
                leader_epoch=self.leader_epoch,
                metadata_version=self._level(),
            ),
            now_ms,
        )
        return [StoredRecord(record, offset, self.leader_epoch) for offset, record in enumerate(records, first)]

    def _level(self) -> int:
        """The level of metadata.version that records are written at."""
        level = 0 if self._image is None else self._image.feature(METADATA_VERSION)
        return level or metadata_records.METADATA_VERSION

    def _write(self, batch: bytes, now_ms: int) -> None:
        if self._failure is not None:
            raise self._failure.again()
        self.log.append(batch, now_ms=now_ms, leader_epoch=self.leader_epoch, origin=AppendOrigin.COORDINATOR)
        self._bytes_since_snapshot += len(batch)
        self._last_timestamp = now_ms
        self._on_append(self)

    def split(self, records: Sequence[MetadataRecord]) -> Iterator[Sequence[MetadataRecord]]:
        return runs(records)

    def load(self, machine: Machine) -> Iterator[int]:
        self._load_snapshot(machine)
        position = max(self.start_offset, self._snapshot.end_offset)
        while position < self.end_offset:
            parts = self.log.read(position, max_bytes=_READ_BYTES, up_to_offset=self.end_offset).parts
            for batch in (batch for part in parts for batch in iter_batches(part)):
                self._check(batch)
                self._replay(batch, machine)
                position = batch.next_offset
            yield position
        yield self.end_offset

    def _load_snapshot(self, machine: Machine) -> None:
        end_offset, epoch = self._snapshot
        path = self.folder / self._snapshot.file_name
        if self._fs.is_file(path):
            snapshot = read_metadata_snapshot(self._fs, path)
            self.kraft_version, self._voters = snapshot.kraft_version, snapshot.voters
            # The records of a snapshot have no offsets in the log: all stand for the last one that it covers.
            for record in snapshot.records:
                _check_place(record, path)
                machine.replay(StoredRecord(record, end_offset - 1, epoch))
        elif self.start_offset > 0:
            path = self.folder / SnapshotId(self.start_offset, 0).file_name
            raise StorageError(f"{path}: the log begins at {self.start_offset}, no snapshot covers what was before")

    def _check(self, batch: RecordBatch) -> None:
        """Recovery looks behind an unclean stop only; metadata that was damaged since must not be believed either."""
        if not batch.is_crc_valid:
            segment = max(s.base_offset for s in self.log.segments if s.base_offset <= batch.base_offset)
            path = self.folder / file_name(segment, LOG)
            raise StorageError(f"{path}: the batch at offset {batch.base_offset} has a wrong checksum", str(path))

    def _replay(self, batch: RecordBatch, machine: Machine) -> None:
        self._bytes_since_snapshot += batch.size_bytes
        self._last_timestamp = batch.max_timestamp
        if batch.is_control:
            for message in control_messages(batch):
                self._take_control(message)
            return
        self._loaded += batch.record_count
        for offset, record in enumerate(records_in(batch), batch.base_offset):
            _check_place(record, self.folder)
            machine.replay(StoredRecord(record, offset, batch.partition_leader_epoch))

    def _take_control(self, message: KRaftControl) -> None:
        if isinstance(message, KRaftVersionRecord):
            self.kraft_version = message.k_raft_version
        elif isinstance(message, VotersRecord):
            self._voters = message

    # -- epochs

    def begin_epoch(self, leader_id: int, now_ms: int) -> None:
        """See `MetadataLog`. The first epoch of a new log says who the voters are."""
        self.leader_epoch += 1
        first = self.end_offset == 0 and self.kraft_version == 0 and self._founders is not None
        if first:
            self._found_quorum(now_ms)
        self._save_quorum_state(leader_id)
        voters = [NamedVoter(voter) for voter in self._voter_ids()]
        messages: list[KRaftControl] = [LeaderChangeMessage(0, leader_id, voters, voters)]
        if self._voters is not None and first:
            messages += [KRaftVersionRecord(k_raft_version=1), self._voters]
        batch = build_kraft_control_batch(
            messages, timestamp=now_ms, base_offset=self.end_offset, leader_epoch=self.leader_epoch
        )
        self._write(batch, now_ms)

    def _found_quorum(self, now_ms: int) -> None:
        """Write the result of formatting a directory for a dynamic quorum (KIP-853): a snapshot with nothing but the
        voters.
        """
        self.kraft_version, self._voters = 1, self._founders
        founding = MetadataSnapshot(kraft_version=1, voters=self._voters)
        write_metadata_snapshot(self._fs, self.folder, NO_SNAPSHOT, founding, now_ms=now_ms)

    def _voter_ids(self) -> list[int]:
        return list(self._node_ids) if self._voters is None else [voter.voter_id for voter in self._voters.voters]

    def _save_quorum_state(self, leader_id: int) -> None:
        version = 1 if self.kraft_version else 0
        voters = () if version else tuple(self._voter_ids())
        state = QuorumState(self.leader_epoch, leader_id, voters=voters, version=version)
        write_quorum_state(self._fs, self.folder, state)

    # -- snapshots

    def take_snapshot_if_due(self, image: MetadataImage, copied: Callable[[], MetadataImage], now_ms: int) -> None:
        """See `MetadataLog`. It is written by `write_snapshots`, and at once if that does not run."""
        self._image = image
        if self._under_way is not None:
            return
        numbers = self._config.get_int
        interval_ms = numbers("metadata.log.max.snapshot.interval.ms")
        grown = self._bytes_since_snapshot >= numbers("metadata.log.max.record.bytes.between.snapshots")
        aged = 0 < interval_ms <= now_ms - self._snapshot_ms
        if self._bytes_since_snapshot and (grown or aged or self._loaded > _LONG_LOAD):
            self._begin_snapshot(copied(), now_ms)
            self._bytes_since_snapshot = self._loaded = 0
            self._snapshot_ms = now_ms

    def _begin_snapshot(self, image: MetadataImage, now_ms: int) -> None:
        snapshot = MetadataSnapshot(records_of(image), self._last_timestamp, self.kraft_version, self._voters)
        batches = snapshot_batches(snapshot, epoch=self.leader_epoch, now_ms=now_ms, metadata_version=self._level())
        self._under_way = _SnapshotUnderWay(SnapshotId(self.end_offset, self.leader_epoch), batches, now_ms, [])
        if self._begun is None:
            self._finish_snapshot()
        else:
            self._begun.set()

    async def write_snapshots(self) -> None:
        """Write the snapshots that become due, until cancelled. Other tasks run after each batch."""
        try:
            while True:
                self._begun = trio.Event()
                await self._begun.wait()
                while self._go_on_with_snapshot():
                    await trio.lowlevel.checkpoint()
        finally:
            self._begun = None

    def _finish_snapshot(self) -> None:
        while self._go_on_with_snapshot():
            pass

    def _go_on_with_snapshot(self) -> bool:
        """Make one more batch of the snapshot under way, or write the file with the last one; False if none is left."""
        work = self._under_way
        if work is None:
            return False
        batch = next(work.batches, None)
        if batch is not None:
            work.parts.append(batch)
            return True
        self._under_way = None
        try:
            self.log.flush()
            self._fs.write_atomically(self.folder / work.id.file_name, b"".join(work.parts))
            self._snapshot = work.id
            self._drop_old(work.begun_ms)
        except StorageError as error:
            # The log has everything; the next snapshot is tried when it has grown again.
            _log.error("no snapshot of the metadata at offset %d: %s", work.id.end_offset, error.message)
        return False

    def _drop_old(self, now_ms: int) -> None:
        """Drop the oldest snapshots, and the log before the next one, while there is too much or they are too old."""
        named = ((parse_snapshot_name(e.name), self.folder / e.name) for e in self._fs.entries(self.folder))
        found = sorted((snapshot_id, path) for snapshot_id, path in named if snapshot_id is not None)
        size = self.log.size_bytes + sum(self._fs.size(path) for _, path in found)
        max_bytes, max_ms = (self._config.get_int(f"metadata.max.retention.{kind}") for kind in ("bytes", "ms"))
        for (_, path), (following, _) in itertools.pairwise(found):
            too_large = 0 <= max_bytes < size
            if not too_large and not 0 <= max_ms < now_ms - self._fs.modified_ms(path):
                return
            size -= self._fs.size(path)
            self._fs.remove(path)
            before = self.log.size_bytes
            self.log.delete_records(following.end_offset)
            trimming.drop_before_start(self.log, now_ms)
            size -= before - self.log.size_bytes

    # -- the medium

    def fail(self, error: StorageError) -> None:
        """The medium lost appended bytes: refuse every append from now on."""
        self._failure = error

    def close(self, *, clean: bool = True) -> None:
        """Release the log."""
        if clean:
            self._finish_snapshot()
        self.log.close(clean=clean)


class _SnapshotUnderWay(NamedTuple):
    """A snapshot that is being written: the batches to come, and those that are there."""

    id: SnapshotId
    batches: Iterator[bytes]
    begun_ms: int
    parts: list[bytes]


def _check_place(record: MetadataRecord, path: Path) -> None:
    """Names and numbers become paths and memory, so what wrote them is not trusted. Kafka does not look at them."""
    if isinstance(record, TopicRecord) and not is_topic_name(record.name):
        raise StorageError(f"{path}: no topic can have the name {record.name!r:.300}", str(path))
    if isinstance(record, PartitionRecord) and not 0 <= record.partition_id < _MOST_PARTITIONS:
        raise StorageError(f"{path}: no topic can have a partition {record.partition_id}", str(path))
