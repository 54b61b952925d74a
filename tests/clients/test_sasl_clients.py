"""See ``tests/scenarios/sasl_clients.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.sasl_clients import *  # noqa: F403
from tests.scenarios.sasl_targets import LogIns, odradek_with_log_ins


@pytest.fixture(scope="module")
def log_ins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogIns]:
    with odradek_with_log_ins(tmp_path_factory.mktemp("sasl")) as started:
        yield started
