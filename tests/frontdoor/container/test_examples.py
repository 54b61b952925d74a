"""The compose files of examples/compose, the GitHub action and the Containerfile say what odradek does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.listener_layout import listeners_of
from odradek.container.environment import read_environment
from odradek.container.files import FILES
from tests.conformance.real_kafka import free_ports

ROOT = Path(__file__).parents[3]
COMPOSE = sorted((ROOT / "examples" / "compose").glob("*.yaml"))


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.stem)
def test_a_compose_file_is_a_cluster_with_listeners_inside_and_outside(file: Path) -> None:
    service = yaml.safe_load(file.read_text())["services"]["kafka"]
    found = read_environment(service["environment"])
    assert found.unknown(lambda name: BrokerConfig().keys.find(name) is not None) == []
    node = int(found.configs.get("node.id", "1"))
    layout = listeners_of(BrokerConfig(file=found.configs, node_ids=[node]))[node]
    assert layout.advertised is not None
    advertised = {(each.host, each.port) for each in layout.advertised.values()}
    [published] = [int(port.split(":")[0]) for port in service["ports"]]
    assert ("localhost", published) in advertised
    assert any(host == "kafka" for host, _ in advertised)


def test_the_containerfile_starts_a_file_of_the_image_and_changes_no_entry_point() -> None:
    text = (ROOT / "Containerfile").read_text()
    [command] = re.findall(r'^CMD \["(.*)"\]$', text, re.MULTILINE)
    assert command.lstrip("/") in FILES
    assert "ENTRYPOINT [" not in text
    assert "USER appuser" in text
    [extras] = set(re.findall(r"\[(control[a-z,]+)\]", text))
    known = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(extras.split(",")) <= set(known)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash, as the action does")
def test_the_action_starts_a_broker_and_tells_where(tmp_path: Path) -> None:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    [step] = action["runs"]["steps"]
    [port] = free_ports(1)
    given = {"port": str(port), "topics": "orders:3 payments:1"}
    inputs = {name: given.get(name, spec["default"]) for name, spec in action["inputs"].items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)
        for name, text in step["env"].items()
    }
    files = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_ENV": str(tmp_path / "env")}
    # Not from the index: what is tested is this checkout.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {
        **os.environ,
        **variables,
        **files,
        "PATH": path,
        "RUNNER_TEMP": str(tmp_path),
        "ODRADEK_PACKAGE": str(ROOT),
    }
    try:
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], env=environment, timeout=300, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "output").read_text() == f"bootstrap-servers=127.0.0.1:{port}\n"
        assert (tmp_path / "env").read_text() == f"KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:{port}\n"
    finally:
        subprocess.run(["pkill", "-f", f"{tmp_path}/odradek/bin/odradek serve"], check=False)
