"""A broker, and the same one over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek.types
from odradek.control.server import ControlServer


@pytest.fixture
def broker() -> Iterator[odradek.KafkaBroker]:
    with odradek.KafkaBroker(nodes=3, topics={"t": 2}) as started:
        yield started
        assert started.bugs == []


@pytest.fixture
def remote(broker: odradek.KafkaBroker) -> Iterator[odradek.types.RemoteBroker]:
    with ControlServer(broker, token="s3cret") as server, odradek.connect(server.url, "s3cret") as connected:
        yield connected
