"""The recorded conversations about records are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.data_plane_wire import CONVERSATIONS, transcribe


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_records_is_as_recorded(name: str, bootstrap: str) -> None:
    assert transcribe(name, bootstrap) == recorded("data_plane_wire", RELEASE)[name]
