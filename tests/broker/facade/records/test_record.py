"""What a user may give as key, value and header."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.broker.facade.records.record import Listed, header_pairs, holder_of, serialized


@pytest.mark.parametrize(
    ("given", "written"),
    [(b"b", b"b"), ("ü", "ü".encode()), (None, None), (bytearray(b"a"), b"a"), (memoryview(b"m"), b"m")],
)
def test_produce_serializes_bytes_text_and_none(given: Any, written: bytes | None) -> None:
    assert serialized(given, None, "value") == written


def test_a_serializer_is_given_everything() -> None:
    assert serialized({"n": 1}, lambda value: json.dumps(value).encode(), "value") == b'{"n": 1}'


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(TypeError, match="expected bytes, text or None as key, not 5"):
        serialized(5, None, "key")
    with pytest.raises(TypeError, match="the key_serializer gave 5"):
        serialized("x", lambda value: 5, "key")  # type: ignore[arg-type, return-value]


def test_headers_by_name_or_as_pairs() -> None:
    assert header_pairs({"a": "1", "b": None}) == (("a", b"1"), ("b", None))
    assert header_pairs([("a", b"1"), ("a", b"2")]) == (("a", b"1"), ("a", b"2"))


def test_an_index_beyond_the_records_is_told_with_their_number() -> None:
    (one,) = listed = Listed(lambda: iter(["a"]), holder_of("orders", None, "read_uncommitted"))
    assert (one, listed[0], listed[3:]) == ("a", "a", [])
    with pytest.raises(IndexError, match=r"^topic 'orders' holds 1 record$"):
        _ = listed[1]
    assert holder_of("orders", 0, "read_committed", 5) == "the part read of partition orders-0 (read_committed)"
