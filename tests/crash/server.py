"""A durable broker that kills itself: ``python -m tests.crash.server DIR PORT [KILL_AT]``.

KILL_AT counts the calls that change the disk after the start; the process dies by SIGKILL in the middle of that one (a
write is cut in half).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import trio

from odradek.broker.cluster import Cluster
from odradek.broker.controller.data_directory import DataDirectory
from odradek.protocol.records import Buffer
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem
from odradek.storage.log_config import LogConfig

CONFIG = {
    "log.index.interval.bytes": "512",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.1",
    "log.flush.interval.messages": "50",
    "log.segment.delete.delay.ms": "50",
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "auto.create.topics.enable": "false",
}
TOPICS = {"plain": 2, "left": 1, "right": 1}


class SmallSegments(DiskBackend):
    """Gives every log segments that roll often; Kafka's configs do not allow less than 1 MiB."""

    def segment_bytes(self, config: LogConfig) -> int:
        return 8_000 if config.compact else 20_000


class KillingFileSystem(FileSystem):
    """Dies in the middle of the n-th changing call."""

    __slots__ = ("armed", "left")

    def __init__(self, kill_at: int) -> None:
        super().__init__()
        self.left = kill_at
        self.armed = False

    def _dies_now(self) -> bool:
        if not self.armed or self.left < 0:
            return False
        self.left -= 1
        return self.left < 0

    def _die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write_at(self, descriptor: int, parts: Sequence[Buffer], position: int, path: Path) -> None:
        if self._dies_now():
            data = b"".join(parts)
            os.pwrite(descriptor, data[: len(data) // 2], position)
            self._die()
        super().write_at(descriptor, parts, position, path)

    def rename(self, source: Path, target: Path) -> None:
        if self._dies_now():
            self._die()
        super().rename(source, target)

    def remove(self, path: Path) -> None:
        if self._dies_now():
            self._die()
        super().remove(path)

    def truncate(self, descriptor: int, size: int, path: Path) -> None:
        if self._dies_now():
            self._die()
        super().truncate(descriptor, size, path)

    def sync(self, descriptor: int, path: Path) -> None:
        if self._dies_now():
            self._die()
        super().sync(descriptor, path)


async def _serve(directory: Path, port: int, kill_at: int) -> None:
    cluster = Cluster(config=CONFIG, data_dir=directory)
    fs = KillingFileSystem(kill_at)
    assert cluster.durability is not None
    cluster.directory = DataDirectory(
        [directory], cluster.config, cluster.clock, list(cluster.nodes), cluster.durability, fs, SmallSegments
    )
    async with cluster.run():
        for name, partitions in TOPICS.items():
            if cluster.topics.get(name) is None:
                cluster.create_topic(name, partitions=partitions)
        await cluster.listen("127.0.0.1", port)
        fs.armed = kill_at >= 0
        print("ready", flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(_serve, Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else -1)
