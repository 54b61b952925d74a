"""Record bodies of many rows at once: Arrow joins the bytes of fields, instead of a call of the codec for each record.

The counterpart of `odradek.pipeline.record_columns`. What stands between keys, values and headers are varints: numpy
writes those of all rows, and Arrow puts prefix, key, prefix, value and headers of each row behind one another.
Source: KIP-98 (record format v2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_SEVEN = np.uint64(7)
_LOW = np.uint64(0x7F)
_OVERHEAD = 24
_SEED, _M = np.uint32(0x9747B28C), np.uint32(0x5BD1E995)


def row_sizes(rows: pa.RecordBatch) -> Ints:
    """About how many bytes each row takes as a record: of keys and values it is exact. Columns as in `body_of`."""
    sizes = np.maximum(_sizes(rows["key"]), 0) + np.maximum(_sizes(rows["value"]), 0)
    headers = rows["headers"]
    if headers.null_count < len(headers):
        names, values = _header_fields(headers)
        each = np.maximum(_sizes(names), 0) + np.maximum(_sizes(values), 0) + _OVERHEAD
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(each)])
        counts = np.cumsum(_counts(headers))
        sizes = sizes + ends[counts] - ends[np.concatenate([np.zeros(1, np.int64), counts[:-1]])]
    return sizes + _OVERHEAD


def body_of(rows: pa.RecordBatch, base_timestamp: int) -> bytes:
    """The records of a batch, not compressed; offsets run from the batch's own.

    Columns: ``timestamp_ms`` (int64), ``key`` and ``value`` (binary), ``headers`` (list of structs of a string and a
    binary).
    """
    count = rows.num_rows
    key, value, headers = rows["key"], rows["value"], rows["headers"]
    timestamp = np.asarray(rows["timestamp_ms"]) - base_timestamp
    key_size, value_size, header_count = _sizes(key), _sizes(value), _counts(headers)
    tail = _as_bytes([header_count])
    if header_count.any():
        tail = pc.binary_join_element_wise(tail, _joined_headers(headers, header_count), b"")
    front = [timestamp, np.arange(count, dtype=np.int64), key_size]
    length = 1 + sum(_widths(each) for each in [*front, value_size])  # 1: the attributes, which say nothing
    length = length + np.maximum(key_size, 0) + np.maximum(value_size, 0) + _sizes(tail)
    prefix = _as_bytes([length, np.zeros(count, np.int64), *front])
    parts = (prefix, key, _as_bytes([value_size]), value, tail, b"")
    joined = pc.binary_join_element_wise(*parts, null_handling="replace", null_replacement=b"")
    return _content(joined)


def partitions_by_key(keys: pa.Array, count: int) -> Ints:
    """The partitions that the Java client chooses for keys: `odradek.protocol.partitioner.murmur2` of all at once.

    Of a null the result means nothing.
    """
    data, start, sizes = _places(keys)
    padded = np.concatenate([data, np.zeros(4, np.uint8)])
    code = _SEED ^ sizes.astype(np.uint32)
    words = sizes // 4
    with np.errstate(over="ignore"):
        for number in range(int(words.max(initial=0))):
            rows = np.flatnonzero(words > number)
            mixed = _word(padded, start[rows] + 4 * number, 4) * _M
            mixed = (mixed ^ mixed >> np.uint32(24)) * _M
            code[rows] = code[rows] * _M ^ mixed
        for left in (1, 2, 3):
            rows = np.flatnonzero(sizes % 4 == left)
            code[rows] = (code[rows] ^ _word(padded, start[rows] + 4 * words[rows], left)) * _M
        code = (code ^ code >> np.uint32(13)) * _M
    code ^= code >> np.uint32(15)
    return (code & np.uint32(0x7FFFFFFF)).astype(np.int64) % count


def _word(data: NDArray[np.uint8], at: Ints, size: int) -> NDArray[np.uint32]:
    """The little-endian numbers at some positions."""
    found = np.zeros(len(at), np.uint32)
    for place in range(size):
        found |= data[at + place].astype(np.uint32) << np.uint32(8 * place)
    return found


# --- Arrow's arrays ---------------------------------------------------------------------------------------------------


def _places(array: pa.Array) -> tuple[NDArray[np.uint8], Ints, Ints]:
    """The bytes of a binary array, and where each element begins and how long it is."""
    _, offsets, data = array.buffers()
    held = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return held, bounds[:-1], np.diff(bounds)


def _sizes(array: pa.Array) -> Ints:
    """Bytes of each element; -1 for null."""
    return np.asarray(pc.fill_null(pc.binary_length(array), -1)).astype(np.int64)


def _counts(headers: pa.Array) -> Ints:
    return np.asarray(pc.fill_null(pc.list_value_length(headers), 0)).astype(np.int64)


def _content(array: pa.Array) -> bytes:
    """The elements of a binary array without nulls, one behind the other."""
    data, start, sizes = _places(array)
    first = int(start[0]) if len(array) else 0
    return data[first : first + int(sizes.sum())].tobytes()


def _header_fields(headers: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Names and values of the headers of all rows."""
    names, values = headers.flatten().flatten()
    return names.cast(pa.binary()), values


def _joined_headers(headers: pa.Array, counts: Ints) -> pa.Array:
    """The headers of each row as bytes."""
    names, values = _header_fields(headers)
    parts = (_as_bytes([_sizes(names)]), names, _as_bytes([_sizes(values)]), values, b"")
    joined = pc.binary_join_element_wise(*parts, null_handling="replace", null_replacement=b"")
    ends = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), joined), b"")


# --- varints ----------------------------------------------------------------------------------------------------------


def _zigzag(values: Ints) -> NDArray[np.uint64]:
    return ((values << np.int64(1)) ^ (values >> np.int64(63))).view(np.uint64)


def _widths(values: Ints) -> Ints:
    """Bytes of each number as a varint."""
    return _widths_of(_zigzag(values))


def _widths_of(raw: NDArray[np.uint64]) -> Ints:
    width = np.ones(len(raw), np.int64)
    rest = raw >> _SEVEN
    while rest.any():
        width += rest > 0
        rest = rest >> _SEVEN
    return width


def _as_bytes(fields: list[Ints]) -> pa.Array:
    """The numbers of each row as varints, one behind the other."""
    columns: list[Any] = []
    kept: list[Any] = []
    for values in fields:
        raw = _zigzag(values)
        width = _widths_of(raw)
        for place in range(int(width.max(initial=1))):
            more = width > place + 1
            columns.append(((raw & _LOW).astype(np.uint8)) | (more.astype(np.uint8) << np.uint8(7)))
            kept.append(width > place)
            raw = raw >> _SEVEN
    written, wanted = np.stack(columns, axis=1), np.stack(kept, axis=1)
    bounds = np.zeros(len(written) + 1, np.int32)
    np.cumsum(wanted.sum(axis=1), out=bounds[1:])
    return pa.Array.from_buffers(pa.binary(), len(written), [None, pa.py_buffer(bounds), pa.py_buffer(written[wanted])])
