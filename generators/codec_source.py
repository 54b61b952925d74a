"""Source text of written-out codecs: typed functions over a `Reader` or a `Writer`, one for each layout of a struct.

It starts from the same constructs as the code that is generated at run time (`odradek.protocol.compiler`), one
version after the other. Versions in which a struct has the same text share a function.
"""

from __future__ import annotations

from collections.abc import Callable

from construct import Construct

from odradek.protocol import primitives as p
from odradek.protocol.message import Message, VersionedMessage
from odradek.protocol.schema import fold

NUMBERS = {"?": "boolean", "b": "int8", "h": "int16", "H": "uint16", "l": "int32", "q": "int64"}
"""`struct` code to the method of `Reader`."""


def method_of(body: p.LengthPrefixed, kind: str) -> str:
    """The method of `Reader` and `Writer` for a type with a length, in this version."""
    return ("compact_" if body.length is p.COMPACT_LENGTH else "") + kind + ("_or_null" if body.nullable else "")


def kind_of(body: Construct) -> str | None:
    """The names of the methods for text, bytes and records; None for another construct."""
    kinds = ((p.Text, "string"), (p.RecordData, "records"), (p.Blob, "byte_string"))
    return next((name for kind, name in kinds if isinstance(body, kind)), None)


HEAD = '''"""{title} Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.message import ZERO_UUID, Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece
'''
"""The modules that a codec may import. Ruff removes what it does not."""


class ModuleSource:
    """One module: the functions, in the order in which they need each other, and the messages that they import."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.packs: dict[str, str] = {}
        """Format of a `Struct` to the constant with its `pack`."""
        self._messages: set[type[Message]] = set()
        self._known: dict[tuple[str, ...], str] = {}

    def use_message(self, message: type[Message]) -> str:
        self._messages.add(message)
        return message.__name__

    def pack(self, codes: str) -> str:
        name = f"_pack_{codes.replace('?', 'o').replace('H', 'u')}"
        self.packs[codes] = name
        return name

    def function(self, name: str, parameters: list[str], result: str, body: list[str]) -> None:
        """Add a function."""
        self.lines += ["", f"def {name}({', '.join(parameters)}) -> {result}:", *body]

    def layout(self, name: str, version: int, parameters: list[str], result: str, body: list[str]) -> str:
        """The name of a function with this body: a new one, or that of an earlier version."""
        key = (name, *parameters, result, *body)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = f"{name}_{version}"
            self.function(known, parameters, result, body)
        return known

    def table(self, name: str, value: str, functions: dict[str, str]) -> None:
        """A constant: message to function."""
        if functions:
            self.lines += ["", f"{name}: dict[str, {value}] = {{"]
            self.lines += [*(f'    "{message}": {function},' for message, function in functions.items()), "}"]

    def by_version(
        self, message: type[VersionedMessage], layout: Callable[[p.StructBody, int], str]
    ) -> list[list[str]]:
        """The functions of a message: [condition on the version, function], the last versions first."""
        runs: list[tuple[int, str]] = []
        for version in range(message.MIN_VERSION, message.MAX_VERSION + 1):
            function = layout(fold(message, version), version)
            if not runs or runs[-1][1] != function:
                runs.append((version, function))
        branches = [[f"elif version >= {first}:", function] for first, function in reversed(runs)]
        branches[-1][0] = "else:"
        branches[0][0] = branches[0][0].removeprefix("el")
        return branches if len(branches) > 1 else [["", branches[0][1]]]

    def text(self, title: str) -> str:
        imports = sorted(f"from {message.__module__} import {message.__name__}" for message in self._messages)
        packs = [f'{name}: Final = Struct(">{codes}").pack' for codes, name in sorted(self.packs.items())]
        return "\n".join([HEAD.format(title=title), *imports, *packs, *self.lines]) + "\n"
