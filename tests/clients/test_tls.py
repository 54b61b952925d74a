"""See ``tests/scenarios/tls.py``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.scenarios.tls import *  # noqa: F403
from tests.scenarios.tls import Start


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    return lambda properties: _served(properties, tmp_path_factory.mktemp("broker"))


@contextmanager
def _served(properties: Mapping[str, str], folder: Path) -> Iterator[None]:
    """``odradek serve`` with the properties in a file, as Kafka has them."""
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    log = folder / "log.txt"
    command = [sys.executable, "-m", "odradek", "serve", "--config-file", str(file)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        assert line.startswith("odradek ready"), log.read_text()
        yield
    finally:
        process.terminate()
        status = process.wait(60)
        process.stdout.close()
    assert status == 0
    text = log.read_text()
    assert "Traceback" not in text, text
    assert "storepass" not in text
