"""The fixtures of a broker in a thread of its own, as most tests want it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest

from odradek.broker.facade.threaded import KafkaBroker


def broker_fixture(scope: Literal["function", "module"] = "function", *, frozen: bool = False, **options: Any) -> Any:
    """A fixture: a broker with these options, which has met no bug when it ends. `frozen`: its clock stands still."""

    @pytest.fixture(scope=scope)
    def broker() -> Iterator[KafkaBroker]:
        with KafkaBroker(**options) as started:
            if frozen:
                started.clock.freeze()
            yield started
            assert not started.bugs, started.bugs[0]

    return broker
