"""`codec`: what reads and writes one version of a message, always the same object.

Cheap to import: constructs, and the generator that turns them into code, are loaded when the first message needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from odradek._compiled import compiled
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.codecs.index import DECODED, ENCODED
from odradek.protocol.message import Buffer, VersionedMessage, check_version
from odradek.protocol.varint import ANY_NUMBER

if TYPE_CHECKING:
    from odradek.protocol.primitives import StructBody

M = TypeVar("M", bound=VersionedMessage)
Encoders = tuple[Callable[[Any], bytes], Callable[[Any], list[Part]]]


class MessageCodec(Generic[M]):
    """Reads and writes one version of a message.

    Hot messages have code that was written out before (`generated.codecs`). Where odradek is compiled, they use that;
    else only for the first message in each direction, so that a broker answers its first request without loading
    what generates code. Code for all others is generated when a direction is used.

    Errors: ProtocolError, for bytes that are not such a message, for values that the version cannot express, and for a
    version that the message does not have.
    """

    decode: Callable[..., tuple[M, int]]
    """`decode(buf, offset=0, most=ANY_NUMBER) -> (message, offset after it)`. More bytes may follow.

    `most`: how many elements all arrays may have together; TooManyElementsError if they have more. Records are slices
    of `buf`; small ones of `bytes` may be copies.
    """
    encode: Callable[[M], bytes]
    """`encode(message) -> bytes`."""
    encode_parts: Callable[[M], list[Part]]
    """`encode_parts(message)`: the same in parts, for `sendmsg`; large record fields are among them uncopied."""

    def __init__(self, message: type[M], version: int) -> None:
        check_version(message, version)
        self.message = message
        self.version = version
        self.decode = self._decode_first
        self.encode = self._encode_first
        self.encode_parts = self._encode_parts_first

    @cached_property
    def construct(self) -> StructBody:
        """The declaration, folded for this version."""
        from odradek.protocol.schema import fold

        return fold(self.message, self.version)

    def _decode_first(self, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER) -> tuple[M, int]:
        written = written_decoder(self.message, self.version)
        if written is None:
            return self._compile_and_decode(buf, offset, most)
        self.decode = written if compiled else self._compile_and_decode
        return written(buf, offset, most)

    def _encode_first(self, message: M) -> bytes:
        return self._first_encoders()[0](message)

    def _encode_parts_first(self, message: M) -> list[Part]:
        return self._first_encoders()[1](message)

    def _first_encoders(self) -> Encoders:
        written = written_encoders(self.message, self.version)
        if written is None:
            return self._compile_encoders()
        if compiled:
            self.encode, self.encode_parts = written
        else:
            self.encode, self.encode_parts = self._compile_and_encode, self._compile_and_encode_parts
        return written

    def _compile_and_decode(self, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER) -> tuple[M, int]:
        from odradek.protocol.compiler import compile_decoder

        self.decode = compile_decoder(self.construct, self.version)
        return self.decode(buf, offset, most)

    def _compile_and_encode(self, message: M) -> bytes:
        return self._compile_encoders()[0](message)

    def _compile_and_encode_parts(self, message: M) -> list[Part]:
        return self._compile_encoders()[1](message)

    def _compile_encoders(self) -> Encoders:
        from odradek.protocol.compiler import compile_encoders

        self.encode, self.encode_parts = found = compile_encoders(self.construct, self.version)
        return found


def written_decoder(message: type[VersionedMessage], version: int) -> Callable[..., tuple[Any, int]] | None:
    """`decode(buf, offset=0, most=ANY_NUMBER)` of a message that is written out; None for another one."""
    name = message.__name__
    if name not in DECODED:
        return None
    return partial(_written(DECODED[name]).DECODERS[name], version)


def written_encoders(message: type[VersionedMessage], version: int) -> Encoders | None:
    """`encode(message)` and `encode_parts(message)` of a message that is written out; None for another one."""
    name = message.__name__
    if name not in ENCODED:
        return None
    module = _written(ENCODED[name])
    return partial(module.ENCODERS[name], version), partial(module.PART_ENCODERS[name], version)


def _written(module: str) -> Any:
    """Imported with the first message of its API."""
    return import_module(f"odradek.protocol.generated.codecs.{module}")


_codecs: dict[tuple[type[Any], int], MessageCodec[Any]] = {}


def codec(message: type[M], version: int) -> MessageCodec[M]:
    """The codec of a version of a message class, always the same. Raises ProtocolError if there is no such version."""
    found = _codecs.get((message, version))
    if found is None:
        found = _codecs[message, version] = MessageCodec(message, version)
    return found
