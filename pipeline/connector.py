"""The jars of Spark's Kafka connector, fetched once into a cache folder.

The pair is pinned: pyspark 4.0.0 with spark-sql-kafka-0-10 4.0.0 (kafka-clients 3.9.0). The connector's own needs are
four jars; everything else that it depends on is part of pyspark, so the exclusions below leave nothing to search for in
the repositories that Spark's parent POM names.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPARK_VERSION = "4.0.0"
CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_VERSION}"
_ARTIFACTS = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK_VERSION),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", SPARK_VERSION),
    ("org.apache.kafka", "kafka-clients", "3.9.0"),
    ("org.apache.commons", "commons-pool2", "2.12.0"),
)
_MIN_JAVA = 17
_MASTER = re.compile(r"local(-cluster)?(\[[\d*]+(,\d+)*\])?$|spark://[^,/]+:\d+(,[^,/]+:\d+)*$|yarn$|k8s://.+")
_STANDALONE = re.compile(r"(?:^spark://|,)([^,/]+:\d+)(?=,|$)")
_CONNECT_S = 10


class PipelineUnavailable(Exception):
    """What this machine lacks for running Spark, as one line."""


def cache_folder() -> Path:
    """Where the jars are kept: `$ODRADEK_CACHE` or `~/.cache/odradek`, by Spark version."""
    root = Path(os.environ.get("ODRADEK_CACHE") or Path.home() / ".cache" / "odradek")
    return root / f"spark-{SPARK_VERSION}"


def java_command() -> str:
    """The Java that Spark will run; `PipelineUnavailable` unless it is 17 or newer."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        raise PipelineUnavailable("needs a JDK 17: no `java` on the PATH")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    if found is None or int(found[1]) < _MIN_JAVA:
        raise PipelineUnavailable(f"needs a JDK 17: found Java {found[1] if found else 'of an unknown version'}")
    return java


def check_pyspark() -> None:
    """`PipelineUnavailable` unless the pinned pyspark is installed."""
    try:
        import pyspark
    except ImportError:
        raise PipelineUnavailable("needs pyspark: pip install 'odradek[spark]'") from None
    if pyspark.__version__ != SPARK_VERSION:
        raise PipelineUnavailable(
            f"needs pyspark {SPARK_VERSION}, the version of the connector: found {pyspark.__version__}"
        )


def check_master(master: str) -> None:
    """ValueError for what is no master of Spark, `PipelineUnavailable` if nothing listens where a cluster's should.

    Spark itself finds out after a minute, and says it in a hundred lines.
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


def cached_jars() -> list[Path]:
    """The connector's jars if all of them are in the cache, else an empty list."""
    folder = cache_folder()
    jars = [folder / f"{artifact}-{version}.jar" for _, artifact, version in _ARTIFACTS]
    return jars if all(jar.is_file() for jar in jars) else []


def fetch_jars() -> list[Path]:
    """The connector's jars, fetched with Maven if they are not there yet; `PipelineUnavailable` if that fails.

    Without Maven the list is empty: a session then lets Spark resolve the connector itself (Ivy, about half a minute).
    """
    with _locked(cache_folder()):
        if jars := cached_jars():
            return jars
        maven = shutil.which("mvn")
        if maven is None:
            return []
        _fetch_with_maven(maven)
    return cached_jars()


def _fetch_with_maven(maven: str) -> None:
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        pom, output = Path(scratch) / "pom.xml", Path(scratch) / "jars"
        pom.write_text(_pom())
        command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={output}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            raise PipelineUnavailable(f"Maven could not fetch the connector: {lines[0] if lines else 'no output'}")
        for jar in output.glob("*.jar"):
            jar.replace(cache_folder() / jar.name)


def _pom() -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
        for group, artifact, version in _ARTIFACTS
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>odradek</groupId><artifactId>connector</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time fetches (test workers start together)."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two fetches at once only cost time
        yield
        return
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
