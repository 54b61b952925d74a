"""The connector's jars: how they are found for a version of Spark, and where they are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from odradek.pipeline import connector
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable

SPARK = InstalledSpark("4.2.0", "2.13", Path("jars"))
MAVEN = """
import pathlib, re
pom = pathlib.Path(sys.argv[sys.argv.index("-f") + 1]).read_text()
folder = pathlib.Path(sys.argv[-1].partition("=")[2])
folder.mkdir()
pattern = "<artifactId>([^<*]+)</artifactId><version>([^<]+)</version><type>(jar|pom)</type>"
for name, version, kind in re.findall(pattern, pom):
    text = "<kafka.version>3.9.2</kafka.version><commons-pool2.version>2.13.1</commons-pool2.version>"
    (folder / f"{name}-{version}.{kind}").write_text(text)
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, and an empty cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path / "cache"))
    return folder


def maven(folder: Path, text: str) -> None:
    path = folder / "mvn"
    path.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
    path.chmod(0o755)


def test_without_maven_nothing_is_fetched(programs: Path) -> None:
    assert connector.fetch_jars(SPARK) == []


def test_jars_of_a_version_are_fetched_once(programs: Path, tmp_path: Path) -> None:
    maven(programs, MAVEN)
    jars = connector.fetch_jars(SPARK)
    assert sorted(jar.name for jar in jars) == [
        "commons-pool2-2.13.1.jar",
        "kafka-clients-3.9.2.jar",
        "spark-sql-kafka-0-10_2.13-4.2.0.jar",
        "spark-token-provider-kafka-0-10_2.13-4.2.0.jar",
    ]
    assert {jar.parent for jar in jars} == {tmp_path / "cache" / "spark-4.2.0"}
    maven(programs, "sys.exit('not again')")
    assert connector.fetch_jars(SPARK) == jars
    with pytest.raises(PipelineUnavailable, match="not again"):
        connector.fetch_jars(SPARK._replace(version="4.0.0"))
    jars[0].unlink()
    with pytest.raises(PipelineUnavailable, match="not again"):
        connector.fetch_jars(SPARK)


def test_what_spark_resolved_itself_is_kept(programs: Path, tmp_path: Path) -> None:
    settings = connector.resolver_settings(SPARK)
    assert settings["spark.jars.packages"] == "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
    connector.keep_resolved(SPARK)
    assert connector.cached_jars(SPARK) == []
    folder = Path(settings["spark.jars.ivy"]) / "jars"
    folder.mkdir(parents=True)
    names = ["org.apache.kafka_kafka-clients-3.9.2.jar", "org.apache.spark_spark-sql-kafka-0-10_2.13-4.2.0.jar"]
    for name in names:
        (folder / name).touch()
    connector.keep_resolved(SPARK)
    assert connector.fetch_jars(SPARK) == [folder / name for name in names]


def test_what_maven_says_first_is_told(programs: Path) -> None:
    maven(programs, "print()\nprint('no route to host')\nsys.exit(1)")
    with pytest.raises(PipelineUnavailable, match=r"could not fetch the connector of Spark 4\.2\.0: no route to host"):
        connector.fetch_jars(SPARK)
    assert connector.cached_jars(SPARK) == []


@pytest.mark.parametrize(
    "words", ["Could not find artifact {} in central (", "{} was not found in http://there during"]
)
def test_a_connector_that_is_not_served_is_named(programs: Path, words: str) -> None:
    name = "org.apache.spark:spark-sql-kafka-0-10_2.13:jar:4.2.0"
    maven(programs, f"print('[ERROR] Could not resolve: {words.format(name)}')\nsys.exit(1)")
    with pytest.raises(
        connector.ConnectorNotServed, match=f"connector of Spark 4\\.2\\.0, and Maven serves no {name}: install"
    ):
        connector.fetch_jars(SPARK)


def test_a_parent_without_versions_is_no_use(programs: Path) -> None:
    maven(programs, MAVEN.replace("kafka.version", "another"))
    with pytest.raises(PipelineUnavailable, match=r"has no kafka\.version"):
        connector.fetch_jars(SPARK)
