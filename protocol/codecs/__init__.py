"""Codecs of hot messages as typed modules, written out by `generate_codecs` for mypyc.

They take and give, byte for byte and error for error, what the code generated at run time does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from odradek.protocol.codecs.index import DECODED, ENCODED
from odradek.protocol.file_slice import Part
from odradek.protocol.message import VersionedMessage


def written_decoder(message: type[VersionedMessage], version: int) -> Callable[..., tuple[Any, int]] | None:
    """`decode(buf, offset=0)` of a message that is written out; None for another one."""
    name = message.__name__
    if name not in DECODED:
        return None
    return partial(_module(DECODED[name]).DECODERS[name], version)


def written_encoders(
    message: type[VersionedMessage], version: int
) -> tuple[Callable[[Any], bytes], Callable[[Any], list[Part]]] | None:
    """`encode(message)` and `encode_parts(message)` of a message that is written out; None for another one."""
    name = message.__name__
    if name not in ENCODED:
        return None
    module = _module(ENCODED[name])
    return partial(module.ENCODERS[name], version), partial(module.PART_ENCODERS[name], version)


def _module(name: str) -> Any:
    """Imported with the first message of its API."""
    return import_module(f"{__name__}.{name}")
