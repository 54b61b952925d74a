"""`codec`: what reads and writes one version of a message, always the same object.

Cheap to import: constructs, and the generator that turns them into code, are loaded when the first message needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from odradek._compiled import compiled
from odradek.protocol.codec_parts import encode_whole
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.codecs.index import DECODED, ENCODED
from odradek.protocol.message import Buffer, VersionedMessage, check_version
from odradek.protocol.varint import ANY_NUMBER

if TYPE_CHECKING:
    from odradek.protocol.primitives import StructBody

M = TypeVar("M", bound=VersionedMessage)
Decoder = Callable[..., tuple[Any, int]]
Encoder = Callable[[Any], list[Part]]


class MessageCodec(Generic[M]):
    """Reads and writes one version of a message.

    Hot messages have code that was written out before (`generated.codecs`). What reads there is for mypyc: where
    odradek is not compiled, it reads only the first message, so that a broker answers its first request without
    loading what generates code. Code for all others is generated when a direction is used.

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
        self._set_encoders()
        return self.encode(message)

    def _encode_parts_first(self, message: M) -> list[Part]:
        self._set_encoders()
        return self.encode_parts(message)

    def _set_encoders(self) -> None:
        written = written_encoder(self.message, self.version)
        if written is None:
            from odradek.protocol.compiler import compile_encoder

            written = compile_encoder(self.construct, self.version)
        self.encode, self.encode_parts = partial(encode_whole, written), written

    @cached_property
    def plain_decode(self) -> Callable[..., tuple[M, int]]:
        """`decode` in the form that is compiled at run time, which tells what is wrong with bytes."""
        from odradek.protocol.compiler import compile_decoder

        return compile_decoder(self.construct, self.version)

    def _compile_and_decode(self, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER) -> tuple[M, int]:
        self.decode = self.plain_decode
        return self.decode(buf, offset, most)


def written_decoder(message: type[VersionedMessage], version: int) -> Decoder | None:
    """`decode(buf, offset=0, most=ANY_NUMBER)` of a message that is written out; None for another one."""
    return _written(DECODED, "DECODERS", message.__name__, version)


def written_encoder(message: type[VersionedMessage], version: int) -> Encoder | None:
    """`encode_parts(message)` of a message that is written out; None for another one."""
    return _written(ENCODED, "ENCODERS", message.__name__, version)


def _written(index: dict[str, str], table: str, name: str, version: int) -> Callable[..., Any] | None:
    """The module is imported with the first message of its API."""
    if name not in index:
        return None
    layouts = getattr(import_module(f"odradek.protocol.generated.codecs.{index[name]}"), table)[name]
    return partial(layouts[max(first for first in layouts if first <= version)], version)


_codecs: dict[tuple[type[Any], int], MessageCodec[Any]] = {}


def codec(message: type[M], version: int) -> MessageCodec[M]:
    """The codec of a version of a message class, always the same. Raises ProtocolError if there is no such version."""
    found = _codecs.get((message, version))
    if found is None:
        found = _codecs[message, version] = MessageCodec(message, version)
    return found


def decoded_again(message: type[M], version: int, buf: Buffer, offset: int, most: int) -> tuple[M, int]:
    """Decode bytes that a written-out decoder refuses with the other form, which raises an error with a text."""
    return codec(message, version).plain_decode(buf, offset, most)
