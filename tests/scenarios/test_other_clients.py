"""franz-go and kafkajs: their programs run all of their scenarios at once and tell of each in a line."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.real_kafka import Unavailable, cache_dir, cache_lock, classpath
from tests.scenarios.target import Target

HERE = Path(__file__).resolve().parent
GO_SCENARIOS = re.findall(r'^\t\t\{"([\w-]+)", \w+', (HERE / "go" / "main.go").read_text(), re.MULTILINE)
JS_SCENARIOS = re.findall(r"^async function (\w+)\(\)", (HERE / "js" / "scenarios.mjs").read_text(), re.MULTILINE)
Report = Callable[[str], str]


def _cached(label: str, *sources: Path) -> Path:
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    return cache_dir() / f"{label}-{digest}"


def go_program(source: str, folder: Path = HERE / "go", label: str = "franz-go") -> Path:
    """A program of a folder's Go module, built; skips where it cannot be."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go: no `go` on the PATH")
    program = _cached(label, folder / source, folder / "go.mod", folder / "go.sum")
    with cache_lock():
        if not program.exists():
            package = f"./{Path(source).parent}"
            built = subprocess.run(
                [go, "build", "-o", str(program), package], cwd=folder, capture_output=True, text=True, check=False
            )
            if built.returncode:
                pytest.skip(f"needs the Go modules of {label}: {built.stderr.strip().splitlines()[-1]}")
    return program


def rust_program() -> Path:
    """The program of the folder ``rust``, built; skips where it cannot be."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("needs Rust: no `cargo` on the PATH")
    folder = HERE / "rust"
    sources = [folder / "Cargo.toml", folder / "Cargo.lock", folder / "src" / "main.rs"]
    target = _cached("registry-rust", *sources)
    with cache_lock():
        command = [cargo, "build", "--locked", "--quiet", "--target-dir", str(target)]
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if built.returncode:
            pytest.skip(f"needs the crates of schema_registry_converter: {built.stderr.strip()[-200:]}")
    return target / "debug" / "odradek-registry-scenarios"


def js_folder() -> tuple[str, Path]:
    """Node, and a folder with the programs in JavaScript and kafkajs; skips where there are none."""
    return js_program(
        "kafkajs", *(HERE / "js" / each for each in ("scenarios.mjs", "control.mjs", "logins.mjs", "whole_test.mjs"))
    )


def registry_js_folder() -> tuple[str, Path]:
    """Node, and a folder with clients of a schema registry and the program that uses them; skips where there are
    none."""
    return js_program("schema-registry-js", HERE / "js" / "registry" / "registry.mjs")


def registry_java_command() -> list[str]:
    """The command of the program in Java with clients of a schema registry; skips where it cannot be built."""
    return java_command("registry-java", HERE / "java" / "registry" / "Registry.java")


def java_command(label: str, source: Path) -> list[str]:
    """The command of a program in Java, with Kafka's clients and what the pom.xml beside it names; skips where it
    cannot be built.
    """
    try:
        kafka = classpath()
    except Unavailable as missing:
        pytest.skip(str(missing))
    maven, javac = shutil.which("mvn"), shutil.which("javac")
    if maven is None or javac is None:
        pytest.skip("needs Maven and a JDK 17: no `mvn` or `javac` on the PATH")
    pom = source.with_name("pom.xml")
    folder = _cached(label, source, pom)
    jars = f"{folder / 'libs'}/*:{kafka}"
    with cache_lock():
        if not (folder / "complete").exists():
            fetch = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime"]
            command = [*fetch, f"-DoutputDirectory={folder / 'libs'}"]
            fetched = subprocess.run(command, capture_output=True, text=True, check=False)
            if fetched.returncode:
                pytest.skip(f"needs the jars of {label} from Maven: {fetched.stdout.strip()[-200:]}")
            subprocess.run([javac, "-nowarn", "-d", str(folder), "-cp", jars, str(source)], check=True)
            (folder / "complete").touch()
    options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", *options, "-cp", f"{folder}:{jars}", source.stem]


def quix_program() -> list[str]:
    """The command of the program with Quix Streams; skips where that cannot be installed.

    It has an environment of its own, as it wants an older confluent-kafka than this one has.
    """
    program = HERE / "quix" / "orders.py"
    folder = _cached("quix", HERE / "quix" / "requirements.txt")
    python = folder / "bin" / "python"
    with cache_lock():
        if not (folder / "complete").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            install = [str(python), "-m", "pip", "install", "-q", "-r", str(program.with_name("requirements.txt"))]
            installed = subprocess.run(install, capture_output=True, text=True, check=False)
            if installed.returncode:
                pytest.skip(f"needs quixstreams: {installed.stderr.strip()[-200:]}")
            (folder / "complete").touch()
    return [str(python), str(program)]


def js_program(label: str, *programs: Path) -> tuple[str, Path]:
    """Node, and a folder with the programs and the packages that the package.json beside them names; skips where they
    cannot be had.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs Node.js: no `node` or `npm` on the PATH")
    sources = [*programs, programs[0].parent / "package.json"]
    folder = _cached(label, *sources)
    with cache_lock():
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            for source in sources:
                shutil.copy(source, folder)
            command = [npm, "install", "--no-audit", "--no-fund", "--silent"]
            installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if installed.returncode:
                pytest.skip(
                    f"needs the packages of {label} from npm: {(installed.stderr + installed.stdout).strip()[-200:]}"
                )
            (folder / "complete").touch()
    return node, folder


def reports(command: list[str]) -> Report:
    """What a program says of its scenarios: the error of each, or an empty text."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    errors = {each["scenario"]: each["error"] for each in map(json.loads, done.stdout.splitlines())}
    return lambda name: str(errors.get(name, f"no report: {done.stderr[-2000:]}"))


@pytest.fixture(scope="module")
def go_report(target: Target) -> Report:
    """Error of a franz-go scenario, or an empty text."""
    return reports([str(go_program("main.go")), target.bootstrap])


@pytest.fixture(scope="module")
def js_report(target: Target) -> Report:
    """Error of a kafkajs scenario, or an empty text."""
    node, folder = js_folder()
    return reports([node, str(folder / "scenarios.mjs"), target.bootstrap])


@pytest.mark.round
@pytest.mark.parametrize("scenario", GO_SCENARIOS)
def test_franz_go_runs_its_scenarios(scenario: str, go_report: Report, broker: Target) -> None:
    assert go_report(scenario) == ""


@pytest.mark.round
@pytest.mark.parametrize("scenario", [name for name in JS_SCENARIOS if name not in ("until", "topic")])
def test_kafkajs_runs_its_scenarios(scenario: str, js_report: Report, broker: Target) -> None:
    assert js_report(scenario) == ""
