"""A change of the public API is a decision: it shows in the diff of a page."""

from __future__ import annotations

import builtins
import collections.abc
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import odradek.types
from tests.frontdoor import public_api


@pytest.mark.skipif(odradek.compiled, reason="compiled classes tell no signatures")
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


def test_every_type_that_a_user_can_get_hold_of_has_a_public_name() -> None:
    known = {*odradek.__all__, *vars(odradek.types), *dir(collections.abc), *dir(typing), *dir(builtins)}
    hidden = {
        each
        for owner in (getattr(odradek, name) for name in odradek.__all__)
        if inspect.isclass(owner)
        for result in _results(owner)
        for each in re.findall(r"[A-Za-z_]\w+", result)
        if each not in known
    }
    assert hidden - _ALIASES == _INTERNAL


_ALIASES = {"Future", "datetime", "TopicPartition", "trio", "CancelScope"}
_INTERNAL = {"Cluster", "Exchange", "Serve", "Step", "Summary", "TopicsById"}


def _results(owner: type) -> Iterator[str]:
    """What its public members return, in the words of the source."""
    for name, member in inspect.getmembers_static(owner):
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and not name.startswith("_"):
            yield str(function.__annotations__.get("return"))
