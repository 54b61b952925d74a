"""Which partition of a coordinator's topic a group id or transactional id belongs to."""

from __future__ import annotations

from functools import lru_cache

from odradek.protocol.java_maps import signed_hash_of_text

_INT_MIN = -(1 << 31)


@lru_cache(maxsize=1 << 16)
def partition_for(key: str, partitions: int) -> int:
    """The partition of `key` among `partitions`: `abs(hashCode) % n`, where the smallest int counts as 0."""
    value = signed_hash_of_text(key)
    return 0 if value == _INT_MIN else abs(value) % partitions
