"""A local Spark session with the Kafka connector and the `odradek` data source, in one call."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.pipeline.connector import CONNECTOR, fetch_jars, keep_resolved, not_resolved, resolver_settings
from odradek.pipeline.installed_spark import InstalledSpark, check_master, installed_spark, java_command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark on a laptop: few partitions, no web interface, loopback only.
_LOCAL_SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_SETTINGS: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.python.worker.reuse": "true",
}

_INCUBATOR = b"WARNING: Using incubator modules: jdk.incubator.vector"
_LAST_LINES_S = 2.0
_JARS = "spark.jars"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_WORKER_PATH = "spark.executorEnv.PYTHONPATH"
_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"


def build_session(
    name: str = "odradek", *, master: str = "local[2]", config: Mapping[str, Any] | None = None, kafka: bool = True
) -> SparkSession:
    """A session that reads and writes `kafka`, and reads `odradek`.

    The connector's jars come from the cache (`odradek.pipeline.connector`) and are fetched on first use. Without
    ``kafka`` the session has no connector and only the format `odradek`. `master`: local, or the URL of a cluster whose
    workers have this package in the same Python (`$PYSPARK_PYTHON` names another). `config`: more Spark settings;
    `spark.jars` and `spark.jars.packages` may name another connector. ValueError for a wrong master,
    PipelineUnavailable for what the machine lacks. For an existing session, call `register`.
    """
    check_master(master)
    spark = installed_spark()
    java_command(spark)
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers use the driver's Python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    settings = settings_for(master, with_connector(spark, config or {}) if kafka else config or {})
    for key, value in settings.items():
        builder = builder.config(key, value)
    resolves = settings.items() >= resolver_settings(spark).items()
    try:
        with _without_a_warning():
            session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if resolves and error.getCondition() == "JAVA_GATEWAY_EXITED":
            raise not_resolved(spark) from None
        raise
    if resolves:
        keep_resolved(spark)
    return register(session)


@contextmanager
def _without_a_warning() -> Iterator[None]:
    """Remove one line from standard error: each JVM of Spark 4 prints it when it starts."""
    try:
        stderr = os.dup(2)
    except OSError:  # closed
        yield
        return
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    copying = threading.Thread(target=_copy_lines, args=(reading, stderr), name="odradek Spark", daemon=True)
    copying.start()
    failed = True
    try:
        yield
        failed = False
    finally:
        os.dup2(stderr, 2)
        if failed:
            copying.join(_LAST_LINES_S)  # the last lines of a JVM that did not start


def _copy_lines(reading: int, stderr: int) -> None:
    """Copy lines until the JVM, the last writer, has ended."""
    with open(reading, "rb") as lines, open(stderr, "wb", buffering=0) as out:
        for line in lines:
            if not line.startswith(_INCUBATOR):
                with suppress(OSError):
                    out.write(line)


def with_connector(spark: InstalledSpark, config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the connector's jars, unless they name a connector."""
    if any(CONNECTOR in str(config.get(name, "")) for name in (_JARS, "spark.jars.packages")):
        return dict(config)
    if jars := fetch_jars(spark):
        given = [str(config[_JARS])] if config.get(_JARS) else []
        return {**config, _JARS: ",".join([*given, *map(str, jars)])}
    return {**resolver_settings(spark), **config}


def settings_for(master: str, config: Mapping[str, Any]) -> dict[str, str]:
    """Spark's settings for a master; ``config`` overrides them. Workers of a cluster have to reach the driver."""
    local = _LOCAL_SETTINGS if master.startswith("local") else {}
    settings = {**_SETTINGS, **local, **{key: str(value) for key, value in config.items()}}
    settings[_JAVA_OPTIONS] = f"{_QUIET} {settings.get(_JAVA_OPTIONS, '')}".strip()
    settings[_WORKER_PATH] = os.pathsep.join(filter(None, (worker_path(), settings.get(_WORKER_PATH))))
    return settings


def worker_path() -> str:
    """A folder on the path that lets Python workers start faster. Workers do not need it."""
    return str(Path(__file__).with_name("worker_path"))


def register(spark: SparkSession) -> SparkSession:
    """Register `spark.read.format("odradek")` and `spark.readStream.format("odradek")` in a session."""
    from odradek.pipeline.source import OdradekDataSource

    spark.dataSource.register(OdradekDataSource)
    return spark
