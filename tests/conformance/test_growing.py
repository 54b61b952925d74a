"""See ``tests/scenarios/growing.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import pytest

from tests.conformance.real_kafka import Unavailable, properties_text
from tests.conformance.real_quorum import RealQuorum
from tests.scenarios.growing import *  # noqa: F403
from tests.scenarios.growing import FIRST, LATER, Config, Growing


class _Growing(RealQuorum):
    """A Kafka whose second broker starts when it is told to."""

    def __enter__(self) -> Self:
        try:
            self.prepare()
            self.launch(FIRST)
            self.wait_answering(FIRST)
        except BaseException:
            self.close()
            raise
        return self

    def start(self, config: Config) -> int:
        properties = properties_text({**self.properties(LATER), **config})
        (self.folder / str(LATER) / "server.properties").write_text(properties)
        self.launch(LATER)
        self.wait_answering(LATER)
        return self.brokers[LATER]


@pytest.fixture
def growing() -> Iterator[Growing]:
    try:
        with _Growing([FIRST, LATER], [FIRST]) as real:
            yield Growing(real.brokers[FIRST], real.start, lambda: real.stop(LATER), real.start)
    except Unavailable as missing:
        pytest.skip(str(missing))
