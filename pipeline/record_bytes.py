"""Encodes the records of many rows at once: Arrow joins the bytes of fields, without a codec call for each record.

The reverse of `odradek.pipeline.record_columns`. Varints stand between keys, values and headers. numpy writes the
varints of all rows, and Arrow concatenates prefix, key, prefix, value and headers of each row.
Source: KIP-98 (record format v2).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """The estimated size of each row as a record. Sizes of keys and values are exact. Columns as in `records_of`."""
    sizes = np.maximum(_sizes(rows["key"]), 0) + np.maximum(_sizes(rows["value"]), 0)
    headers = rows["headers"]
    if headers.null_count < len(headers):
        names, values = _header_fields(headers)
        each = np.maximum(_sizes(names), 0) + np.maximum(_sizes(values), 0) + _OVERHEAD
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(each)])
        counts = np.cumsum(_counts(headers))
        sizes = sizes + ends[counts] - ends[np.concatenate([np.zeros(1, np.int64), counts[:-1]])]
    return sizes + _OVERHEAD


class Records(NamedTuple):
    """The uncompressed records of a batch, and their fields in the batch's header."""

    body: memoryview
    record_count: int
    first_timestamp: int
    max_timestamp: int


def records_of(rows: pa.RecordBatch, order: Ints, begins: Ints) -> list[Records]:
    """The records of several batches, encoded at once. The offset deltas of each batch start at 0.

    Columns: ``timestamp_ms`` (int64), ``key`` and ``value`` (binary), ``headers`` (list of structs of a string and a
    binary). ``order``: row numbers, batch after batch. ``begins``: the index in it at which each batch begins.
    """
    key, value, headers = rows["key"], rows["value"], rows["headers"]
    header_count = _counts(headers)
    tail = _as_bytes([header_count])
    if header_count.any():
        tail = pc.binary_join_element_wise(tail, _joined_headers(headers, header_count), b"")
    behind_key = (_as_bytes([_sizes(value)]), value, tail)
    counts = np.diff(begins, append=len(order))
    timestamp = np.asarray(rows["timestamp_ms"])[order]
    first_timestamp = timestamp[begins]
    key_size = _sizes(key)[order]
    before_key = _as_bytes(
        [
            np.zeros(len(order), np.int64),  # the attributes, which are unused
            timestamp - np.repeat(first_timestamp, counts),
            np.arange(len(order)) - np.repeat(begins, counts),
            key_size,
        ]
    )
    length = _sizes(before_key) + np.maximum(key_size, 0)
    for each in behind_key:
        length += np.maximum(_sizes(each), 0)[order]
    data, bounds = _interleaved((_as_bytes([length]), before_key), (key, *behind_key), order)
    bodies = [data[begin:end] for begin, end in pairwise(bounds[[*begins, len(order)]].tolist())]
    latest = np.maximum.reduceat(timestamp, begins)
    return list(map(Records, bodies, counts.tolist(), first_timestamp.tolist(), latest.tolist()))


def _interleaved(
    ordered: Sequence[pa.Array], others: Sequence[pa.Array], order: Ints
) -> tuple[memoryview, NDArray[np.int32]]:
    """The bytes of the rows in the given order, and the bounds of the rows.

    A row consists of its elements in all arrays. The arrays in ``ordered`` have the order already.
    """
    arrays = [*ordered, *others]
    index = np.empty((len(order), len(arrays)), np.int64)
    base = 0
    for number, each in enumerate(arrays):
        index[:, number] = base + (np.arange(len(order)) if number < len(ordered) else order)
        base += len(each)
    taken = pa.concat_arrays(arrays).take(pa.array(index.ravel()))
    _, offsets, data = taken.buffers()
    return memoryview(data).cast("B"), np.frombuffer(offsets, np.int32)[:: len(arrays)]


def partitions_by_key(keys: pa.Array, count: int) -> Ints:
    """The Java client's partitions for keys: `odradek.protocol.partitioner.murmur2` for all keys at once.

    The result of a null key has no meaning.
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
    """The bytes of a binary array, with the start and the size of each element."""
    _, offsets, data = array.buffers()
    held = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return held, bounds[:-1], np.diff(bounds)


def _sizes(array: pa.Array) -> Ints:
    """Bytes of each element; -1 for null."""
    return np.asarray(pc.fill_null(pc.binary_length(array), -1)).astype(np.int64)


def _counts(headers: pa.Array) -> Ints:
    return np.asarray(pc.fill_null(pc.list_value_length(headers), 0)).astype(np.int64)


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


def _as_bytes(fields: list[Ints]) -> pa.Array:
    """The numbers of each row as concatenated varints."""
    columns: list[Any] = []
    kept: list[Any] = []
    for values in fields:
        raw = ((values << np.int64(1)) ^ (values >> np.int64(63))).view(np.uint64)
        wanted = np.ones(len(raw), np.bool_)
        while True:
            more = raw > _LOW
            columns.append((raw & _LOW).astype(np.uint8) | more.view(np.uint8) << np.uint8(7))
            kept.append(wanted)
            if not more.any():
                break
            raw, wanted = raw >> _SEVEN, more
    bounds = np.zeros(len(columns[0]) + 1, np.int32)
    np.cumsum(np.sum(kept, axis=0), out=bounds[1:])
    written = np.stack(columns, axis=1)[np.stack(kept, axis=1)]
    return pa.Array.from_buffers(pa.binary(), len(columns[0]), [None, pa.py_buffer(bounds), pa.py_buffer(written)])
