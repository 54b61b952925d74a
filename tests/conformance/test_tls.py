"""See ``tests/scenarios/tls.py``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conformance.real_kafka import RealKafka, Unavailable, classpath
from tests.scenarios.tls import *  # noqa: F403
from tests.scenarios.tls import Start


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    try:
        classpath()
    except Unavailable as missing:
        pytest.skip(str(missing))
    return lambda properties: _started(properties, tmp_path_factory.mktemp("kafka"))


@contextmanager
def _started(properties: Mapping[str, str], folder: Path) -> Iterator[None]:
    port = int(properties["listeners"].partition(",")[0].rpartition(":")[2])
    with RealKafka(port=port, config=properties, folder=folder):
        yield
