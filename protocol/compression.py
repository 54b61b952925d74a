"""The compression codecs of record batches, each with a bound on what it may inflate to.

gzip, zstd and the LZ4 frame format are the standard ones (LZ4 with independent blocks: Java's reader refuses linked
ones). Snappy has two forms on the wire: the plain block of the snappy format and the block framing of Java's
xerial library, which Kafka's own clients write; both are read, the framed one is written.

cramjam, the library behind them, is loaded with the first batch that is compressed.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterable
from enum import IntEnum

from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.records import Buffer

DEFAULT_MAX_INFLATED = 128 * 1024 * 1024
"""Largest record body, in bytes, that a compressed batch may inflate to."""

_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_START = int.from_bytes(_XERIAL_MAGIC[:4], signed=True)
_XERIAL_HEADER = struct.Struct(">8sii")
_XERIAL_BLOCK = 32 * 1024
_INT = struct.Struct(">i")
_LZ4_MAGIC = struct.Struct("<I")
_FIRST_GUESS = 64 * 1024
_LARGE = 8 * 1024 * 1024
"""From here on the memory is mapped: it costs what is written to it, and neither zeroing nor a second try."""
_SMALLEST_PART = 16 * 1024
"""What a block or a gzip member counts at least, so that millions of empty ones are no work for ever."""


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


class InflatesTooFarError(CompressionError):
    """The data inflate beyond the bound. They may be corrupt, too."""

    def __init__(self, codec: Codec, max_size: int) -> None:
        super().__init__(f"{codec.name.lower()}: data inflates beyond {max_size} bytes")


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
    view = memoryview(data)
    for start in range(0, len(view), _LARGE):
        stream.compress(bytes(view[start : start + _LARGE]))  # it takes nothing but bytes
    return bytes(stream.finish())


def compress_pieces(codec: Codec, pieces: Iterable[Buffer]) -> bytes:
    """Compress a body that comes in pieces, which are never together in memory, at the codec's default level."""
    import cramjam

    if codec is Codec.NONE:
        return b"".join(pieces)
    if codec is Codec.SNAPPY:
        return _compress_xerial_pieces(pieces)
    level = DEFAULT_LEVELS[codec]
    if codec is Codec.LZ4:
        stream = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    else:
        stream = (cramjam.gzip if codec is Codec.GZIP else cramjam.zstd).Compressor(level=level)
    for piece in pieces:
        stream.compress(bytes(piece))
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
        out = _room(size)
        try:
            written = module.decompress_into(data, out)  # type: ignore[attr-defined]
        except cramjam.DecompressionError as exc:
            if isinstance(out, mmap.mmap):
                out.close()  # the error that is raised may live on
            if "whole buffer" not in str(exc):
                if codec is Codec.GZIP:
                    return _gunzip(data, max_size)
                raise CompressionError(f"{codec.name.lower()}: corrupt data: {exc}") from None
            if size >= max_size:
                raise InflatesTooFarError(codec, max_size) from None
            size = max_size if size * 8 > _LARGE else min(max_size, size * 8)
            continue
        return memoryview(out)[:written]


def _room(size: int) -> bytearray | mmap.mmap:
    return bytearray(size) if size <= _LARGE else mmap.mmap(-1, size)


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
    view = memoryview(data)
    out: list[bytes] = []
    left = max_size
    pos = 0
    while not out or bytes(view[pos : pos + 2]) == b"\x1f\x8b":
        if left < 0:
            raise InflatesTooFarError(Codec.GZIP, max_size)
        member = zlib.decompressobj(wbits=31)
        size = 0
        while not member.eof:
            if pos >= len(view):
                raise CompressionError("gzip: the data is cut off")
            fed = view[pos : pos + _FIRST_GUESS]
            try:
                out.append(member.decompress(fed, left + 1 - size))
            except zlib.error as exc:
                raise CompressionError(f"gzip: corrupt data: {exc}") from None
            size += len(out[-1])
            if size > left:
                raise InflatesTooFarError(Codec.GZIP, max_size)
            pos += len(fed) - len(member.unused_data)
        left -= max(size, _SMALLEST_PART)
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
    return _compress_xerial_pieces((data,))


def _compress_xerial_pieces(pieces: Iterable[Buffer]) -> bytes:
    """Java's framing: blocks of `_XERIAL_BLOCK` bytes, whatever the sizes of the pieces are."""
    import cramjam

    parts = [_XERIAL_HEADER.pack(_XERIAL_MAGIC, 1, 1)]

    def add(block: Buffer) -> None:
        packed = bytes(cramjam.snappy.compress_raw(block))
        parts.extend((_INT.pack(len(packed)), packed))

    rest = b""
    for piece in pieces:
        view = memoryview(rest + piece if rest else piece)
        whole = len(view) - len(view) % _XERIAL_BLOCK
        for start in range(0, whole, _XERIAL_BLOCK):
            add(view[start : start + _XERIAL_BLOCK])
        rest = bytes(view[whole:])
    if rest:
        add(rest)
    return b"".join(parts)


def _decompress_snappy(data: Buffer, max_size: int) -> Buffer:
    import cramjam

    view = memoryview(data)
    blocks = [view] if bytes(view[:8]) != _XERIAL_MAGIC else _snappy_blocks(view)
    try:
        if len(blocks) == 1:
            out = memoryview(_room(_stated_size(blocks[0], max_size, max_size)))
            return out[: cramjam.snappy.decompress_raw_into(blocks[0], out)]
        sizes = []
        left = max_size
        for block in blocks:
            sizes.append(_stated_size(block, left, max_size))
            left -= max(sizes[-1], _SMALLEST_PART)
        out = memoryview(_room(sum(sizes)))
        pos = 0
        for block, size in zip(blocks, sizes, strict=True):
            pos += cramjam.snappy.decompress_raw_into(block, out[pos : pos + size])
    except cramjam.DecompressionError as exc:
        raise CompressionError(f"snappy: corrupt data: {exc}") from None
    return out[:pos]


def _stated_size(block: memoryview, left: int, max_size: int) -> int:
    import cramjam

    size: int = cramjam.snappy.decompress_raw_len(block)
    # A stated length far beyond what the format can reach is corrupt: do not allocate for it.
    if size > len(block) * 64 + 64:
        raise CompressionError("snappy: the stated length cannot come from this block")
    if size > left:
        raise InflatesTooFarError(Codec.SNAPPY, max_size)
    return size


def _snappy_blocks(view: memoryview) -> list[memoryview]:
    if len(view) < _XERIAL_HEADER.size:
        raise CompressionError("snappy: the framing header is cut off")
    blocks = []
    end = len(view)
    pos = _XERIAL_HEADER.size
    while pos + 4 <= end:  # Java's reader drops up to three bytes at the end
        size = _INT.unpack_from(view, pos)[0]
        if size == _XERIAL_START and bytes(view[pos : pos + 8]) == _XERIAL_MAGIC:
            pos += _XERIAL_HEADER.size  # framed data behind framed data goes on
            continue
        pos += 4
        if size < 0 or size > end - pos:
            raise CompressionError(f"snappy: a block claims {size} bytes, {end - pos} remain")
        blocks.append(view[pos : pos + size])
        pos += size
    return blocks
