"""Java's properties format; what is expected is what `java.util.Properties` made of the same bytes."""

from __future__ import annotations

import pytest

from odradek.storage.java_properties import parse_properties


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", {}),
        (b"#c\n!x\n\n  # c\n", {}),
        (b"  node.id = 1\r\ncluster.id:abc\\=d\rx=1", {"node.id": "1", "cluster.id": "abc=d", "x": "1"}),
        (b"key with=v\nempty\n=novalue\nc==d", {"key": "with=v", "empty": "", "": "novalue", "c": "=d"}),
        (b" a\\ b=c\\\n   d\\u0041\\n\n\\:k=1\n", {"a b": "cdA\n", ":k": "1"}),
        (b"x\\\\=y\\\\\ntrail=sp  \n", {"x\\": "y\\", "trail": "sp  "}),
        (b" a\\\n\n b=1\nb=2", {"a": "", "b": "2"}),
        (b"name=\xe4\n", {"name": "ä"}),
    ],
)
def test_java_properties_are_read_as_in_java(data: bytes, expected: dict[str, str]) -> None:
    assert parse_properties(data) == expected


@pytest.mark.parametrize("data", [b"a=\\u00e", b"a=\\u00zz", b"\\u=1"])
def test_an_unfinished_escape_is_refused_in_javas_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"Malformed \\uxxxx encoding\."):
        parse_properties(data)
