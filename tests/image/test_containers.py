"""Testcontainers for Python, Java, Spring Boot, Go and Node with the image in the place of Kafka's: `make
test-containers`. What docs/containers.md prints for each of them stands in the programs.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from tests.image.engine import Engine, Failed, found
from tests.scenarios.test_other_clients import Report, go_program, java_command, js_program, reports

pytestmark = pytest.mark.slow

IMAGE = os.environ.get("ODRADEK_IMAGE", "odradek:tested")
RECORDS = 100


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = found()
    if engine is None:
        pytest.skip("neither docker nor podman answers")
    try:
        engine("image", "inspect", IMAGE)
    except Failed:
        pytest.skip(f"there is no image {IMAGE}: make image")
    return engine


@pytest.fixture
def module_of_python(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its reaper is an image of its own, which is not needed: each container is removed."""
    pytest.importorskip("testcontainers.kafka", reason="make test-containers installs testcontainers")
    config = import_module("testcontainers.core.config")
    monkeypatch.setattr(config.testcontainers_config, "ryuk_disabled", True)
    return import_module("testcontainers.kafka")


@pytest.mark.parametrize(("tag", "kraft"), [("7.6.0", False), ("7.6.0", True), ("8.0.0", True)])
def test_a_module_starts_the_image_and_clients_use_it(
    tag: str, kraft: bool, engine: Engine, module_of_python: Any
) -> None:
    # The module chooses its script by the image's tag.
    image = f"odradek-of-testcontainers:{tag}"
    engine("tag", IMAGE, image)
    KafkaContainer = module_of_python.KafkaContainer  # noqa: N806
    kafka = KafkaContainer(image)
    if kraft:
        kafka = KafkaContainer(image).with_kraft()
    with kafka:
        read_back(kafka.get_bootstrap_server())


def read_back(bootstrap: str) -> None:
    """Records through a client's eyes."""
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(RECORDS):
        producer.produce("orders", str(number).encode())
    assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    read: list[bytes | None] = []
    while len(read) < RECORDS:
        message = consumer.poll(60)
        assert message is not None
        read.append(message.value())
    consumer.close()
    assert sorted(int(value or b"-1") for value in read) == list(range(RECORDS))


# No reaper: it is an image of its own.
ALONE = ["env", "TESTCONTAINERS_RYUK_DISABLED=true"]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def java_report(engine: Engine) -> Report:
    """What the program in Java says of each module."""
    return reports([*ALONE, *java_command("testcontainers", HERE / "java" / "Modules.java"), IMAGE])


@pytest.mark.parametrize("module", ["apache", "native", "confluent"])
def test_a_module_of_java_starts_the_image_and_clients_use_it(module: str, java_report: Report) -> None:
    assert java_report(module) == ""


def test_a_bean_of_spring_starts_the_image_and_its_clients_use_it(engine: Engine) -> None:
    command = java_command("testcontainers-spring", HERE / "spring" / "Spring.java")
    assert reports([*ALONE, *command, IMAGE])("spring") == ""


def test_the_module_of_go_starts_the_image_and_clients_use_it(engine: Engine) -> None:
    program = go_program("main.go", HERE / "go", "testcontainers-go")
    assert reports([*ALONE, str(program), IMAGE])("kafka") == ""


@pytest.fixture(scope="module")
def js_report(engine: Engine) -> Report:
    """What the program in JavaScript says of each mode."""
    if "podman" in engine("version").lower():
        pytest.skip("the module waits for ports that podman tells without an address")
    node, folder = js_program("testcontainers-js", HERE / "js" / "modules.mjs")
    name = "odradek-of-testcontainers:8.0.0"
    engine("tag", IMAGE, name)
    return reports([*ALONE, node, str(folder / "modules.mjs"), name])


@pytest.mark.parametrize("mode", ["kraft", "zookeeper"])
def test_a_mode_of_node_starts_the_image_and_clients_use_it(mode: str, js_report: Report) -> None:
    assert js_report(mode) == ""
