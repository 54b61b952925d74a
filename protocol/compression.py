"""The compression codecs of record batches, each with a bound on what it may inflate to.

gzip, zstd and the LZ4 frame format are the standard ones (LZ4 with independent blocks: Java's reader refuses linked
ones). Snappy has two forms on the wire: the plain block of the snappy format and the block framing of Java's
xerial library, which Kafka's own clients write; both are read, the framed one is written.

cramjam, the library behind them, is loaded with the first batch that is compressed.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum

from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.records import Buffer

DEFAULT_MAX_INFLATED = 256 * 1024 * 1024
"""Largest record body, in bytes, that a compressed batch may inflate to."""

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = struct.Struct(">8sii")
_XERIAL_BLOCK = 32 * 1024
_INT = struct.Struct(">i")
_LZ4_MAGIC = struct.Struct("<I")
_FIRST_GUESS = 64 * 1024


class Codec(IntEnum):
    """The codec number in bits 0-2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_CODECS = tuple(Codec)
DEFAULT_LEVELS: dict[Codec, int] = {Codec.GZIP: 6, Codec.LZ4: 9, Codec.ZSTD: 3}


class CompressionError(CorruptDataError):
    """Unknown codec, corrupt compressed data or data that inflates beyond the bound."""

    code = ErrorCode.UNKNOWN_SERVER_ERROR


def codec_of(attributes: int) -> Codec:
    """The codec named by a batch's attributes; CompressionError for the numbers that name none."""
    number = attributes & 7
    if number > 4:
        raise CompressionError(f"unknown compression codec {number}")
    return _CODECS[number]


def compress(codec: Codec, data: Buffer, level: int | None = None) -> bytes:
    """Compress a record body. `level` None or -1 is Kafka's default of the codec; snappy has no level."""
    chosen = level if level is not None and (level != -1 or codec is Codec.ZSTD) else DEFAULT_LEVELS.get(codec)
    if codec is Codec.NONE:
        return bytes(data)
    import cramjam

    if codec is Codec.GZIP:
        return bytes(cramjam.gzip.compress(data, chosen))
    if codec is Codec.ZSTD:
        return bytes(cramjam.zstd.compress(data, chosen))
    if codec is Codec.SNAPPY:
        return _compress_xerial(data)
    stream = cramjam.lz4.Compressor(level=chosen, content_checksum=False, block_linked=False)
    stream.compress(bytes(data))  # it takes nothing but bytes
    return bytes(stream.finish())


def decompress(codec: Codec, data: Buffer, max_size: int = DEFAULT_MAX_INFLATED) -> Buffer:
    """Inflate a record body to at most `max_size` bytes; CompressionError when it is corrupt or larger."""
    if codec is Codec.NONE:
        return data
    import cramjam

    if codec is Codec.SNAPPY:
        return _decompress_snappy(data, max_size)
    if codec is Codec.LZ4:
        data = _first_lz4_frame(memoryview(data))
    module = {Codec.GZIP: cramjam.gzip, Codec.LZ4: cramjam.lz4, Codec.ZSTD: cramjam.zstd}[codec]
    return _inflate(module, codec, data, max_size)


def _inflate(module: object, codec: Codec, data: Buffer, max_size: int) -> Buffer:
    """Decompress into a bounded buffer, growing it while the data does not fit and the bound allows."""
    import cramjam

    if not len(data):
        if codec is Codec.ZSTD:
            return b""  # no frame is no data to Kafka's reader
        raise CompressionError(f"{codec.name.lower()}: no compressed data")
    size = min(max_size, _size_hint(codec, data))
    while True:
        out = bytearray(size)
        try:
            written = module.decompress_into(data, out)  # type: ignore[attr-defined]
        except cramjam.DecompressionError as exc:
            if "whole buffer" not in str(exc):
                if codec is Codec.GZIP:
                    return _gunzip(data, max_size)
                raise CompressionError(f"{codec.name.lower()}: corrupt data: {exc}") from None
            if size >= max_size:
                raise CompressionError(f"{codec.name.lower()}: data inflates beyond {max_size} bytes") from None
            size = min(max_size, size * 8)
            continue
        return memoryview(out)[:written]


