"""JSON behind the id of a schema."""

from __future__ import annotations

import pytest

from odradek.broker.schemas.framing import Framed
from odradek.broker.schemas.json_text import JsonText


def test_data_are_read() -> None:
    schema = JsonText("Order")
    assert schema.decode(Framed(b'{"a": [1]}', 7)) == ({"a": [1]}, None)
    assert (schema.kind, repr(schema)) == ("json", "<JsonText Order>")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit Order"):
        JsonText("Order").decode(Framed(data))
