"""A local Spark session with the Kafka connector and the `odradek` data source, in one call."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.pipeline.connector import CONNECTOR, cache_folder, check_master, check_pyspark, fetch_jars, java_command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A laptop's Spark: few partitions, no web interface, nothing on other addresses.
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

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"


def build_session(
    name: str = "odradek", *, master: str = "local[2]", config: Mapping[str, Any] | None = None
) -> SparkSession:
    """A session that can read and write `kafka` and read `odradek`.

    The connector's jars come from the cache (`odradek.pipeline.connector`), fetched the first time. `master`: a local
    one, or the URL of a cluster whose workers have this package in the same Python (`$PYSPARK_PYTHON` names another).
    `config`: further Spark settings. Raises ValueError for a master that is none, PipelineUnavailable for what the
    machine lacks, each in one line. Where there is a session already, call `register` on it.
    """
    check_master(master)
    check_pyspark()
    java_command()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are to be the driver's Python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in settings_for(master, {**_connector_settings(), **(config or {})}).items():
        builder = builder.config(key, value)
    return register(builder.getOrCreate())


def settings_for(master: str, config: Mapping[str, Any]) -> dict[str, str]:
    """Spark's settings for a master, with ``config`` over them. The driver of a cluster has to be reached by others."""
    local = _LOCAL_SETTINGS if master.startswith("local") else {}
    settings = {**_SETTINGS, **local, **{key: str(value) for key, value in config.items()}}
    settings[_JAVA_OPTIONS] = f"{_QUIET} {settings.get(_JAVA_OPTIONS, '')}".strip()
    return settings


def register(spark: SparkSession) -> SparkSession:
    """Make `spark.read.format("odradek")` and `spark.readStream.format("odradek")` known to a session."""
    from odradek.pipeline.source import OdradekDataSource

    spark.dataSource.register(OdradekDataSource)
    return spark


def _connector_settings() -> dict[str, str]:
    if jars := fetch_jars():
        return {"spark.jars": ",".join(str(jar) for jar in jars)}
    return {"spark.jars.packages": CONNECTOR, "spark.jars.ivy": str(cache_folder() / "ivy")}
