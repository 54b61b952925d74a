"""ShareAcknowledge, and locks that run out, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases


@pytest.mark.long
@pytest.mark.parametrize(("name", "release"), cases("share_conversations", ["wrong_acknowledgements", "lock_timeouts"]))
def test_share_acknowledge_is_answered_as_recorded(name: str, release: str) -> None:
    check_as_recorded(name, release)
