"""The registry beside a broker: in a thread, in a trio run, in a child process, and refused where it cannot be."""

from __future__ import annotations

import importlib
import socket

import pytest
import trio

import odradek
from odradek.registry.server import RegistryServer, serving
from tests.frontdoor.registry.conftest import ask

INT = {"schema": '"int"'}


def test_a_broker_has_none_unless_it_is_asked_for() -> None:
    with odradek.KafkaBroker() as broker:
        with pytest.raises(RuntimeError, match="start the broker with registry=True"):
            broker.schema_registry_url  # noqa: B018
        with RegistryServer(broker) as server:
            assert broker.schema_registry_url == server.url
        with pytest.raises(RuntimeError, match="no schema registry"):
            broker.schema_registry_url  # noqa: B018


def test_in_a_trio_run() -> None:
    async def main() -> None:
        async with odradek.open_broker(registry=True) as broker:
            url = broker.schema_registry_url
            assert await trio.to_thread.run_sync(lambda: ask(url, "POST", "/subjects/s/versions", INT)) == (
                200,
                {"id": 1},
            )

    trio.run(main)


@pytest.mark.long
def test_in_a_child_process_with_its_url_over_http() -> None:
    with odradek.KafkaBroker(process=True, registry=True) as broker:
        assert ask(broker.schema_registry_url, "POST", "/subjects/s/versions", INT) == (200, {"id": 1})


def test_it_ends_with_its_broker() -> None:
    with odradek.KafkaBroker(registry=True) as broker:
        url = broker.schema_registry_url
    with pytest.raises(OSError, match="refused"):
        ask(url, "GET", "/subjects")


def test_an_address_that_is_taken() -> None:
    with odradek.KafkaBroker() as broker, socket.create_server(("127.0.0.1", 0)) as taken:
        server = RegistryServer(broker, port=taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            server.start()


def test_others_need_a_token() -> None:
    with pytest.raises(ValueError, match=r"others can reach 0\.0\.0\.0: a schema registry that is not local"):
        serving("0.0.0.0", 0, None)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"no {name}")

    broker = odradek.KafkaBroker()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r'pip install "odradek\[registry\]" \(no hypercorn.trio\)'):
        RegistryServer(broker)
