"""A local Spark session with the Kafka connector and the `odradek` data source, in one call."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.pipeline.connector import CONNECTOR, cache_folder, check_pyspark, fetch_jars, java_command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A laptop's Spark: few partitions, no web interface, nothing on other addresses.
_LOCAL_SETTINGS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
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

    The connector's jars come from the cache (`odradek.pipeline.connector`), fetched the first time. `config`: further
    Spark settings. Raises PipelineUnavailable, in one line, for what the machine lacks. On a cluster, use the
    session that is there and call `register` on it.
    """
    check_pyspark()
    java_command()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are to be the driver's Python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).master(master)
    settings = {**_LOCAL_SETTINGS, **_connector_settings(), **(config or {})}
    settings[_JAVA_OPTIONS] = f"{_QUIET} {settings.get(_JAVA_OPTIONS, '')}".strip()
    for key, value in settings.items():
        builder = builder.config(key, str(value))
    return register(builder.getOrCreate())


def register(spark: SparkSession) -> SparkSession:
    """Make `spark.read.format("odradek")` and `spark.readStream.format("odradek")` known to a session."""
    from odradek.pipeline.source import OdradekDataSource

    spark.dataSource.register(OdradekDataSource)
    return spark


def _connector_settings() -> dict[str, str]:
    if jars := fetch_jars():
        return {"spark.jars": ",".join(str(jar) for jar in jars)}
    return {"spark.jars.packages": CONNECTOR, "spark.jars.ivy": str(cache_folder() / "ivy")}