def _size_hint(codec: Codec, data: Buffer) -> int:
    """A first guess of the inflated size, from the format's own length field where it has one."""
    guess = max(_FIRST_GUESS, len(data) * 8)
    if codec is Codec.GZIP and len(data) >= 18:
        stated = int.from_bytes(data[-4:], "little")
        return stated if 0 < stated <= len(data) * 1100 else guess
    if codec is Codec.LZ4:
        return min(guess * 4, len(data) * 256 + 64)
    return guess


def _gunzip(data: Buffer, max_size: int) -> bytes:
    """Inflate the leading gzip members and ignore what follows them, as Java's reader does."""
    out: list[bytes] = []
    rest = bytes(data)
    left = max_size
    while not out or rest[:2] == b"\x1f\x8b":
        member = zlib.decompressobj(wbits=31)
        try:
            out.append(member.decompress(rest, left + 1))
        except zlib.error as exc:
            raise CompressionError(f"gzip: corrupt data: {exc}") from None
        left -= len(out[-1])
        if left < 0:
            raise CompressionError(f"gzip: data inflates beyond {max_size} bytes")
        if not member.eof:
            raise CompressionError("gzip: the data is cut off")
        rest = member.unused_data
    return b"".join(out)


def _first_lz4_frame(view: memoryview) -> memoryview:
    """The first LZ4 frame: Java's reader stops at its end, whatever follows. Only its block lengths are checked."""
    if len(view) < 7 or _LZ4_MAGIC.unpack_from(view)[0] != 0x184D2204:
        return view
    flags = view[4]
    pos = 7 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    checksum = 4 if flags & 0x10 else 0
    while pos + 4 <= len(view):
        size = _LZ4_MAGIC.unpack_from(view, pos)[0] & 0x7FFFFFFF
        pos += 4
        if size == 0:
            return view[: pos + (4 if flags & 0x04 else 0)]
        pos += size + checksum
    return view


# --- snappy ----------------------------------------------------------------------------------------------------------


def _compress_xerial(data: Buffer) -> bytes:
    import cramjam

    view = memoryview(data)
    parts = [_XERIAL_HEADER.pack(_XERIAL_MAGIC, 1, 1)]
    for start in range(0, len(view), _XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK]))
        parts += (_INT.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: Buffer, max_size: int) -> Buffer:
    view = memoryview(data)
    if bytes(view[:8]) != _XERIAL_MAGIC:
        return _decompress_block(view, max_size, max_size)
    if len(view) < _XERIAL_HEADER.size:
        raise CompressionError("snappy: the framing header is cut off")
    out: list[Buffer] = []
    left = max_size
    pos = _XERIAL_HEADER.size
    while pos + 4 <= len(view):  # Java's reader drops up to three bytes at the end
        if bytes(view[pos : pos + 8]) == _XERIAL_MAGIC:
            pos += _XERIAL_HEADER.size  # framed data behind framed data goes on
            continue
        size = _INT.unpack_from(view, pos)[0]
        pos += 4
        if size < 0 or size > len(view) - pos:
            raise CompressionError(f"snappy: a block claims {size} bytes, {len(view) - pos} remain")
        block = _decompress_block(view[pos : pos + size], left, max_size)
        left -= len(block)
        out.append(block)
        pos += size
    return out[0] if len(out) == 1 else b"".join(out)


def _decompress_block(block: memoryview, left: int, max_size: int) -> Buffer:
    import cramjam

    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > left:
            raise CompressionError(f"snappy: data inflates beyond {max_size} bytes")
        # A stated length far beyond what the format can reach is corrupt: do not allocate for it.
        if size > len(block) * 64 + 64:
            raise CompressionError("snappy: the stated length cannot come from this block")
        out = bytearray(size)
        written = cramjam.snappy.decompress_raw_into(block, out)
    except cramjam.DecompressionError as exc:
        raise CompressionError(f"snappy: corrupt data: {exc}") from None
    return memoryview(out)[:written]
