"""A broker, and the same one over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek.types
from odradek.control.server import ControlServer
from tests.fakes.brokers import broker_fixture

broker = broker_fixture(nodes=3, topics={"t": 2})


@pytest.fixture
def remote(broker: odradek.KafkaBroker) -> Iterator[odradek.types.RemoteBroker]:
    with ControlServer(broker, token="s3cret") as server, odradek.connect(server.url, "s3cret") as connected:
        yield connected
