"""Which partition of a coordinator's topic a group id or transactional id belongs to."""

from __future__ import annotations

from functools import lru_cache

_INT_MIN = -(1 << 31)


def java_string_hash(text: str) -> int:
    """Java's ``String.hashCode``: a signed 32-bit value over UTF-16 code units."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for i in range(0, len(units), 2):
        value = (31 * value + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


@lru_cache(maxsize=1 << 16)
def partition_for(key: str, partitions: int) -> int:
    """The partition of ``key`` among ``partitions``: ``abs(hashCode) % n``, where the smallest int counts as 0."""
    value = java_string_hash(key)
    return 0 if value == _INT_MIN else abs(value) % partitions
