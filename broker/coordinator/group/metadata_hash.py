"""The number by which a group remembers the topics it is subscribed to, with their partitions and racks.

It is stored with the group's epoch (KIP-1101): when topics change, the number computed anew differs, and the group
rebalances. A topic that does not exist counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct

from odradek.broker.coordinator.group.topic_source import TopicFacts

_INT32 = Struct("<i")
_MAGIC = b"\0"


def topic_hash(name: str, topic_id: bytes, racks: Sequence[Sequence[str]]) -> int:
    """The hash of one topic; `racks` has, for each partition, the racks of its replicas (empty where unknown)."""
    parts = [_MAGIC, topic_id[7::-1], topic_id[:7:-1], _text(name), _INT32.pack(len(racks))]
    for partition, names in enumerate(racks):
        parts.append(_INT32.pack(partition))
        for rack in sorted(names, key=_order):
            parts += (_INT32.pack(len(rack.encode("utf-16-le")) // 2), _text(rack))
    return _hash64(b"".join(parts))


@lru_cache(maxsize=1 << 8)
def hash_of_topic(topic: TopicFacts) -> int:
    """The same for a topic as it is known: each coordinator asks once for its groups."""
    return topic_hash(topic.name, topic.topic_id, topic.racks)


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """The hash of a group from those of its topics by name; 0 without any."""
    if not topic_hashes:
        return 0
    ordered = sorted(topic_hashes, key=_order)
    return _hash64(b"".join(topic_hashes[name].to_bytes(8, "little", signed=True) for name in ordered))


def _hash64(data: bytes) -> int:
    """XXH3 as a signed number of 64 bits, as Java has it."""
    from xxhash import xxh3_64_digest

    return int.from_bytes(xxh3_64_digest(data), "big", signed=True)


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + _INT32.pack(len(units) // 2)


def _order(text: str) -> bytes:
    """The order of `String.compareTo`."""
    return text.encode("utf-16-be", "surrogatepass")
