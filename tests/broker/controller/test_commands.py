"""Commands are plain values; those with secrets do not show them."""

from __future__ import annotations

from odradek.broker.controller.commands import NewToken, ScramUpsertion


def test_no_secret_is_shown() -> None:
    assert repr(ScramUpsertion("alice", 1, 4096, b"salt", b"secret")) == "ScramUpsertion('alice', 1)"
    assert repr(NewToken("token-1", b"secret", 1, 2, 3)) == "NewToken(token-1)"
