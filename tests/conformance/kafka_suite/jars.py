"""The jars of Kafka's integration tests, from Maven, and the stand-ins of `java/`, compiled.

Both are made once and kept in the cache folder (`tests.conformance.real_kafka.cache_dir`).
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.conformance.real_kafka import Unavailable, cache_dir, cache_lock, java_major

KAFKA_VERSION = "4.3.1"
"""The newest release whose test jars Maven has."""
HERE = Path(__file__).resolve().parent
SOURCES = HERE / "java"
LOGGING = HERE
"""Where log4j2.properties lies."""

JARS = (
    "kafka-clients-integration-tests",
    "kafka_2.13",
    "kafka-server",
    "kafka-storage",
    "kafka-tools",
    "kafka-streams-integration-tests",
    "connect-runtime",
)
"""Whose test jars have tests that start a cluster."""

STARTS_A_CLUSTER = re.compile(
    rb"Lorg/apache/kafka/common/test/api/Cluster(Test|Tests|Template);"
    rb"|org/apache/kafka/common/test/KafkaClusterTestKit"
    rb"|org/apache/kafka/streams/integration/utils/EmbeddedKafkaCluster"
    rb"|org/apache/kafka/connect/util/clusters/Embedded(Kafka|Connect)"
    rb"|kafka/server/QuorumTestHarness"
)
ASK_NO_CLUSTER = {"kafka/security/authorizer/AuthorizerTest"}
"""Classes on such a harness that test objects of their own alone."""
KERBEROS = {
    "kafka.api.SaslGssapiSslEndToEndAuthorizationTest",
    "kafka.api.SaslMultiMechanismConsumerTest",
    "kafka.api.SaslPlaintextConsumerTest",
    "kafka.api.SaslSslAdminIntegrationTest",
    "kafka.api.SaslSslConsumerTest",
    "kafka.api.UserQuotaTest",
    "kafka.server.GssapiAuthenticationTest",
    "kafka.server.MultipleListenersWithAdditionalJaasContextTest",
    "kafka.server.MultipleListenersWithDefaultJaasContextTest",
}
"""Classes whose clients log in with tickets. Without the package gssapi they skip all tests."""
READ_AS_FOLDERS = "test-plugins/"
"""Sources of plugins in Connect's test jar: its tests compile them, and look for folders."""
HAS_TESTS = re.compile(
    rb"Lorg/junit/jupiter/(api/(Test|TestTemplate|RepeatedTest)|params/ParameterizedTest);|api/Cluster(Test|Tests|Template);"
)


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def _digest(paths: list[Path]) -> str:
    found = hashlib.sha256(KAFKA_VERSION.encode())
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


@functools.cache
def libraries() -> Path:
    """The folder with the jars. :class:`Unavailable` without a JDK, or without Maven the first time."""
    if java_major() < 17:
        raise Unavailable(f"needs a JDK 17: found Java {java_major()}")
    pom = HERE / "pom.xml"
    folder = cache_dir() / f"kafka-suite-{KAFKA_VERSION}-{_digest([pom])}"
    if folder.exists():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("needs Maven (`mvn`) once, to fetch the jars of Kafka's tests")
    with cache_lock():
        if folder.exists():
            return folder
        print(
            f"fetching the tests of Apache Kafka {KAFKA_VERSION} with Maven into {folder} (once)",
            file=sys.stderr,
            flush=True,
        )
        fresh = Path(tempfile.mkdtemp(prefix="fetching-", dir=cache_dir()))
        command = [
            maven,
            "-q",
            "-B",
            f"-Dkafka.version={KAFKA_VERSION}",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
        ]
        # bcpkix brings the newer classes of bcprov's names
        command += ["-DincludeScope=runtime", "-DexcludeArtifactIds=bcprov-jdk15on", f"-DoutputDirectory={fresh}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(
                f"Maven could not fetch the tests of Apache Kafka: {(done.stdout + done.stderr).strip()[-300:]}"
            )
        fresh.rename(folder)
    return folder


@functools.cache
def classpath() -> str:
    """The class path of a run: the stand-ins before what they stand in for."""
    jars = libraries()
    sources = _files(SOURCES, "*.java")
    folder = cache_dir() / f"kafka-suite-stand-ins-{_digest([*sources, Path(__file__)])}"
    if not folder.exists():
        javac = shutil.which("javac")
        if javac is None:
            raise Unavailable("needs a JDK 17: no `javac` on the PATH")
        fresh = Path(tempfile.mkdtemp(prefix="compiling-", dir=cache_dir()))
        command = [javac, "-nowarn", "-proc:none", "-d", str(fresh), "-cp", f"{jars}/*", *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(fresh)
            raise RuntimeError(f"the stand-ins do not compile:\n{done.stdout}{done.stderr}")
        with zipfile.ZipFile(jars / f"connect-runtime-{KAFKA_VERSION}-test.jar") as archive:
            archive.extractall(fresh, [name for name in archive.namelist() if name.startswith(READ_AS_FOLDERS)])
        with cache_lock():
            if folder.exists():
                shutil.rmtree(fresh)
            else:
                fresh.rename(folder)
    return f"{folder}:{LOGGING}:{jars}/*"


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    jar: str
    parent: str
    abstract: bool
    starts: bool
    tests: bool


def test_classes() -> dict[str, str]:
    """Name of each class whose tests start a cluster, to the artifact whose test jar has it."""
    known = {of.name: of for jar in JARS for of in _classes(jar)}

    def has(of: _Class, what: str) -> bool:
        found: _Class | None = of
        while found is not None:
            if getattr(found, what):
                return True
            found = known.get(found.parent)
        return False

    whole = (of for of in known.values() if not of.abstract and of.name not in ASK_NO_CLUSTER)
    chosen = (of for of in whole if has(of, "starts") and has(of, "tests"))
    return {of.name.replace("/", "."): of.jar for of in sorted(chosen, key=lambda of: of.name)}


def can_run(name: str) -> bool:
    """Whether what a class needs is installed."""
    return name not in KERBEROS or find_spec("gssapi") is not None


def _classes(jar: str) -> Iterator[_Class]:
    with zipfile.ZipFile(libraries() / f"{jar}-{KAFKA_VERSION}-test.jar") as archive:
        for name in archive.namelist():
            if name.endswith(".class") and "$" not in name:
                data = archive.read(name)
                flags, parent = _header(data)
                abstract = bool(flags & 0x0600)  # abstract, or an interface
                starts, tests = (bool(pattern.search(data)) for pattern in (STARTS_A_CLUSTER, HAS_TESTS))
                yield _Class(name.removesuffix(".class"), jar, parent, abstract, starts, tests)


def _header(data: bytes) -> tuple[int, str]:
    """Access flags and the name of the parent of a class file."""
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    count, at, index = struct.unpack(">H", data[8:10])[0], 10, 1
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    while index < count:
        tag = data[at]
        if tag == 1:
            (size,) = struct.unpack(">H", data[at + 1 : at + 3])
            texts[index] = data[at + 3 : at + 3 + size].decode("utf-8", "replace")
            at += 3 + size
        else:
            if tag == 7:
                (classes[index],) = struct.unpack(">H", data[at + 1 : at + 3])
            at += 1 + sizes[tag]
        index += 2 if tag in (5, 6) else 1  # long and double take two places
    flags, _, parent = struct.unpack(">HHH", data[at : at + 6])
    return flags, texts[classes[parent]] if parent else ""
