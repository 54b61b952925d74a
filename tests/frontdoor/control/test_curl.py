"""The examples with curl in docs/control.md do what they say."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import odradek
from odradek.control.server import ControlServer

PAGE = Path(__file__).parents[3] / "docs" / "control.md"
EXAMPLES = [line for line in PAGE.read_text().splitlines() if line.startswith("curl ")]
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A broker as the page starts it."""
    with (
        odradek.KafkaBroker(nodes=3, topics={"orders": 6}) as broker,
        ControlServer(broker) as server,
    ):
        broker.produce("orders", "the first")  # for those that wait for one, whichever example comes first
        broker.group("shipping").set_offsets({("orders", 0): 0})
        yield server.url
        assert broker.bugs == []


def test_control_api_docs_have_curl_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("example", EXAMPLES)
def test_control_api_answers_the_curl_examples_of_its_docs(example: str, url: str) -> None:
    words = shlex.split(example.replace("http://127.0.0.1:9090", url))
    done = subprocess.run(
        [*words, "--fail-with-body", "--silent"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
    for line in done.stdout.splitlines() if "/stream?" in example else [done.stdout]:
        json.loads(line)
