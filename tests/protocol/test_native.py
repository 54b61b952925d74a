"""mypyc's attributes do nothing in plain Python."""

from __future__ import annotations

from odradek.protocol.native import mypyc_attr


def test_a_class_stays_what_it_is() -> None:
    class Plain:
        __slots__ = ("value",)

    assert mypyc_attr(allow_interpreted_subclasses=True)(Plain) is Plain
