"""A log directory that Kafka 4.3.1 wrote, and what Kafka's own dump tool says of it."""

from pathlib import Path

import pytest

from tests.fakes.archives import unpack


@pytest.fixture
def kafka_log_dir(tmp_path: Path) -> Path:
    """A fresh copy of the recorded log directory."""
    return unpack("logdir.tar.gz", "logdir", tmp_path)


@pytest.fixture(scope="session")
def kafka_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dump of every file of that directory."""
    return unpack("logdir-dump.tar.gz", "dump", tmp_path_factory.mktemp("dump"))
