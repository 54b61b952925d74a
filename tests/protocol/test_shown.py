"""Text of clients as logs, reports and terminals show it."""

from __future__ import annotations

import pytest

from odradek.protocol.shown import one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User:alice \u00e9 \u4f8b", "User:alice \u00e9 \u4f8b"),
        ("a\n2026 INFO all is well\r\t", "a\\n2026 INFO all is well\\r\\t"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b2J\x85", "\\x9b2J\\x85"),
        ("\u202eevil\u2066\u200b\u2028", "\\u202eevil\\u2066\\u200b\\u2028"),
        ("\ud800\x00\x7f", "\\ud800\\x00\\x7f"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert one_line(text) == shown
    assert one_line(shown) == shown


def test_the_line_breaks_of_a_text_stay() -> None:
    assert printable("a\x1b\n\n\u202eb\r\n") == "a\\x1b\n\n\\u202eb\\r\n"
