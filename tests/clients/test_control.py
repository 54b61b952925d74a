"""Tests in other languages move the clock and set faults: franz-go and kafkajs beside the control API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek
from odradek.control.server import ControlServer
from tests.scenarios.test_other_clients import go_program, js_folder, reports


@pytest.fixture
def control() -> Iterator[list[str]]:
    """The address of a broker, and of its control API."""
    with odradek.KafkaBroker() as broker, ControlServer(broker) as server:
        yield [broker.bootstrap_servers, server.url]
        assert broker.bugs == []


def test_kafkajs_works_with_a_broker_over_the_control_api(control: list[str]) -> None:
    node, folder = js_folder()
    report = reports([node, str(folder / "control.mjs"), *control])
    for scenario in ("aProducerTriesAgain", "aSilentMemberIsOut", "mistakesAreTold"):
        assert report(scenario) == ""


def test_franz_go_works_with_a_broker_over_the_control_api(control: list[str]) -> None:
    report = reports([str(go_program("control/main.go")), *control])
    for scenario in ("aProducerTriesAgain", "aSilentMemberIsOut"):
        assert report(scenario) == ""
