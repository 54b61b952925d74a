"""See ``tests/scenarios/program_logins.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.program_logins import *  # noqa: F403
from tests.scenarios.program_logins import Doors, kafka_with_doors


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    try:
        with kafka_with_doors(tmp_path_factory.mktemp("doors")) as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))
