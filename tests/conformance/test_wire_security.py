"""See ``tests/scenarios/wire_security.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.secured_listeners import Secured, secured_kafka
from tests.scenarios.wire_security import *  # noqa: F403


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    try:
        with secured_kafka(tmp_path_factory.mktemp("secured")) as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))
