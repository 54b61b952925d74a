"""See ``tests/scenarios/wire_security.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.secured_listeners import Secured, secured_odradek
from tests.scenarios.wire_security import *  # noqa: F403


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_odradek(tmp_path_factory.mktemp("secured")) as started:
        yield started
