"""See ``tests/scenarios/clients_with_rights.py`` and ``tools_with_rights.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.authorization import odradek_with_users
from tests.scenarios.clients_with_rights import *  # noqa: F403
from tests.scenarios.tools_with_rights import *  # noqa: F403


@pytest.fixture(scope="module")
def users_port() -> Iterator[int]:
    with odradek_with_users() as port:
        yield port
