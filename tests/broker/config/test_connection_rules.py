"""Limits of connections by address; Kafka's words are compared in test_listener_layout too."""

from __future__ import annotations

import pytest

from odradek.broker.config.connection_rules import check_connections, overrides_of
from odradek.broker.config.definition import ConfigError


def test_overrides() -> None:
    assert overrides_of("") == {}
    assert overrides_of("127.0.0.1:5 , ::1:7,localhost: 3") == {"127.0.0.1": 5, "::1": 7, "localhost": 3}


@pytest.mark.parametrize("text", ["nonsense", "1.2.3.4:x", "1.2.3.4:", "1.2.3.4:5,"])
def test_what_are_no_overrides(text: str) -> None:
    with pytest.raises(ConfigError, match=r"max\.connections\.per\.ip\.overrides"):
        overrides_of(text)


def test_nobody_may_come_only_if_some_may() -> None:
    check_connections(0, "127.0.0.1:1")
    check_connections(1, "")
    with pytest.raises(ConfigError, match="can be set to zero only if"):
        check_connections(0, "")
