"""Settings under which Spark does little work soon rather than much work fast."""

from __future__ import annotations

import os
import shlex

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
SETTINGS = {
    "spark.driver.memory": "768m",
    "spark.sql.codegen.wholeStage": "false",
    # Otherwise each operation on a column asks the JVM several times, for the sake of messages with line numbers.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def environment() -> dict[str, str]:
    """For a program that starts a Spark of its own; the JVM says on standard error that it was told so."""
    settings = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]
    arguments = shlex.join([*settings, "pyspark-shell"])
    return {**os.environ, "JAVA_TOOL_OPTIONS": JAVA_OPTIONS, "PYSPARK_SUBMIT_ARGS": arguments}
