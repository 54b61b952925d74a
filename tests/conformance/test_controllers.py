"""See ``tests/scenarios/controllers.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.conformance.real_quorum import RealQuorum
from tests.scenarios.controllers import *  # noqa: F403
from tests.scenarios.controllers import BROKER, CONTROLLERS, QuorumTarget


@pytest.fixture(scope="module")
def quorum() -> Iterator[QuorumTarget]:
    try:
        with RealQuorum([BROKER], CONTROLLERS) as real:
            yield QuorumTarget(real.brokers[BROKER], real.controllers, real.stop, real.launch)
    except Unavailable as missing:
        pytest.skip(str(missing))
