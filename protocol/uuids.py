"""Kafka's UUIDs: 16 bytes, and 22 characters of text (base64 for URLs, without padding).

A member's id is one: a group of many members asks for many at once. So they come as bytes from the system, without a
`uuid.UUID` for each.
"""

from __future__ import annotations

import base64
import re
from binascii import b2a_base64
from os import urandom
from typing import Final

_TEXT = re.compile(r"[A-Za-z0-9_-]{22}")
_FOR_URLS: Final = bytes.maketrans(b"+/", b"-_")


def new_uuid() -> bytes:
    """A random UUID, as `new_uuid_text` gives them."""
    return uuid_from_text(new_uuid_text())


def new_uuid_text() -> str:
    """The text of a random UUID (version 4, RFC 9562).

    Kafka gives out none that begins with a dash, which tools would take for an option.
    """
    while True:
        drawn = urandom(16)
        version_and_variant = bytes((drawn[6] & 0x0F | 0x40, drawn[7], drawn[8] & 0x3F | 0x80))
        text = uuid_to_text(drawn[:6] + version_and_variant + drawn[9:])
        if not text.startswith("-"):
            return text


def uuid_to_text(value: bytes) -> str:
    return b2a_base64(value, newline=False).rstrip(b"=").translate(_FOR_URLS).decode("ascii")


def uuid_from_text(text: str) -> bytes:
    """The inverse of `uuid_to_text`. Raises ValueError, which says what is wrong."""
    if not _TEXT.fullmatch(text):
        raise ValueError(f"{text!r} is not a UUID: expected 22 letters, digits, dashes or underscores")
    return base64.urlsafe_b64decode(text + "==")
