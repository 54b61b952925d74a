"""Compatibility levels: which schema must read which."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.registry.formats import LEVELS, reasons_against


class Reader:
    """Reads what those wrote that it names."""

    def __init__(self, name: str, reads: str = "") -> None:
        self.canonical = self.normalized = name
        self.formats: dict[str, Callable[[], str]] = {}
        self._reads = reads

    def reads(self, writer: Reader) -> list[str]:
        return [] if writer.canonical in self._reads else [f"{self.canonical} not {writer.canonical}"]


class Other(Reader):
    pass


@pytest.mark.parametrize(
    ("level", "new", "one", "two", "compatible"),
    [
        ("NONE", "", "", "", True),
        ("BACKWARD", "2", "", "", True),
        ("BACKWARD", "1", "n", "n", False),
        ("BACKWARD_TRANSITIVE", "2", "n", "n", False),
        ("BACKWARD_TRANSITIVE", "12", "", "", True),
        ("FORWARD", "", "", "n", True),
        ("FORWARD", "12", "n", "", False),
        ("FORWARD_TRANSITIVE", "", "", "n", False),
        ("FORWARD_TRANSITIVE", "", "n", "n", True),
        ("FULL", "2", "", "n", True),
        ("FULL", "2", "n", "", False),
        ("FULL", "1", "n", "n", False),
        ("FULL_TRANSITIVE", "12", "n", "n", True),
        ("FULL_TRANSITIVE", "2", "n", "n", False),
        ("FULL_TRANSITIVE", "12", "", "n", False),
    ],
)
def test_each_level_of_compatibility_compares_its_versions(
    level: str, new: str, one: str, two: str, compatible: bool
) -> None:
    assert level in LEVELS
    earlier = [(1, Reader("1", one)), (2, Reader("2", two))]
    assert (reasons_against(Reader("n", new), level, earlier) == []) is compatible


def test_the_first_schema_may_be_any() -> None:
    assert reasons_against(Reader("n"), "FULL_TRANSITIVE", []) == []


def test_reasons_say_who_cannot_read_whom() -> None:
    assert reasons_against(Reader("n"), "FULL", [(7, Reader("1"))]) == [
        "cannot read version 7: n not 1",
        "version 7 cannot read it: 1 not n",
    ]


def test_another_type_is_never_compatible() -> None:
    assert reasons_against(Reader("n", "1"), "BACKWARD", [(1, Other("1"))]) == ["version 1 has another schema type"]
