"""The jars of Spark's Kafka connector, fetched once for each version of Spark into a cache folder.

A connector belongs to one version of Spark and has its version number. It needs four jars; Spark contains all other
dependencies. The exclusions below keep Maven from the repositories that Spark's parent POM names. This POM also has the
versions of kafka-clients and commons-pool2 that the connector was built with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable

_SPARK = "org.apache.spark"
_COMPLETE = "complete"
"""The file that lists the jars of a cache folder. It is written when all jars are there."""
CONNECTOR = "spark-sql-kafka-0-10"

# Maven's message at the first attempt, and at later ones.
_NOT_SERVED = re.compile(r"Could not find artifact (org\.apache\S+)|(org\.apache\S+) was not found in ")


_REMEDY = (
    "install a Spark whose connector is served, name its jars in spark.jars, or do without it: only your own use of "
    "the format kafka needs it (build_session(kafka=False))"
)


class ConnectorNotServed(PipelineUnavailable):
    """There is no connector for this Spark. Without it a session still reads and writes the format `odradek`."""


class Artifact(NamedTuple):
    """The coordinates of one file in Maven."""

    group: str
    name: str
    version: str
    kind: str = "jar"


def cache_folder(spark: InstalledSpark) -> Path:
    """Where the jars are kept: `$ODRADEK_CACHE` or `~/.cache/odradek`, by Spark version."""
    root = Path(os.environ.get("ODRADEK_CACHE") or Path.home() / ".cache" / "odradek")
    return root / f"spark-{spark.version}"


def cached_jars(spark: InstalledSpark) -> list[Path]:
    """The connector's jars if all of them are in the cache, else an empty list."""
    complete = cache_folder(spark) / _COMPLETE
    if not complete.is_file():
        return []
    jars = [cache_folder(spark) / name for name in complete.read_text().splitlines()]
    return jars if all(jar.is_file() for jar in jars) else []


def fetch_jars(spark: InstalledSpark) -> list[Path]:
    """The connector's jars. Maven fetches missing ones; `PipelineUnavailable` if that fails.

    Without Maven the list is empty. Then Spark resolves the connector itself (Ivy, about half a minute), and
    `keep_resolved` notes the jars.
    """
    folder = cache_folder(spark)
    with _locked(folder):
        if jars := cached_jars(spark):
            return jars
        maven = shutil.which("mvn")
        if maven is None:
            return []
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            _Maven(maven, Path(scratch), spark).fetch(folder)
    return cached_jars(spark)


def resolver_settings(spark: InstalledSpark) -> dict[str, str]:
    """The settings by which Spark itself resolves the connector, into the cache."""
    connector = f"{_SPARK}:{CONNECTOR}_{spark.scala}:{spark.version}"
    return {"spark.jars.packages": connector, "spark.jars.ivy": str(_ivy_folder(spark))}


def not_resolved(spark: InstalledSpark) -> ConnectorNotServed:
    """The error for a Spark that ended while it resolved the connector."""
    return ConnectorNotServed(
        f"needs the Kafka connector of Spark {spark.version}, which Spark did not find (the lines above are its own, "
        f"and there is no Maven to ask): {_REMEDY}"
    )


def keep_resolved(spark: InstalledSpark) -> None:
    """Note the jars that Spark's resolver fetched. Then the next session needs no network."""
    folder, found = cache_folder(spark), sorted(_ivy_folder(spark).glob("jars/*.jar"))
    if any(CONNECTOR in jar.name for jar in found):
        _note_complete(folder, [str(jar.relative_to(folder)) for jar in found])


def _ivy_folder(spark: InstalledSpark) -> Path:
    return cache_folder(spark) / "ivy"


def _note_complete(folder: Path, names: Sequence[str]) -> None:
    unfinished = folder / f"{_COMPLETE}.{os.getpid()}"
    unfinished.write_text("\n".join(names) + "\n")
    unfinished.replace(folder / _COMPLETE)


class _Maven:
    """Two runs of Maven: the parent POM for the versions, and the jars."""

    def __init__(self, command: str, scratch: Path, spark: InstalledSpark) -> None:
        self._command, self._scratch, self._spark = command, scratch, spark

    def fetch(self, folder: Path) -> None:
        spark = self._spark
        parent = self._copy([Artifact(_SPARK, f"spark-parent_{spark.scala}", spark.version, "pom")])[0].read_text()
        jars = self._copy(
            [
                Artifact(_SPARK, f"{CONNECTOR}_{spark.scala}", spark.version),
                Artifact(_SPARK, f"spark-token-provider-kafka-0-10_{spark.scala}", spark.version),
                Artifact("org.apache.kafka", "kafka-clients", _property(parent, "kafka.version")),
                Artifact("org.apache.commons", "commons-pool2", _property(parent, "commons-pool2.version")),
            ]
        )
        for jar in jars:
            jar.replace(folder / jar.name)
        _note_complete(folder, [jar.name for jar in jars])

    def _copy(self, artifacts: Sequence[Artifact]) -> list[Path]:
        """The files of some artifacts; PipelineUnavailable if one of them cannot be had."""
        pom, output = self._scratch / "pom.xml", self._scratch / artifacts[0].kind
        pom.write_text(_pom(artifacts))
        command = [self._command, "-q", "-B", "-Dstyle.color=never", "-f", str(pom), "dependency:copy-dependencies"]
        done = subprocess.run([*command, f"-DoutputDirectory={output}"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise self._refusal(done.stdout + done.stderr)
        return [output / f"{each.name}-{each.version}.{each.kind}" for each in artifacts]

    def _refusal(self, said: str) -> PipelineUnavailable:
        lines = [line for line in said.splitlines() if line.strip()]
        version = self._spark.version
        if missing := _NOT_SERVED.search(said):
            return ConnectorNotServed(
                f"needs the Kafka connector of Spark {version}, and Maven serves no {missing[1] or missing[2]}: "
                f"{_REMEDY}"
            )
        first = lines[0] if lines else "no output"
        return PipelineUnavailable(f"Maven could not fetch the connector of Spark {version}: {first}")


def _property(pom: str, name: str) -> str:
    found = re.search(rf"<{re.escape(name)}>\s*([\w.-]+)\s*</", pom)
    if found is None:
        raise PipelineUnavailable(f"Spark's parent POM has no {name}")
    return found[1]


def _pom(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{each.group}</groupId><artifactId>{each.name}</artifactId>"
        f"<version>{each.version}</version><type>{each.kind}</type>"
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
        for each in artifacts
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>odradek</groupId><artifactId>connector</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time fetch: test workers start together."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows has no such locks: two fetches at once only cost time
        yield
        return
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
