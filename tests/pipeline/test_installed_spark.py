"""Which Spark and which Java a session would run on, and what is said where there is no use in trying."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from odradek.pipeline.installed_spark import (
    InstalledSpark,
    PipelineUnavailable,
    check_master,
    installed_spark,
    java_command,
)

Found = Callable[..., None]


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Make a `java` of some words the only one; returns its path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def found(words: str) -> str:
        program(tmp_path / "java", words)
        return str(tmp_path / "java")

    return found


def program(path: Path, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys\nprint({words!r}, file=sys.stderr)\n")
    path.chmod(0o755)


def spark(version: str) -> InstalledSpark:
    return InstalledSpark(version, "2.13", Path("jars"))


def test_java_must_be_17_or_newer(java: Callable[[str], str]) -> None:
    with pytest.raises(PipelineUnavailable, match="no `java` on the PATH"):
        java_command()
    java('openjdk version "11.0.2"')
    with pytest.raises(PipelineUnavailable, match="found Java 11"):
        java_command()
    java("a riddle")
    with pytest.raises(PipelineUnavailable, match="unknown version"):
        java_command()
    path = java('openjdk version "21.0.1"')
    assert java_command() == java_command(spark("4.0.0")) == path


def test_java_25_is_for_a_spark_that_takes_it(java: Callable[[str], str]) -> None:
    path = java('openjdk version "25"')
    assert java_command(spark("4.2.0")) == path
    with pytest.raises(PipelineUnavailable, match=r"found Java 25, which Spark takes from 4\.2 on"):
        java_command(spark("4.1.1"))


def test_java_8_calls_itself_1_8(java: Callable[[str], str]) -> None:
    java('openjdk version "1.8.0_392"')
    with pytest.raises(PipelineUnavailable, match=r"found Java 8$"):
        java_command()


def test_a_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PipelineUnavailable, match=f"no `java` in {tmp_path}/bin, where JAVA_HOME points"):
        java_command()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_bytes(b"of another machine")
    (tmp_path / "bin" / "java").chmod(0o755)
    with pytest.raises(PipelineUnavailable, match=f"{tmp_path}/bin/java: Exec format error"):
        java_command()


def test_java_home_comes_first(java: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java('openjdk version "11"')
    program(tmp_path / "jdk" / "bin" / "java", 'openjdk version "17"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert java_command() == str(tmp_path / "jdk" / "bin" / "java")


@pytest.fixture
def pyspark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Make a pyspark of some version the installed one, with the core of some Spark in its jars."""
    monkeypatch.delenv("SPARK_HOME", raising=False)

    def found(version: str, *jars: str) -> None:
        home = tmp_path / version
        (home / "jars").mkdir(parents=True)
        for jar in jars:
            (home / "jars" / jar).touch()
        monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__=version, __path__=[str(home)]))

    return found


def test_a_spark_is_known_by_its_jars(pyspark: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark("4.2.0", "spark-core_2.13-4.2.0.jar", "spark-tags_2.13-4.2.0.jar")
    assert installed_spark() == ("4.2.0", "2.13", tmp_path / "4.2.0" / "jars")
    assert installed_spark().minor == (4, 2)
    pyspark("4.3.0.dev1", "spark-core_2.13-4.3.0-preview1.jar")
    assert installed_spark()[:2] == ("4.3.0-preview1", "2.13")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "4.2.0"))
    with pytest.raises(PipelineUnavailable, match=r"pyspark is 4\.3\.0\.dev1, SPARK_HOME has 4\.2\.0"):
        installed_spark()
    (tmp_path / "4.2.0" / "jars" / "spark-core_2.13-4.2.0.jar").unlink()
    with pytest.raises(PipelineUnavailable, match="needs Spark's jars: there are none in "):
        installed_spark()


def test_a_pyspark_that_is_no_use(pyspark: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark("3.5.9", "spark-core_2.12-3.5.9.jar")
    with pytest.raises(PipelineUnavailable, match=r"needs pyspark 4: found 3\.5\.9, which has no Python data sources$"):
        installed_spark()
    pyspark("5.0.0", "spark-core_2.13-5.0.0.jar")
    with pytest.raises(PipelineUnavailable, match=r"needs pyspark 4: found 5\.0\.0$"):
        installed_spark()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PipelineUnavailable, match="pip install 'odradek"):
        installed_spark()


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]", "yarn", "k8s://a:1"])
def test_masters_that_are_not_asked_beforehand(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", ["", "locals", "local[x]", "127.0.0.1:7077", "spark://host", "spark://a:1,b"])
def test_spark_master_that_is_not_local_or_a_url_is_refused(master: str) -> None:
    with pytest.raises(ValueError, match="a master is local"):
        check_master(master)


def test_one_of_a_clusters_masters_has_to_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        there, gone = (f"127.0.0.1:{each.getsockname()[1]}" for each in (listening, mute))
        check_master(f"spark://{gone},{there}")
        with pytest.raises(PipelineUnavailable, match=f"^needs a running Spark master: {gone}: Connection refused$"):
            check_master(f"spark://{gone}")
