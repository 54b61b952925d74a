"""Text of clients as logs, reports and terminals show it."""

from __future__ import annotations

import json

import pytest

from odradek.protocol.shown import counted, one_line, place_name, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User:alice \u00e9 \u4f8b", "User:alice \u00e9 \u4f8b"),
        ("a\n2026 INFO all is well\r\t", "a\\n2026 INFO all is well\\r\\t"),
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("\x9b2J\x85", "\\u009b2J\\u0085"),
        ("\u202eevil\u2066\u200b\u2028", "\\u202eevil\\u2066\\u200b\\u2028"),
        ("\ud800\x00\x7f", "\\ud800\\u0000\\u007f"),
        ("\U000e0041\U0001f600", "\\udb40\\udc41\U0001f600"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert one_line(text) == shown
    assert one_line(shown) == shown


def test_the_line_breaks_of_a_text_stay() -> None:
    assert printable("a\x1b\n\n\u202eb\r\n") == "a\\u001b\n\n\\u202eb\\r\n"


def test_json_stays_what_it_is() -> None:
    value = {"a\x9b\x7f": ["\u202e\ud800", "\U000e0041\n"]}
    assert json.loads(one_line(json.dumps(value, ensure_ascii=False))) == value
    assert json.loads(printable(json.dumps(value, ensure_ascii=False, indent=2))) == value


def test_numbers_and_places_read_as_words() -> None:
    assert [counted(number, "record") for number in (0, 1, 2)] == ["0 records", "1 record", "2 records"]
    assert (place_name("orders", None), place_name("orders", 0)) == ("topic 'orders'", "partition orders-0")
