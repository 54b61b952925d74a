"""Fields of heartbeats that may not be empty."""

from __future__ import annotations

import pytest

from odradek.broker.api.group_requests import check_text, invalid
from odradek.protocol.errors import ErrorCode, KafkaError


def test_a_text_that_is_there_says_something() -> None:
    check_text(None, "RackId")
    check_text(" r ", "RackId")
    for empty in ("", " \t"):
        with pytest.raises(KafkaError, match=r"RackId can't be empty\.") as refused:
            check_text(empty, "RackId")
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_refusal_has_its_words() -> None:
    refusal = invalid("MemberEpoch is invalid.")
    assert (refusal.code, refusal.message) == (ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
