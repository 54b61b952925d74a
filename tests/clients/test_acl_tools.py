"""See ``tests/scenarios/acl_tools.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.acl_tools import *  # noqa: F403
from tests.scenarios.acl_tools import CONFIG
from tests.scenarios.target import Target, odradek_target


@pytest.fixture(scope="module")
def guarded() -> Iterator[Target]:
    with odradek_target(config=CONFIG) as started:
        yield started
        assert not started.complaints()
