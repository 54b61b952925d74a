"""The registry beside a broker: in a thread, in a trio run, in a child process, and refused where it cannot be."""

from __future__ import annotations

import http.client
import importlib
import socket
import subprocess
import sys
from urllib.parse import urlsplit

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


def test_clients_that_take_its_url_among_their_settings_get_it(broker: odradek.KafkaBroker) -> None:
    url = broker.schema_registry_url
    assert broker.client_config(client="java")["schema.registry.url"] == url
    assert broker.client_config(client="franz-go-env")["SCHEMA_REGISTRY_URL"] == url
    assert url not in broker.client_config().values()
    with odradek.KafkaBroker() as plain:
        assert "schema.registry.url" not in plain.client_config(client="java")


def test_registry_server_runs_in_a_trio_run() -> None:
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
        with broker.stop_schema_registry(), pytest.raises(OSError, match="refused"):
            ask(broker.schema_registry_url, "GET", "/subjects")
        assert ask(broker.schema_registry_url, "GET", "/subjects") == (200, ["s"])


def test_a_registry_costs_nothing_unless_it_is_asked_for() -> None:
    """Nothing is imported, no thread is started and nothing listens but the broker itself."""
    program = """
import socket, sys, threading
made, real = [], socket.socket.listen
socket.socket.listen = lambda *arguments: (made.append(1), real(*arguments))[1]
import odradek
with odradek.KafkaBroker(topics=["orders"]) as broker:
    broker.produce("orders", "book")
    broker.records("orders")
    names = {name.partition(".")[0] for name in sys.modules} & {"avro", "h11", "jsonschema"}
    ours = {name for name in sys.modules if name.startswith(("odradek.registry", "odradek.http_"))}
    print(len(made), sorted(names | ours), sorted(each.name for each in threading.enumerate()))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "1 [] ['MainThread', 'odradek broker']\n"


def test_the_start_of_a_registry_imports_no_more_than_http() -> None:
    """What parses schemas is imported with the first schema, as imports are most of what a first start takes."""
    program = """
import sys
import odradek
with odradek.KafkaBroker() as broker:
    before = set(sys.modules)
    from odradek.registry.server import RegistryServer
    with RegistryServer(broker):
        names = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
        print(sorted(names), "odradek.registry.formats.avro" in sys.modules, {"asyncio", "email"} & set(sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "['h11', 'odradek'] False set()\n"


def test_a_registry_ends_with_its_broker() -> None:
    with odradek.KafkaBroker(registry=True) as broker:
        url = broker.schema_registry_url
    with pytest.raises(OSError, match="refused"):
        ask(url, "GET", "/subjects")


def test_a_registry_is_down_for_a_while(broker: odradek.KafkaBroker) -> None:
    url = broker.schema_registry_url
    ask(url, "POST", "/subjects/s/versions", INT)
    with broker.stop_schema_registry() as down:
        with pytest.raises(OSError, match="refused"):
            ask(url, "GET", "/subjects")
        with pytest.raises(RuntimeError, match="is down already"):
            broker.stop_schema_registry()
        assert broker.schema_registry_url == url
    assert ask(url, "GET", "/subjects") == (200, ["s"])
    down.undo()
    assert ask(url, "GET", "/subjects") == (200, ["s"])


def test_a_connection_is_cut_when_it_goes_down(broker: odradek.KafkaBroker) -> None:
    connection = http.client.HTTPConnection(urlsplit(broker.schema_registry_url).netloc, timeout=60)
    connection.request("GET", "/subjects")
    assert connection.getresponse().read() == b"[]"
    broker.stop_schema_registry()
    connection.auto_open = 0
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        _asked_again(connection)


def _asked_again(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", "/subjects")
    connection.getresponse()


def test_a_reset_brings_it_back(broker: odradek.KafkaBroker) -> None:
    broker.stop_schema_registry()
    broker.reset()
    assert ask(broker.schema_registry_url, "GET", "/subjects") == (200, [])


def test_there_is_none_to_stop() -> None:
    with odradek.KafkaBroker() as plain, pytest.raises(RuntimeError, match="there is no schema registry"):
        plain.stop_schema_registry()


def test_a_registry_goes_down_in_a_trio_run() -> None:
    async def main() -> None:
        async with odradek.open_broker(registry=True) as broker:
            async with broker.stop_schema_registry():
                with pytest.raises(OSError, match="refused"):
                    await trio.to_thread.run_sync(ask, broker.schema_registry_url, "GET", "/subjects")
            assert await trio.to_thread.run_sync(ask, broker.schema_registry_url, "GET", "/subjects") == (200, [])

    trio.run(main)


def test_an_address_that_is_taken() -> None:
    with odradek.KafkaBroker() as broker, socket.create_server(("127.0.0.1", 0)) as taken:
        server = RegistryServer(broker, port=taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            server.start()


def test_registry_server_that_is_not_local_needs_a_token() -> None:
    with pytest.raises(ValueError, match=r"others can reach 0\.0\.0\.0: a schema registry that is not local"):
        serving("0.0.0.0", 0, None)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"no {name}")

    broker = odradek.KafkaBroker()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r'pip install "odradek\[registry\]" \(no h11\)'):
        RegistryServer(broker)
