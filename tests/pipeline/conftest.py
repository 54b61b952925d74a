"""For the tests of the pipeline: Spark is needed, and its own warnings are not ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.archives import unpack
from tests.pipeline import quick_spark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            # pyspark leaves sockets to the collector, and calls what its own dependencies have deprecated.
            for kind in ("ResourceWarning", "DeprecationWarning", "FutureWarning", "UserWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind}"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def golden_log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log directory that Kafka 4.3.1 wrote."""
    return unpack("logdir.tar.gz", "logdir", tmp_path_factory.mktemp("logdir"))


@pytest.fixture(scope="session")
def golden_dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Kafka's own dump tool prints about that directory."""
    return unpack("logdir-dump.tar.gz", "dump", tmp_path_factory.mktemp("dump"))


@pytest.fixture(scope="session")
def spark(odradek_spark: Any) -> Any:
    """The plugin's session, under the name that is short to write."""
    return odradek_spark


@pytest.fixture(scope="session")
def odradek_spark_config() -> dict[str, str]:
    return {"spark.driver.extraJavaOptions": quick_spark.JAVA_OPTIONS, **quick_spark.SETTINGS}


class Task:
    """What Spark tells a task about itself."""

    def __init__(self, number: int, query: str | None) -> None:
        self._number, self._query = number, query

    def partitionId(self) -> int:  # noqa: N802 (Spark's name)
        return self._number

    def getLocalProperty(self, name: str) -> str | None:  # noqa: N802 (Spark's name)
        return self._query if name == "sql.streaming.queryId" else None


@pytest.fixture
def as_task(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call a writer as Spark does in a task."""
    pyspark = pytest.importorskip("pyspark")

    def write(writer: Any, number: int, *rows: Any, query: str | None = "query") -> Any:
        monkeypatch.setattr(pyspark.TaskContext, "get", lambda: Task(number, query))
        return writer.write(iter(rows))

    return write
