"""Java's `.properties` format, in which Kafka keeps `meta.properties`."""

from __future__ import annotations

import re

_SPLIT = re.compile(r"(?P<key>(?:\\.|[^\\ \t\f=:])*)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(data: bytes) -> dict[str, str]:
    """The keys and values as `java.util.Properties` reads them (Latin-1, a later key wins).

    ValueError, in Java's words, for a backslash and `u` without four hexadecimal digits.
    """
    found: dict[str, str] = {}
    for line in _logical_lines(re.split(r"\r\n|\r|\n", data.decode("latin-1"))):
        match = _SPLIT.fullmatch(line)
        assert match is not None  # the pattern matches every line
        found[_unescaped(match["key"])] = _unescaped(match["value"])
    return found


def _logical_lines(lines: list[str]) -> list[str]:
    """Lines without comments and leading blanks. A backslash at the end of a line joins it with the next one."""
    logical: list[str] = []
    begun: str | None = None
    for line in lines:
        text = line.lstrip(" \t\f")
        if begun is None and (not text or text[0] in "#!"):
            continue
        begun = (begun or "") + text
        if (len(text) - len(text.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        logical.append(begun)
        begun = None
    return logical if begun is None else [*logical, begun]


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ValueError("Malformed \\uxxxx encoding.")
        return chr(int(escape[1:], 16)) if len(escape) == 5 else _NAMED.get(escape, escape)

    return _ESCAPE.sub(character, text)
