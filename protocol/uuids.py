"""Kafka's UUIDs: 16 bytes, and 22 characters of text (base64 for URLs, without padding)."""

from __future__ import annotations

import base64
import re
import uuid

_TEXT = re.compile(r"[A-Za-z0-9_-]{22}")


def new_uuid() -> bytes:
    """A random UUID, as `new_uuid_text` gives them."""
    return uuid_from_text(new_uuid_text())


def new_uuid_text() -> str:
    """A random UUID's text. Kafka gives out none that begins with a dash, which tools would take for an option."""
    while True:
        text = uuid_to_text(uuid.uuid4().bytes)
        if not text.startswith("-"):
            return text


def uuid_to_text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode("ascii")


def uuid_from_text(text: str) -> bytes:
    """The inverse of `uuid_to_text`. Raises ValueError, which says what is wrong."""
    if not _TEXT.fullmatch(text):
        raise ValueError(f"{text!r} is no UUID: 22 letters, digits, dashes or underscores are needed")
    return base64.urlsafe_b64decode(text + "==")
