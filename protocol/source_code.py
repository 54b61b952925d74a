"""The common part of the generators of decoders and encoders: source lines under construction, and facts about
constructs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

from construct import Construct, FormatField

from odradek.protocol import primitives as p

RUN_LIMIT = 9
"""Arrays of fewer numbers than this have a `Struct` ready."""
SIZES = {"b": 1, "h": 2, "H": 2, "l": 4, "L": 4, "i": 4, "q": 8, "d": 8, "?": 1, "B": 1, "16s": 16}


def format_of(body: Construct) -> str | None:
    """The `struct` character of a fixed-size construct."""
    if body is p.BOOLEAN:
        return "?"
    if body is p.UUID:
        return "16s"
    if isinstance(body, FormatField):
        return str(body.fmtstr).lstrip(">")
    return None


def minimum_size(body: Construct) -> int:
    """The fewest bytes that the construct can take."""
    code = format_of(body)
    if code is not None:
        return SIZES[code]
    if isinstance(body, p.LengthPrefixed):
        return 1 if body.length is p.COMPACT_LENGTH else minimum_size(body.length)
    if isinstance(body, p.NullableStruct):
        return 1
    if isinstance(body, p.StructBody):
        return sum(minimum_size(member.body) for member in body.plain if member.body is not None) + body.flexible
    raise TypeError(f"no code can be generated for {type(body).__name__}")


def has_records(body: Construct) -> bool:
    """Whether a record field is anywhere in the construct."""
    if isinstance(body, p.StructBody):
        return any(member.body is not None and has_records(member.body) for member in body.members)
    if isinstance(body, p.ListOf):
        return has_records(body.element)
    if isinstance(body, p.NullableStruct):
        return has_records(body.struct)
    return isinstance(body, p.RecordData)


class Source:
    """Lines of generated code, the constants they use, and names for temporaries."""

    def __init__(self, constants: dict[str, Any]) -> None:
        self.lines: list[str] = []
        self.constants = constants
        self._indent = 1
        self._counter = 0

    def add(self, *lines: str) -> None:
        self.lines += ["    " * self._indent + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(head)
        self._indent += 1
        yield
        self._indent -= 1

    def name(self, prefix: str) -> str:
        self._counter += 1
        return f"{prefix}{self._counter}"

    def constant(self, value: Any, prefix: str) -> str:
        for name, known in self.constants.items():
            if known is value:
                return name
        name = self.name(prefix)
        self.constants[name] = value
        return name

    def structure(self, codes: str, method: str) -> str:
        """A bound method of the Struct for these codes."""
        name = f"{method}_{codes.replace('?', 'o')}"
        self.constants.setdefault(name, getattr(Struct(">" + codes), method))
        return name

    def number_runs(self, code: str, method: str, prefix: str = "") -> str:
        """A list: at n, the bound method of a Struct for `prefix` and n numbers."""
        name = f"{method}_{prefix}_{code}"
        if name not in self.constants:
            structs = [Struct(f">{prefix}{count}{code}") for count in range(RUN_LIMIT)]
            self.constants[name] = [getattr(struct, method) for struct in structs]
        return name

    def function(self, head: str, *tail: str) -> Any:
        text = "\n".join([head, *self.lines, *tail])
        namespace = dict(self.constants)
        exec(compile(text, f"<{head}>", "exec"), namespace)
        return namespace["generated"]
