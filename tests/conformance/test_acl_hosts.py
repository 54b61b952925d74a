"""What is recorded of hosts in access control entries is still what a real Kafka says, at each level."""

from __future__ import annotations

import json

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka
from tests.fakes.ports import ports_in_a_row
from tests.fakes.vectors import VECTORS
from tests.scenarios.acl_hosts import ADDRESSES, CONFIG, allowed, ask

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")
RECORDED = json.loads((VECTORS / "acl_hosts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("level", RECORDED)
def test_hosts_of_acls_are_matched_as_recorded(level: str) -> None:
    with RealKafka(config=CONFIG, format_options=("--release-version", level)) as kafka:
        assert ask("127.0.0.1", kafka.port) == RECORDED[level]


def test_addresses_on_a_listener_of_both_families() -> None:
    own = ports_in_a_row(2)
    config = {
        **CONFIG,
        "listeners": f"PLAINTEXT://[::]:{own},CONTROLLER://127.0.0.1:{own + 1}",
        "controller.quorum.voters": f"0@127.0.0.1:{own + 1}",
    }
    with RealKafka(config=config, port=own) as kafka:
        assert {address: allowed(address, kafka.port) for address in ADDRESSES} == ADDRESSES
