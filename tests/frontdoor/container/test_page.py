"""Each block of docs/containers.md says what works: files are read and become clusters, commands know their options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from odradek.__main__ import main
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.listener_layout import listeners_of
from odradek.container.environment import read_environment
from odradek.container.files import commands
from odradek.tools.options import COMMANDS, parse

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "containers.md").read_text()
BLOCKS = [
    document for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) for document in yaml.safe_load_all(block)
]


def services() -> list[tuple[str, dict[str, Any]]]:
    """Each service with the image, of compose files and jobs, as name and settings."""
    found = []
    for document in BLOCKS:
        if isinstance(document, dict):
            jobs = document.get("jobs", {}).values()
            for listed in (document.get("services", {}), *(job["services"] for job in jobs)):
                found += list(listed.items())
    return found


def test_each_service_advertises_what_its_clients_use() -> None:
    names = []
    for name, settings in services():
        assert settings["image"] == "ghcr.io/odradek/odradek"
        environment = settings.get("environment") or settings.get("env") or {}
        if "command" in settings:
            command, *words = settings["command"]
            assert parse(command, words).given
            continue
        found = read_environment(environment)
        assert found.unknown(lambda config: BrokerConfig().keys.find(config) is not None) == []
        [layout] = listeners_of(BrokerConfig(file=found.configs)).values()
        assert layout.advertised is not None
        reachable = {f"{each.host}:{each.port}" for each in layout.advertised.values()}
        for port in settings.get("ports", []):
            published = int(port.split(":")[0])
            ours = {found.registry_port, found.control_port}
            assert f"localhost:{published}" in reachable or published in ours
        names.append(name)
    assert names == ["kafka"] * 4


def test_the_manifest_is_a_broker_that_its_service_names() -> None:
    deployment, service = (each for each in BLOCKS if isinstance(each, dict) and "apiVersion" in each)
    pod = deployment["spec"]["template"]
    assert deployment["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"] == service["spec"]["selector"]
    [container] = pod["spec"]["containers"]
    found = read_environment({each["name"]: each["value"] for each in container["env"]})
    [port] = service["spec"]["ports"]
    assert found.configs["advertised.listeners"] == f"PLAINTEXT://{service['metadata']['name']}:{port['port']}"
    assert container["ports"] == [{"containerPort": port["port"]}]
    assert pod["spec"]["enableServiceLinks"] is False


def test_each_command_in_the_text_knows_its_options() -> None:
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    assert lines
    for line in lines:
        odradek, tools, name, *words = shlex.split(line)
        assert (odradek, tools) == ("odradek", "tools")
        assert parse(name, words).given
    named = set(re.findall(r"`(kafka-[a-z-]+|cub|nc)\b", PAGE))
    assert named >= set(COMMANDS)
    assert {f"usr/bin/{name}" for name in named} <= set(commands())


@pytest.mark.parametrize(
    ("language", "program", "image"),
    [
        ("java", "java/Modules.java", "image"),
        ("java", "spring/Spring.java", "Spring.image"),
        ("python", "test_containers.py", "image"),
        ("javascript", "js/modules.mjs", "image"),
        ("go", "go/main.go", "image"),
    ],
)
def test_the_blocks_of_testcontainers_stand_in_programs_that_run(language: str, program: str, image: str) -> None:
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    [block] = [each for each in blocks if ("@Bean" in each) == ("spring" in program)]
    printed = re.sub(r'"ghcr\.io/odradek/odradek[^"]*"', image, block)
    run = (ROOT / "tests" / "image" / program).read_text()
    assert " ".join(printed.split()) in " ".join(run.split())


def test_a_broker_without_a_project_is_the_commands_name(capsys: pytest.CaptureFixture[str]) -> None:
    [said] = set(re.findall(r"`(?:uvx|pipx run) (odradek serve)`", PAGE))
    with pytest.raises(SystemExit) as end:
        main([*said.split()[1:], "--help"])
    assert end.value.code == 0
    assert "default 127.0.0.1" in capsys.readouterr().out
