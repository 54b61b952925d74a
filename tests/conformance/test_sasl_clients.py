"""See ``tests/scenarios/sasl_clients.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.sasl_clients import *  # noqa: F403
from tests.scenarios.sasl_targets import LogIns, kafka_with_log_ins


@pytest.fixture(scope="module")
def log_ins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogIns]:
    try:
        with kafka_with_log_ins(tmp_path_factory.mktemp("sasl")) as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))
