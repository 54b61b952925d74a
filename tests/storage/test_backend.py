"""The contract of a backend: the same log model holds on the disk, over clean and unclean restarts."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog
from tests.fakes.examples import examples
from tests.fakes.file_system import FaultyFileSystem
from tests.storage.log_model import LogModel
from tests.storage.logs import NOW


class DiskLogModel(LogModel):
    """The model on a log directory that is opened again now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="odradek-log-"))
        self.backend = DiskBackend(self.folder, now_ms=lambda: NOW, fs=FaultyFileSystem())

    def open_log(self, config: LogConfig) -> PartitionLog:
        return PartitionLog("t", 0, config, self.backend, now_ms=NOW, topic_id=bytes(range(16)))

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        config = self.log.config
        if clean:
            self.log.close()
            self.backend.close()
        else:
            self.backend._unlock()  # what the death of the process does
        self.backend = DiskBackend(self.folder, now_ms=lambda: NOW, fs=FaultyFileSystem())
        self.log = self.open_log(config)

    def teardown(self) -> None:
        self.backend._unlock()
        shutil.rmtree(self.folder)


TestDiskLogModel = DiskLogModel.TestCase
TestDiskLogModel.settings = settings(max_examples=examples(25), stateful_step_count=20, deadline=None)
