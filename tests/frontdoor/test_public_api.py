"""A change of the public API is a decision: it shows in the diff of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

import odradek
from tests.frontdoor import public_api


def test_the_public_api_is_as_written_down() -> None:
    assert public_api.PAGE.read_text() == public_api.rendered(), "if you mean it: python -m tests.frontdoor.public_api"


def test_every_name_is_imported_when_it_is_first_used() -> None:
    assert set(odradek.__all__) <= set(dir(odradek))
    for name in odradek.__all__:
        assert getattr(odradek, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(odradek, "nonsense")  # noqa: B009  type checkers refuse odradek.nonsense


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(odradek.__file__).with_name("py.typed").exists()
