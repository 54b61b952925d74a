"""Text of clients, made safe to show.

Names of groups, topics, clients and users come from outside. What shows them in a log, in a report or on a terminal
shows them through `one_line`: at the edge, not where they are kept.
"""

from __future__ import annotations


def one_line(text: str) -> str:
    """Escape what is not printable: line breaks, control sequences of terminals, marks of direction, half characters.

    A name must not write a line of its own, move a cursor, or change what stands beside it.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def printable(text: str) -> str:
    """The same for a text of several lines: its own line breaks stay."""
    return "\n".join(map(one_line, text.split("\n")))
