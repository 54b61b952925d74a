"""See ``tests/scenarios/kerberos.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import free_ports
from tests.scenarios.kerberos import *  # noqa: F403
from tests.scenarios.kerberos import Kerberized, running_kdc, server_properties
from tests.scenarios.secured_listeners import write_properties
from tests.scenarios.target import odradek_of_file


@pytest.fixture(scope="module")
def kerberized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    folder = tmp_path_factory.mktemp("kerberos")
    plain, kerberos = free_ports(2)
    with running_kdc(folder / "kdc") as (kdc, keytabs):
        listeners = f"PLAINTEXT://127.0.0.1:{plain},KERBEROS://localhost:{kerberos}"
        config = server_properties(keytabs["kafka/localhost"]) | {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
        }
        file = folder / "server.properties"
        write_properties(file, config)
        with odradek_of_file(file):
            yield Kerberized("odradek", kerberos, kdc, keytabs)
