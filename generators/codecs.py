"""Source text of the codecs of hot messages: typed modules for mypyc.

Compiled by it they take less than half the time of the code that is generated at run time. As plain Python they are
slower, so an installation that is not compiled uses each only once (`message_codec.MessageCodec`).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from generators.codec_decoders import DecoderFunctions
from generators.codec_encoders import EncoderFunctions
from generators.codec_source import ModuleSource
from generators.messages import snake_case
from odradek.protocol.message import VersionedMessage

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


def codec_module(title: str, read: list[type[VersionedMessage]], written: list[type[VersionedMessage]]) -> str:
    source = ModuleSource()
    for message in read:
        DecoderFunctions(source).entry(message)
    for message in written:
        EncoderFunctions(source).entry(message)
    names = {message.__name__: snake_case(message.__name__) for message in read}
    source.lines.append("")
    source.table("DECODERS", "Callable[..., tuple[Any, int]]", {name: f"decode_{names[name]}" for name in names})
    names = {message.__name__: snake_case(message.__name__) for message in written}
    source.table("ENCODERS", "Callable[..., bytes]", {name: f"encode_{names[name]}" for name in names})
    source.table("PART_ENCODERS", "Callable[..., list[Part]]", {name: f"encode_{names[name]}_parts" for name in names})
    return source.text(title)


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
            found[f"{FOLDER}/{name}.py"] = codec_module(f"Codecs of `{package}.{module}`.", read, written)
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
