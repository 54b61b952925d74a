"""See ``tests/scenarios/controllers.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek
from tests.scenarios.controllers import *  # noqa: F403
from tests.scenarios.controllers import BROKER, CONTROLLERS, QuorumTarget


@pytest.fixture(scope="module")
def quorum() -> Iterator[QuorumTarget]:
    config = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{number}@127.0.0.1:0" for number in CONTROLLERS),
    }
    with odradek.KafkaBroker(config=config) as broker:
        members = broker.cluster.members
        ports = {number: members[number].controllers["CONTROLLER"].port for number in CONTROLLERS}

        def stop(node_id: int) -> None:
            broker.stop_node(node_id)

        yield QuorumTarget(members[BROKER].port, ports, stop, broker.start_node)
        assert not broker.bugs
