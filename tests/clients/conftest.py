"""Clients at odradek, running in a process of its own (``$ODRADEK_TARGET`` names a broker that already runs)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.scenarios.fixtures import bootstrap, broker, collected, make_topic, of_clients
from tests.scenarios.java_host import java
from tests.scenarios.target import Target, usual_target

__all__ = ["bootstrap", "broker", "collected", "java", "make_topic"]


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    with usual_target("odradek") as started:
        yield started


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    of_clients(items, os.path.dirname(__file__), pytest.mark.clients)
