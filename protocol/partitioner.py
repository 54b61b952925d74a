"""Chooses the partition of a record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from struct import iter_unpack

_SEED = 0x9747B28C
_M = 0x5BD1E995
_WORD = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32 bits of MurmurHash2 (Austin Appleby's, public domain) with the seed of Kafka's Java client."""
    whole = len(data) & ~3
    code = _SEED ^ len(data)
    for (word,) in iter_unpack("<I", data[:whole]):
        mixed = word * _M & _WORD
        mixed = (mixed ^ mixed >> 24) * _M & _WORD
        code = code * _M & _WORD ^ mixed
    rest = data[whole:]
    if rest:
        code = (code ^ int.from_bytes(rest, "little")) * _M & _WORD
    code = (code ^ code >> 13) * _M & _WORD
    return code ^ code >> 15


class Partitioner:
    """Chooses by key, like the Java client (``murmur2_random`` in librdkafka, whose own default is CRC32).

    Records without a key go to the partitions of their topic in turn, starting with 0: Kafka makes no promise here, but
    a test needs a fixed order. Usable from any thread.
    """

    def __init__(self) -> None:
        self._turns: defaultdict[str, Iterator[int]] = defaultdict(count)

    def partition(self, topic: str, key: bytes | None, partitions: int) -> int:
        """The index of a partition, for a topic with this number of partitions."""
        if key is None:
            return next(self._turns[topic]) % partitions
        return (murmur2(key) & 0x7FFFFFFF) % partitions
