"""The generated flavour that blocks."""

from __future__ import annotations

import functools

from odradek.broker.facade import generate_blocking

# ruff runs twice for each module.
blocking_sources = functools.cache(generate_blocking.blocking_sources)


def test_the_blocking_verbs_are_current() -> None:
    sources = blocking_sources()
    written = {path: path.read_text() for path in generate_blocking.TARGET.glob("[!_]*.py")}
    assert written == sources, "run: python -m odradek.broker.facade.generate_blocking"


def test_nothing_of_trio_is_left_in_them() -> None:
    for path, text in blocking_sources().items():
        left = [word for word in ("await ", "async ", "trio", "Trio", "Pending") if word in text]
        assert not left, path
