"""See ``tests/scenarios/clients_with_rights.py`` and ``tools_with_rights.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.authorization import kafka_with_users
from tests.scenarios.clients_with_rights import *  # noqa: F403
from tests.scenarios.tools_with_rights import *  # noqa: F403


@pytest.fixture(scope="module")
def users_port() -> Iterator[int]:
    try:
        with kafka_with_users() as (_, port):
            yield port
    except Unavailable as missing:
        pytest.skip(str(missing))
