"""Real brokers of older releases give the answers that odradek's are held against (tests/broker/api/older)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.older_kafka import OLDER_VERSIONS, OlderKafka
from tests.conformance.real_kafka import Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.message_formats import PARTS, differing, told


@pytest.fixture(scope="module", params=OLDER_VERSIONS)
def older(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A release, and where a real broker of it is."""
    try:
        node = OlderKafka(request.param)
    except Unavailable as missing:
        pytest.skip(str(missing))
    with node:
        yield request.param, node.bootstrap_servers


@pytest.mark.parametrize("part", PARTS)
def test_older_message_formats_are_answered_as_recorded(older: tuple[str, str], part: str) -> None:
    release, servers = older
    expected = recorded("message_formats", release)[part]
    answers = told(servers, part)
    assert differing(answers, expected) == differing(expected, answers) == {}
