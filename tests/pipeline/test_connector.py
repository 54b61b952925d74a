"""The connector's jars: what is needed for them, and where they are kept."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from odradek.pipeline import connector
from odradek.pipeline.connector import PipelineUnavailable


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, and an empty cache."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ODRADEK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys\n{text}\n")
    path.chmod(0o755)


def test_java_must_be_17_or_newer(programs: Path) -> None:
    with pytest.raises(PipelineUnavailable, match="no `java` on the PATH"):
        connector.java_command()
    program(programs / "java", "print('openjdk version \"11.0.2\"', file=sys.stderr)")
    with pytest.raises(PipelineUnavailable, match="found Java 11"):
        connector.java_command()
    program(programs / "java", "print('a riddle')")
    with pytest.raises(PipelineUnavailable, match="unknown version"):
        connector.java_command()
    program(programs / "java", "print('openjdk version \"21.0.1\"', file=sys.stderr)")
    assert connector.java_command() == str(programs / "java")


def test_java_home_comes_first(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs / "java", "print('openjdk version \"11\"', file=sys.stderr)")
    program(tmp_path / "jdk" / "bin" / "java", "print('openjdk version \"17\"', file=sys.stderr)")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert connector.java_command() == str(tmp_path / "jdk" / "bin" / "java")


def test_another_pyspark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="3.5.1"))
    with pytest.raises(PipelineUnavailable, match=r"needs pyspark 4\.0\.0.*found 3\.5\.1"):
        connector.check_pyspark()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PipelineUnavailable, match="pip install 'odradek"):
        connector.check_pyspark()


def test_without_maven_nothing_is_fetched(programs: Path) -> None:
    assert connector.fetch_jars() == []


def test_jars_are_fetched_once(programs: Path, tmp_path: Path) -> None:
    program(
        programs / "mvn",
        "import pathlib\n"
        "folder = pathlib.Path(sys.argv[-1].partition('=')[2])\n"
        "folder.mkdir()\n"
        "for name in ('spark-sql-kafka-0-10_2.13-4.0.0', 'spark-token-provider-kafka-0-10_2.13-4.0.0',\n"
        "             'kafka-clients-3.9.0', 'commons-pool2-2.12.0'):\n"
        "    (folder / f'{name}.jar').touch()",
    )
    jars = connector.fetch_jars()
    assert len(jars) == 4
    assert {jar.parent for jar in jars} == {tmp_path / "cache" / "spark-4.0.0"}
    program(programs / "mvn", "sys.exit('not again')")
    assert connector.fetch_jars() == jars


def test_what_maven_says_first_is_told(programs: Path) -> None:
    program(programs / "mvn", "print()\nprint('no route to host')\nsys.exit(1)")
    with pytest.raises(PipelineUnavailable, match="could not fetch the connector: no route to host"):
        connector.fetch_jars()
    assert connector.cached_jars() == []


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]", "yarn", "k8s://a:1"])
def test_masters_that_are_not_asked_beforehand(master: str) -> None:
    connector.check_master(master)


@pytest.mark.parametrize("master", ["", "locals", "local[x]", "127.0.0.1:7077", "spark://host", "spark://a:1,b"])
def test_what_is_no_master(master: str) -> None:
    with pytest.raises(ValueError, match="a master is local"):
        connector.check_master(master)


def test_one_of_a_clusters_masters_has_to_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        there, gone = (f"127.0.0.1:{each.getsockname()[1]}" for each in (listening, mute))
        connector.check_master(f"spark://{gone},{there}")
        with pytest.raises(PipelineUnavailable, match=f"^needs a running Spark master: {gone}: Connection refused$"):
            connector.check_master(f"spark://{gone}")
