"""What public compose files say to a Kafka image is a cluster here, too, or is refused with its reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.node_config import broker_config
from odradek.container.environment import EnvironmentRefused, read_environment
from odradek.container.files import SERVE
from tests.conformance.real_kafka import free_ports
from tests.frontdoor.container.environments import ENVIRONMENTS, STARTED, Environment, write_files

NAMES = [each["name"] for each in ENVIRONMENTS]


def test_each_environment_has_its_name() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 30


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=NAMES)
def test_an_environment_listens_where_its_image_does(environment: Environment, tmp_path: Path) -> None:
    write_files(environment, tmp_path)
    if environment["refused"] is not None:
        with pytest.raises((EnvironmentRefused, ValueError), match=re.escape(environment["refused"])):
            started(environment, tmp_path)
    else:
        assert started(environment, tmp_path) == environment["listeners"]


def started(environment: Environment, root: Path) -> str:
    """The listeners of the cluster that the image would start."""
    found = read_environment(environment["environment"], root)
    keys = BrokerConfig().keys
    found.unknown(lambda name: keys.find(name) is not None)
    configs = {name: text for name, text in found.configs.items() if name not in ("log.dirs", "log.dir")}
    for name in ("ssl.keystore.location", "ssl.truststore.location"):
        if configs.get(name, "").startswith("/etc"):  # as a mounted file says it
            configs[name] = f"{root}{configs[name]}"
    Cluster(config=broker_config({}, None, configs), cluster_id=found.cluster_id, clock=BrokerClock())
    return found.configs["listeners"]


def at_free_ports(environment: Environment) -> tuple[dict[str, str], dict[int, int]]:
    """The variables with the host's name on this machine, and the ports that stand for the file's."""
    values = environment["environment"]
    values = {**values, "KAFKA_LISTENERS": environment["listeners"]} if "KAFKA_CFG_LISTENERS" not in values else values
    names = [name for name in values if name.endswith(("LISTENERS", "QUORUM_VOTERS"))]
    ports = sorted({int(port) for name in names for port in re.findall(r":(\d+)", values[name])} | {9092})
    moved = dict(zip(ports, free_ports(len(ports)), strict=True))

    def here(text: str) -> str:
        text = re.sub(r"(//|@)[\w.-]*:", r"\g<1>127.0.0.1:", text)
        return re.sub(r":(\d+)", lambda port: f":{moved[int(port[1])]}", text)

    return {**values, **{name: here(values[name]) for name in names}}, moved


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment", [each for each in STARTED if not each["files"]], ids=lambda environment: environment["name"]
)
def test_an_environment_starts_is_healthy_and_serves(environment: Environment, tmp_path: Path) -> None:
    variables, moved = at_free_ports(environment)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KAFKA_", "CLUSTER_ID"))}
    for name in ("KAFKA_LOG_DIRS", "KAFKA_LOG_DIR"):
        if name in variables:
            variables[name] = str(tmp_path / "logs")
    command = [sys.executable, *SERVE.removeprefix("exec python ").split()]
    path = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "ODRADEK_FORMAT_FILE": str(tmp_path / "kept"),
    }
    everything = {**kept, **variables, **path}
    with subprocess.Popen(
        command, env=everything, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as broker:
        try:
            assert broker.stdout is not None
            lines = iter(broker.stdout.readline, "")
            assert any("Kafka Server started" in line for line in lines), "it ended before it said so"
            healthy = subprocess.run([sys.executable, "-m", "odradek.container.health"], env=everything, check=False)
            assert healthy.returncode == 0
            at = f"127.0.0.1:{_client_port(environment, moved)}"
            tool = [sys.executable, "-m", "odradek", "tools"]
            create = [*tool, "kafka-topics", "--bootstrap-server", at, "--create", "--topic", "orders"]
            assert subprocess.run(create, check=False).returncode == 0
        finally:
            broker.terminate()
    assert broker.returncode == 0


def _client_port(environment: Environment, moved: dict[int, int]) -> int:
    """The port of the first listener that is no controller's."""
    for name, port in re.findall(r"(\w+)://[^,]*:(\d+)", environment["listeners"]):
        if name != "CONTROLLER":
            return moved[int(port)]
    raise AssertionError(environment["name"])
