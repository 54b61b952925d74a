"""The parts of a token."""

from __future__ import annotations

import pytest

from odradek.broker.security.sasl.bearer_tokens import TokenRefused, base64_url, json_object


def test_base64_without_its_padding() -> None:
    assert base64_url("") == b""
    assert base64_url("_-8") == b"\xff\xef"


@pytest.mark.parametrize("text", ["a", "abcde", "ab==", "a+b/", "ab~c", "ab c", "ä"])
def test_what_is_no_base64url(text: str) -> None:
    with pytest.raises(TokenRefused):
        base64_url(text)


def test_objects_and_other_values() -> None:
    assert json_object(b'{"a": [1.5, null]}', repeats=False) == {"a": [1.5, None]}
    assert json_object(b'{"a": 1, "a": 2}', repeats=True) == {"a": 2}
    for other in (b"[]", b"null", b"1", b'"a"'):
        assert json_object(other, repeats=False) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"{} tail", b"\xff", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b'{"a": {"b": 1, "b": 2}}'],
)
def test_what_is_no_json(data: bytes) -> None:
    with pytest.raises(TokenRefused):
        json_object(data, repeats=False)
