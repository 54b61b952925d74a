"""See ``tests/scenarios/kerberos.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RealKafka, Unavailable, classpath, free_ports
from tests.scenarios.kerberos import *  # noqa: F403
from tests.scenarios.kerberos import Kerberized, running_kdc, server_properties


@pytest.fixture(scope="module")
def kerberized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    folder = tmp_path_factory.mktemp("kerberos")
    plain, kerberos, controller = free_ports(3)
    with running_kdc(folder / "kdc") as (kdc, keytabs):
        listeners = f"PLAINTEXT://127.0.0.1:{plain},KERBEROS://localhost:{kerberos}"
        config = server_properties(keytabs["kafka/localhost"]) | {
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,KERBEROS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.quorum.voters": f"0@127.0.0.1:{controller}",
            "inter.broker.listener.name": "PLAINTEXT",
        }
        try:
            classpath()
        except Unavailable as missing:
            pytest.skip(str(missing))
        options = [f"-Djava.security.krb5.conf={kdc.config}"]
        with RealKafka(port=plain, config=config, jvm_options=options):
            yield Kerberized("kafka", kerberos, kdc, keytabs)
