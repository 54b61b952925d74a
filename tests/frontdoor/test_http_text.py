"""JSON in requests, and text in answers."""

from __future__ import annotations

import json

import pytest

from odradek import http_text
from odradek.http_text import json_of, text_bytes


def test_json_is_read() -> None:
    assert json_of(b'{"a": ["\\u00e4", "\\ud83d\\ude00", 1.5, null]}') == {"a": ["ä", "😀", 1.5, None]}
    assert json_of("\ufeff1".encode()) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "Exceeds the limit"),
        (b'"\xff"', "can't decode byte 0xff"),
        (b'"\xed\xa0\x80"', "can't decode byte 0xed"),
        ('"a"'.encode("utf-16"), "can't decode byte"),
        (b'"\\ud800"', "surrogates not allowed"),
        (b'{"a": {"\\uDFff": 1}}', "surrogates not allowed"),
        (b'"\\ud83d\\ud83d"', "surrogates not allowed"),
    ],
)
def test_what_is_no_json_is_told(body: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=f"the body is not JSON: .*{why}"):
        json_of(body)


def test_a_body_has_so_many_values_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_text, "_MOST_MARKS", 4)
    assert json_of(b"[1, 2, 3, 4]") == [1, 2, 3, 4]
    for body in (b"[1, 2, 3, 4, 5]", b"[[], [], []]", b'{"a": {"b": {"c": 1}}}'):
        with pytest.raises(ValueError, match="more than 4 commas, colons and brackets: send it in parts"):
            json_of(body)


def test_half_a_character_can_be_told_of() -> None:
    assert text_bytes("ä") == b"\xc3\xa4"
    answer = text_bytes(json.dumps({"message": "no topic \ud800"}, ensure_ascii=False))
    assert json.loads(answer) == {"message": "no topic \ud800"}
