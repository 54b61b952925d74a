"""A log directory that Kafka 4.3.1 wrote, and what Kafka's own dump tool says of it."""

import tarfile
from pathlib import Path

import pytest

VECTORS = Path(__file__).parent.parent / "vectors"


def _unpack(name: str, target: Path) -> Path:
    with tarfile.open(VECTORS / name) as archive:
        archive.extractall(target, filter="data")
    return target


@pytest.fixture
def kafka_log_dir(tmp_path: Path) -> Path:
    """A fresh copy of the recorded log directory."""
    return _unpack("logdir.tar.gz", tmp_path) / "logdir"


@pytest.fixture(scope="session")
def kafka_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dump of every file of that directory."""
    return _unpack("logdir-dump.tar.gz", tmp_path_factory.mktemp("dump")) / "dump"
