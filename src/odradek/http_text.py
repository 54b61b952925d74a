"""JSON in requests, and text in answers. Nothing here needs the packages of a server."""

from __future__ import annotations

import json
import re
from typing import Any


def json_of(body: bytes) -> Any:
    """What a body says in JSON. ValueError, in words, for what is none, for halves of characters, and for too much."""
    marks = sum(map(body.count, (b",", b":", b"[", b"{")))
    if marks > _MOST_MARKS:
        raise ValueError(f"the body has more than {_MOST_MARKS} commas, colons and brackets: send it in parts")
    try:
        text = body.decode("utf-8-sig")
        found = json.loads(text, parse_constant=_no_number)
        if _HALF.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"the body is not JSON: {reason}") from None
    return found


_MOST_MARKS = 4_000_000
"""While the standard library makes objects of them, which takes half a second, no other thread runs."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""The beginning of what may be half a character (a surrogate)."""


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def text_bytes(text: str) -> bytes:
    """The bytes of a text to answer. Half a character, which has no bytes, stays an escape, as in JSON."""
    return text.encode("utf-8", "backslashreplace")
