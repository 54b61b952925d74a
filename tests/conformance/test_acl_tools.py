"""See ``tests/scenarios/acl_tools.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RealKafka, Unavailable
from tests.scenarios.acl_tools import *  # noqa: F403
from tests.scenarios.acl_tools import CONFIG
from tests.scenarios.target import Target


@pytest.fixture(scope="module")
def guarded() -> Iterator[Target]:
    try:
        with RealKafka(config=CONFIG) as node:
            yield Target("kafka", node.bootstrap_servers)
    except Unavailable as missing:
        pytest.skip(str(missing))
