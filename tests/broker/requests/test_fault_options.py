"""What options of faults are refused, in words."""

from __future__ import annotations

import pytest

from odradek.broker.requests.fault_options import api_key, check_choice, check_counts, error_code
from odradek.protocol.errors import ErrorCode


def test_apis_by_name_and_key() -> None:
    assert (api_key("Fetch"), api_key(1), api_key(None)) == (1, 1, None)
    with pytest.raises(ValueError, match=r"no API is called 'Ftch' .did you mean 'Fetch'"):
        api_key("Ftch")
    with pytest.raises(ValueError, match="no API has the key 999"):
        api_key(999)


def test_errors_by_name_and_themselves() -> None:
    assert error_code("NOT_LEADER_OR_FOLLOWER") is error_code(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert error_code(None) is None
    with pytest.raises(ValueError, match=r"did you mean 'NOT_LEADER_OR_FOLLOWER'"):
        error_code("NOT_LEADER_OR_FOLOWER")
    with pytest.raises(ValueError, match="answer=NONE is no error"):
        error_code("NONE")
    with pytest.raises(TypeError, match=r"answer=6: expected an odradek.ErrorCode or its name"):
        error_code(6)  # type: ignore[arg-type]


def test_counts_and_choices() -> None:
    check_counts(1, 0, 0)
    check_choice("how", "reset", ("reset", "close"))
    for times, skip, delay_ms, message in ((0, 0, 0, "times=0"), (1, -1, 0, "skip=-1"), (1, 0, -1, "delay_ms=-1")):
        with pytest.raises(ValueError, match=message):
            check_counts(times, skip, delay_ms)
    with pytest.raises(ValueError, match=r"how='rest': expected one of reset, close .did you mean 'reset'"):
        check_choice("how", "rest", ("reset", "close"))
