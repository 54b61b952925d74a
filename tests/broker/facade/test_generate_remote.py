"""The generated calls over HTTP."""

from __future__ import annotations

from odradek.broker.facade import generate_remote


def test_the_remote_calls_are_current() -> None:
    written = generate_remote.TARGET.read_text()
    assert written == generate_remote.remote_source(), "run: python -m odradek.broker.facade.generate_blocking"
