"""UUIDs as Kafka writes them."""

from __future__ import annotations

from uuid import RFC_4122, UUID

import pytest

from odradek.protocol.uuids import new_uuid, new_uuid_text, uuid_from_text, uuid_to_text


def test_uuids_are_written_in_kafkas_base64() -> None:
    assert uuid_to_text(bytes(16)) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert uuid_from_text("ABKkhKcESWeFeOXEZl77-w").hex() == "0012a484a70449678578e5c4665efbfb"
    assert uuid_to_text(uuid_from_text("ABKkhKcESWeFeOXEZl77-w")) == "ABKkhKcESWeFeOXEZl77-w"


def test_new_ones_differ_and_never_begin_with_a_dash() -> None:
    texts = {uuid_to_text(new_uuid()) for _ in range(2000)} | {new_uuid_text() for _ in range(2000)}
    assert len(texts) == 4000
    assert not any(text.startswith("-") for text in texts)


def test_new_ones_are_of_version_4() -> None:
    for value in (new_uuid(), uuid_from_text(new_uuid_text())):
        read = UUID(bytes=value)
        assert (read.version, read.variant) == (4, RFC_4122)


@pytest.mark.parametrize(
    "text", ["", "AAAA", "A" * 21, "A" * 23, "ABKkhKcESWeFeOXEZl77+w", "ABKkhKcESWeFeOXEZl77 w", "ü" * 22]
)
def test_uuid_text_that_is_malformed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a UUID"):
        uuid_from_text(text)
