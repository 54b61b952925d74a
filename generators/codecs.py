"""Source text of the codecs of hot messages: typed modules for mypyc.

Their functions come from the same generator as the code that is compiled at run time (`odradek.protocol.compiler`).
Compiled by mypyc they take less than half its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from generators.messages import snake_case
from odradek.protocol.compiler import DecoderSource, EncoderSource, Source
from odradek.protocol.message import VersionedMessage
from odradek.protocol.schema import fold

FOLDER = "protocol/generated/codecs"
APIS = (
    "add_offsets_to_txn",
    "add_partitions_to_txn",
    "api_versions",
    "consumer_group_heartbeat",
    "end_txn",
    "fetch",
    "heartbeat",
    "join_group",
    "offset_commit",
    "produce",
    "share_acknowledge",
    "share_fetch",
    "streams_group_heartbeat",
    "sync_group",
    "txn_offset_commit",
)
"""Modules of `messages/` that clients send over and over. Their requests are read, their responses written."""
RECORDS = (
    "consumer_group_current_member_assignment",
    "consumer_group_member_metadata",
    "consumer_group_metadata",
    "consumer_group_target_assignment_member",
    "consumer_group_target_assignment_metadata",
    "group_metadata",
    "offset_commit",
    "transaction_log",
)
"""Modules of `stored/` that coordinators append with them: they are read and written."""


def classes(package: str, module: str) -> list[type[VersionedMessage]]:
    """The messages that a module defines."""
    name = f"odradek.protocol.generated.{package}.{module}"
    found = vars(import_module(name)).values()
    return [
        value
        for value in found
        if isinstance(value, type) and value.__module__ == name and hasattr(value, "MIN_VERSION")
    ]


HEAD = '''# mypy: disable-error-code="union-attr,arg-type"
"""{title} Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, error as struct_error, pack, unpack_from
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE, SMALL, WINDOW, check_count, explained, int8_at, int16_at, int32_at, int64_at, long_length, long_string,
    put_records, refuse, text_at, uint16_at
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import (
    ANY_NUMBER, checked_tags, encode_tagged_section, encode_uvarint, read_raw_field, read_tagged_field,
    read_unknown_fields, read_uvarint
)
'''
"""The modules that a codec may import. Ruff removes what it does not."""
READ_HEAD = "version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER) -> tuple[{}, int]"


class ModuleSource:
    """One module: the functions of messages, one for each layout of a message, and tables of them."""

    def __init__(self) -> None:
        self._constants: dict[str, str] = {}
        self._imports: set[str] = set()
        self._functions: list[str] = []
        self._tables: dict[str, list[str]] = {"DECODERS": [], "ENCODERS": []}

    def read(self, message: type[VersionedMessage]) -> None:
        head = READ_HEAD.format(message.__name__)
        self._add(message, "DECODERS", "decode", head, partial(DecoderSource, typed=True))

    def write(self, message: type[VersionedMessage]) -> None:
        head = "version: int, message: Any) -> list[Part]"
        self._add(message, "ENCODERS", "encode", head, EncoderSource)

    def _add(
        self, message: type[VersionedMessage], table: str, verb: str, head: str, source_of: Callable[..., Source]
    ) -> None:
        """Versions of one layout share a function."""
        known: list[str] = []
        functions = []
        for version in range(message.MIN_VERSION, message.MAX_VERSION + 1):
            source = source_of(fold(message, version))
            if source.lines == known:
                continue
            known = source.lines
            name = f"{verb}_{snake_case(message.__name__)}_{version}"
            functions.append(f"{version}: {name}")
            self._functions += ["", f"def {name}({head}:", *known]
            self._constants |= source.constants
            self._imports |= {f"from {used.__module__} import {used.__name__}" for used in source.messages.values()}
        self._tables[table].append(f'    "{message.__name__}": {{{", ".join(functions)}}},')

    def text(self, title: str) -> str:
        constants = [f"{name}: Final = {value}" for name, value in sorted(self._constants.items())]
        lines = [HEAD.format(title=title), *sorted(self._imports), *constants, *self._functions]
        for table, result in (("DECODERS", "tuple[Any, int]"), ("ENCODERS", "list[Part]")):
            if self._tables[table]:
                lines += ["", f"{table}: dict[str, dict[int, Callable[..., {result}]]] = {{", *self._tables[table], "}"]
        return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """Path -> source text, of the messages as they are on disk."""
    found: dict[str, str] = {}
    decoded: dict[str, str] = {}
    encoded: dict[str, str] = {}
    for package, modules in (("messages", APIS), ("stored", RECORDS)):
        for module in modules:
            known = classes(package, module)
            read = [message for message in known if not message.__name__.endswith("Response")]
            written = [message for message in known if not message.__name__.endswith("Request")]
            name = module if package == "messages" else f"stored_{module}"
            source = ModuleSource()
            for message in read:
                source.read(message)
            for message in written:
                source.write(message)
            found[f"{FOLDER}/{name}.py"] = source.text(f"Codecs of `{package}.{module}`.")
            decoded |= {message.__name__: name for message in read}
            encoded |= {message.__name__: name for message in written}
    found[f"{FOLDER}/index.py"] = "\n".join(index(decoded, encoded)) + "\n"
    return found


def index(decoded: dict[str, str], encoded: dict[str, str]) -> Iterator[str]:
    yield '"""Which messages have written-out codecs. Generated from the constructs: do not edit."""'
    for constant, modules, what in (("DECODED", decoded, "reads"), ("ENCODED", encoded, "writes")):
        yield ""
        yield f"{constant}: dict[str, str] = {{"
        yield from (f'    "{name}": "{module}",' for name, module in sorted(modules.items()))
        yield "}"
        yield f'"""Message to the module that {what} it."""'
