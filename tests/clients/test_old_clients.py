"""Old and new clients make of odradek as a release what they make of a real broker of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import KafkaBroker
from tests.conformance.real_kafka import Unavailable
from tests.scenarios.old_clients.runs import CLIENTS, RELEASES, markdown, recorded, run

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"


def test_the_page_has_the_table() -> None:
    assert markdown() in PAGE.read_text(encoding="utf-8")


@pytest.mark.jdk
@pytest.mark.parametrize(
    ("client", "release"),
    [(client, release) for client in CLIENTS for release in RELEASES if client in recorded()[release]],
)
def test_a_client_makes_of_it_what_it_makes_of_kafka(client: str, release: str) -> None:
    with KafkaBroker(kafka_version=release) as broker:
        try:
            outcome = run(client, broker.bootstrap_servers)
        except Unavailable as missing:
            pytest.skip(str(missing))
        assert not broker.bugs
    assert outcome == recorded()[release][client]
