"""Text of clients, made safe to show.

Names of groups, topics, clients and users come from outside. What shows them in a log, in a report or on a terminal
shows them through `one_line`: at the edge, not where they are kept.
"""

from __future__ import annotations

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def one_line(text: str) -> str:
    """Escape what is not printable: line breaks, control sequences of terminals, marks of direction, half characters.

    A name must not write a line of its own, move a cursor, or change what stands beside it. The escapes are those of
    JSON, so that JSON stays what it is.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def printable(text: str) -> str:
    """The same for a text of several lines: its line breaks stay."""
    return "\n".join(map(one_line, text.split("\n")))


def counted(number: int, noun: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def place_name(topic: str, partition: int | None) -> str:
    """``topic 'orders'``, or ``partition orders-0``."""
    return f"topic {topic!r}" if partition is None else f"partition {topic}-{partition}"


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return _SHORT.get(char) or "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
