"""Checks before Spark starts: the installed Spark, its Java, and the master.

The operator of the cluster chooses the version of Spark. The pipeline uses the installed one, and reports in one line
what is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

_MIN_JAVA = 17
# Java 24 has no security manager. The Hadoop of an older Spark asks it for the user.
_LAST_JAVA_OF_SECURITY_MANAGER = 23
_FIRST_SPARK_WITHOUT = (4, 2)
_CORE = re.compile(r"spark-core_(\d+\.\d+)-(.+)\.jar")
_MASTER = re.compile(r"local(-cluster)?(\[[\d*]+(,\d+)*\])?$|spark://[^,/]+:\d+(,[^,/]+:\d+)*$|yarn$|k8s://.+")
_STANDALONE = re.compile(r"(?:^spark://|,)([^,/]+:\d+)(?=,|$)")
_CONNECT_S = 10


class PipelineUnavailable(Exception):
    """What this machine lacks to run Spark, in one line."""


class InstalledSpark(NamedTuple):
    """A Spark by its jars."""

    version: str
    """As Maven names it: `4.2.0`, `4.2.0-preview1`."""
    scala: str
    """`2.13`."""
    jars: Path
    """The folder of its jars."""

    @property
    def minor(self) -> tuple[int, int]:
        """(4, 2) of `4.2.0`."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


def installed_spark() -> InstalledSpark:
    """The Spark that a session starts: `$SPARK_HOME`'s, else pyspark's own; `PipelineUnavailable` if unusable."""
    try:
        import pyspark
    except ImportError:
        raise PipelineUnavailable("needs pyspark: pip install 'odradek[spark]'") from None
    version = pyspark.__version__
    if not re.match(r"4\.\d+\.", version):
        why = ", which has no Python data sources" if version.startswith(("2.", "3.")) else ""
        raise PipelineUnavailable(f"needs pyspark 4: found {version}{why}")
    home = Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])
    found = next((match for jar in home.glob("jars/spark-core_*.jar") if (match := _CORE.match(jar.name))), None)
    if found is None:
        raise PipelineUnavailable(f"needs Spark's jars: there are none in {home / 'jars'}")
    spark = InstalledSpark(found[2], found[1], home / "jars")
    if spark.version.split(".")[:2] != version.split(".")[:2]:
        raise PipelineUnavailable(f"needs one version of Spark: pyspark is {version}, SPARK_HOME has {spark.version}")
    return spark


def java_command(spark: InstalledSpark | None = None) -> str:
    """The Java that Spark will run; `PipelineUnavailable` unless it is 17 or newer, and supported by the Spark."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        where = f"in {home}/bin, where JAVA_HOME points" if home else "on the PATH"
        raise PipelineUnavailable(f"needs a JDK 17 or 21: no `java` {where}")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise PipelineUnavailable(f"needs a JDK 17 or 21: {java}: {error.strerror}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)  # 1.8 is Java 8
    if found is None or int(found[1]) < _MIN_JAVA:
        raise PipelineUnavailable(f"needs a JDK 17 or 21: found Java {found[1] if found else 'of an unknown version'}")
    if spark is not None and spark.minor < _FIRST_SPARK_WITHOUT and int(found[1]) > _LAST_JAVA_OF_SECURITY_MANAGER:
        raise PipelineUnavailable(f"needs a JDK 17 or 21: found Java {found[1]}, which Spark takes from 4.2 on")
    return java


def check_master(master: str) -> None:
    """ValueError for a wrong master URL, `PipelineUnavailable` if no master listens at its address.

    Spark itself reports this after a minute, in a hundred lines.
    """
    if not _MASTER.match(master):
        raise ValueError(f"a master is local[N], spark://HOST:PORT, yarn or k8s://..., not {master!r}")
    reasons = []
    for address in _STANDALONE.findall(master):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
        except OSError as error:
            reasons.append(f"{address}: {error.strerror or error}")
        else:
            return
    if reasons:
        raise PipelineUnavailable(f"needs a running Spark master: {', '.join(reasons)}")
