"""Durability: who has to wait for the disk, and what is flushed without anybody waiting."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.cluster import Cluster
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from tests.fakes.durable import durable


def batch() -> bytes:
    return build_batch([Record(0, 0, b"k", b"v", ())])


def cluster_with(directory: Path, flush: str, fs: FileSystem | None = None) -> Cluster:
    return durable(directory, fs, {"odradek.flush": flush})


@pytest.mark.parametrize(("flush", "waits"), [("always", True), ("interval", False), ("never", False)])
def test_records_and_metadata_are_waited_for_alike(tmp_path: Path, flush: str, waits: bool) -> None:
    cluster = cluster_with(tmp_path, flush)
    cluster.open_directory()
    durability = cluster.durability
    assert durability is not None
    before = durability.appended
    assert not durability.must_wait(before)
    partition = cluster.create_topic("a").partitions[0]
    assert durability.must_wait(before) is waits
    before = durability.appended
    partition.append(batch(), now_ms=0)
    assert durability.must_wait(before) is waits
    cluster.close_logs()


def test_one_sync_serves_all_that_wait(tmp_path: Path) -> None:
    synced: list[Path] = []

    class Counting(FileSystem):
        __slots__ = ()

        def sync(self, descriptor: int, path: Path) -> None:
            synced.append(path)

    async def run() -> None:
        cluster = cluster_with(tmp_path, "always", Counting())
        async with cluster.run():
            assert cluster.durability is not None
            topic = cluster.create_topic("a", partitions=2)
            for partition in topic.partitions:
                partition.append(batch(), now_ms=0)
            synced.clear()
            async with trio.open_nursery() as nursery:
                for _ in range(5):
                    nursery.start_soon(cluster.durability.flushed)
            assert {path.parent.name for path in synced} == {"a-0", "a-1", "__cluster_metadata-0"}
            assert len(synced) == 3

    trio.run(run)


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_who_waited_for_a_sync_that_failed_is_told(tmp_path: Path, has_descriptors: bool) -> None:
    """Without descriptors the sync is not made in a thread. It may fail there, too."""

    class Failing(FileSystem):
        __slots__ = ()
        broken = False

        def duplicate(self, descriptor: int, path: Path) -> int:
            if has_descriptors:
                return super().duplicate(descriptor, path)
            raise StorageError(f"{path}: too many")

        def sync(self, descriptor: int, path: Path) -> None:
            if self.broken and path.parent.name == "a-0":
                raise StorageError(f"{path}: gone")

    async def run() -> None:
        cluster = cluster_with(tmp_path, "always", Failing())
        async with cluster.run():
            assert cluster.durability is not None
            partition = cluster.create_topic("a").partitions[0]
            partition.append(batch(), now_ms=0)
            Failing.broken = True
            with pytest.raises(StorageError, match="gone"):
                await cluster.durability.flushed()
            Failing.broken = False
            with pytest.raises(StorageError, match="gone"):
                partition.append(batch(), now_ms=0)
            cluster.create_topic("b")
            await cluster.durability.flushed()

    trio.run(run)


@pytest.mark.trio
async def test_a_log_is_flushed_after_so_many_messages_or_so_long(tmp_path: Path, autojump_clock: MockClock) -> None:
    cluster = cluster_with(tmp_path, "interval")
    async with cluster.run():
        await wait_all_tasks_blocked()
        configs = {"flush.messages": "3", "flush.ms": "5000"}
        busy, slow, gone = cluster.create_topic("a", partitions=3, configs=configs).partitions

        def unflushed() -> tuple[int, int]:
            return busy.log.unflushed_messages, slow.log.unflushed_messages

        for _ in range(2):
            busy.append(batch(), now_ms=0)
        for each in (slow, gone):
            each.append(batch(), now_ms=0)
        assert unflushed() == (2, 1)
        busy.append(batch(), now_ms=0)
        assert unflushed() == (0, 1)
        gone.deleted = True
        for _ in range(3):
            await advance(cluster, 1)
        for each in (slow, busy):
            each.append(batch(), now_ms=0)
        await advance(cluster, 1)
        assert unflushed() == (1, 2)
        await advance(cluster, 1)
        assert (unflushed(), gone.log.unflushed_messages) == ((1, 0), 1)
        for _ in range(3):
            await advance(cluster, 1)
        assert unflushed() == (0, 0)
        gone.deleted = False


async def advance(cluster: Cluster, seconds: float) -> None:
    cluster.clock.advance(seconds)
    await wait_all_tasks_blocked()


class Noted:
    """A log directory that notes what is asked of it."""

    def __init__(self) -> None:
        self.removals = self.checkpoints = 0

    def remove_due(self) -> None:
        self.removals += 1
        raise OSError("the file is held")

    def write_checkpoints(self) -> None:
        self.checkpoints += 1


@pytest.mark.trio
async def test_files_are_removed_each_second_and_checkpoints_have_their_interval(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """What fails is a bug of the cluster, and stops nothing else."""
    cluster = durable(tmp_path, None, {"log.flush.offset.checkpoint.interval.ms": "3000"})
    async with cluster.run():
        assert cluster.durability is not None
        await wait_all_tasks_blocked()
        own, cluster.durability.directory = cluster.durability.directory, (noted := Noted())
        counts = []
        for _ in range(7):
            await advance(cluster, 1)
            counts.append((noted.removals, noted.checkpoints))
        assert counts == [(1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 2), (7, 2)]
        assert {bug.where for bug in cluster.bug_log.bugs} == {"removal of files"}
        cluster.durability.directory = own


@pytest.mark.trio
async def test_a_slow_disk_of_the_leader_makes_who_waits_wait_longer(tmp_path: Path) -> None:
    cluster = durable(tmp_path, None, {"odradek.flush": "always"}, nodes=2)
    async with cluster.run():
        cluster.clock.freeze()
        slow, fast = (cluster.create_topic(name, assignments={0: [node]}) for name, node in (("a", 1), ("b", 2)))
        durability = cluster.durability
        assert durability is not None
        await durability.flushed()
        durability.late_ms = {1: 500}
        fast.partitions[0].append(batch(), now_ms=0)
        await durability.flushed()
        slow.partitions[0].append(batch(), now_ms=0)
        done = trio.Event()

        async def wait() -> None:
            await durability.flushed()
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            await advance(cluster, 0.4)
            assert not done.is_set()
            await advance(cluster, 0.1)
            await done.wait()
        cluster.clock.resume()
