"""Source text of written-out codecs: typed functions over a `Reader` or a `Writer`, one for each layout of a struct.

It starts from the same constructs as the code that is generated at run time (`decoder_source`, `encoder_source`), one
version after the other. Versions in which a struct has the same text share a function.
"""

from __future__ import annotations

from collections.abc import Callable

from construct import Construct

from odradek.protocol import primitives as p
from odradek.protocol.message import Message, VersionedMessage
from odradek.protocol.schema import fold

LINE_LENGTH = 120
NUMBERS = {"?": "boolean", "b": "int8", "h": "int16", "H": "uint16", "l": "int32", "q": "int64"}
"""`struct` code to the method of `Reader`."""


def method_of(body: p.LengthPrefixed, kind: str) -> str:
    """The method of `Reader` and `Writer` for a type with a length, in this version."""
    return ("compact_" if body.length is p.COMPACT_LENGTH else "") + kind + ("_or_null" if body.nullable else "")


def kind_of(body: Construct) -> str | None:
    """What the methods for text, bytes and records are called; None for another construct."""
    kinds = ((p.Text, "string"), (p.RecordData, "records"), (p.Blob, "byte_string"))
    return next((name for kind, name in kinds if isinstance(body, kind)), None)


def laid_out(indent: str, opening: str, items: list[str], closing: str, *, whole: bool = True) -> list[str]:
    """`opening item, item closing`, on one line (if it may be `whole`) or on one each, as the formatter has it."""
    line = f"{indent}{opening}{', '.join(items)}{closing}"
    if whole and len(line) <= LINE_LENGTH:
        return [line]
    return [f"{indent}{opening}", *(f"{indent}    {item}," for item in items), f"{indent}{closing}"]


def signature(name: str, parameters: list[str], result: str) -> list[str]:
    """The head of a function, as the formatter has it."""
    line = f"def {name}({', '.join(parameters)}) -> {result}:"
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"def {name}(", f"    {', '.join(parameters)}{',' if len(parameters) == 1 else ''}", f") -> {result}:"]


class ModuleSource:
    """One module: the functions, in the order in which they need each other, and what they import."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.packs: dict[str, str] = {}
        """Format of a `Struct` to the constant with its `pack`."""
        self.imported: dict[str, set[str]] = {}
        self._known: dict[tuple[str, ...], str] = {}

    def use(self, module: str, name: str) -> None:
        self.imported.setdefault(module, set()).add(name)

    def use_message(self, message: type[Message]) -> str:
        self.use(message.__module__, message.__name__)
        return message.__name__

    def pack(self, codes: str) -> str:
        name = f"_pack_{codes.replace('?', 'o').replace('H', 'u')}"
        self.packs[codes] = name
        return name

    def function(self, name: str, parameters: list[str], result: str, body: list[str]) -> None:
        """Add a function."""
        self.lines += ["", "", *signature(name, parameters, result), *body]

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
        head = [
            f'"""{title} Generated from the constructs: do not edit."""',
            "",
            "from __future__ import annotations",
            "",
        ]
        if self.packs:
            self.use("struct", "Struct")
            self.use("typing", "Final")
        standard = [module for module in sorted(self.imported) if not module.startswith("odradek.")]
        own = [module for module in sorted(self.imported) if module.startswith("odradek.")]
        for modules in (standard, own):
            for module in modules:
                names = sorted(self.imported[module], key=_import_order)
                head += _import(module, names)
            if modules:
                head.append("")
        head += [f'{name}: Final = Struct(">{codes}").pack' for codes, name in sorted(self.packs.items())]
        while head[-1] == "":
            head.pop()
        return "\n".join([*head, *self.lines]) + "\n"


def _import(module: str, names: list[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    return [line] if len(line) <= LINE_LENGTH else laid_out("", f"from {module} import (", names, ")", whole=False)


def _import_order(name: str) -> tuple[int, str]:
    """Constants, classes, functions, as isort has them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower())
