"""Taking over segments that exist: the log goes on as if it had never been closed."""

from __future__ import annotations

import pytest

from odradek.storage.backend import LoadedLog, LogStore
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend, MemoryLogStore
from odradek.storage.partition_log import PartitionLog
from tests.storage.logs import NOW, end, make_log, put, records


class KeptStore(MemoryLogStore):
    """A store that finds the segments of another log."""

    __slots__ = ("loaded",)

    def __init__(self, loaded: LoadedLog) -> None:
        super().__init__()
        self.loaded = loaded

    def load(self) -> LoadedLog | None:
        return self.loaded


class KeptBackend(MemoryBackend):
    __slots__ = ("loaded",)

    def __init__(self, loaded: LoadedLog) -> None:
        super().__init__()
        self.loaded = loaded

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return KeptStore(self.loaded)


def reopened(log: PartitionLog, *, with_producers: bool) -> PartitionLog:
    found = LoadedLog(
        [segment.stores for segment in log.segments],
        log.log_start_offset,
        log.recovery_point,
        log.leader_epochs.entries(),
        log.producers if with_producers else None,
        cleaner_offset=log.cleaner_offset,
    )
    return PartitionLog(log.topic, log.partition, log.config, KeptBackend(found), now_ms=NOW)


@pytest.mark.parametrize("with_producers", [True, False])
def test_everything_is_as_before(with_producers: bool) -> None:
    log = make_log(segment_bytes=500, index_interval_bytes=100)
    for i in range(5):
        put(log, producer=(1, 0, i), transactional=True, epoch=i // 2)
        if i in (1, 3):
            end(log, 1, 0, commit=i == 1)
        put(log, producer=(2, 0, i))
    log.delete_records(3)
    again = reopened(log, with_producers=with_producers)
    for name in ("log_start_offset", "log_end_offset", "high_watermark", "last_stable_offset", "size_bytes"):
        assert getattr(again, name) == getattr(log, name), name
    assert again.leader_epochs.entries() == log.leader_epochs.entries()
    assert records(again) == records(log)
    assert again.aborted_transactions(3, 9) == log.aborted_transactions(3, 9) != []
    assert put(again, producer=(2, 0, 4)).duplicate
    assert put(again, producer=(2, 0, 5)).base_offset == log.log_end_offset
    end(again, 1, 0, commit=True)
    assert again.last_stable_offset == again.log_end_offset
