"""Durability: who has to wait for the disk, and what is flushed without anybody waiting."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

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
