"""Java's hashes, and the order in which Kafka lists what it keeps in hash maps.

Some answers of Kafka repeat what was asked in the order of a Java or Scala hash map. The order is a pure function of
the keys, so it can be had without the maps: these functions sort keys as `java.util.HashMap`, Scala's mutable `HashMap`
and the tries of its immutable one would. Keys are given in the order in which they are put in. A `HashTable` is for
keys that come and go.

Kafka's assignors and records go through maps and sets of Java, so who gets which partition depends on the order in
which a `java.util.HashMap` gives its keys: by their hash in as many slots as the table has, and in the order of arrival
within a slot. Only the trees that Java makes of slots with nine keys and more (in tables of 64 slots and more) are left
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from odradek.protocol.native import i64
from odradek.protocol.text_cache import text_cache

K = TypeVar("K")
Hash = Callable[[K], int]

_MASK: Final = 0xFFFFFFFF
_SMALLEST: Final = 16
_FEW: Final = 4
_FIBONACCI: Final = -7046029254386353131
_LONG_MASK: Final = (1 << 64) - 1


@text_cache(1 << 14)
def hash_of_text(text: str) -> int:
    """`String.hashCode`, as an unsigned number of 32 bits. Remembered: the ids of a group are hashed over and over."""
    code: i64 = 0
    unit: i64
    if text.isascii():
        units: bytes = text.encode()
        for unit in units:
            code = (code * 31 + unit) & 0xFFFFFFFF
        return code
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        code = (code * 31 + unit) & 0xFFFFFFFF
    return code


def signed_hash_of_text(text: str) -> int:
    """`String.hashCode` as Java has it: a signed number of 32 bits."""
    return _signed(hash_of_text(text))


def hash_of_partition(partition: tuple[str, int]) -> int:
    """`TopicPartition.hashCode` of (topic, partition)."""
    topic, index = partition
    return (31 * (31 + index) + hash_of_text(topic)) & _MASK


def hash_of_number(number: int) -> int:
    """`Integer.hashCode`, as an unsigned number of 32 bits."""
    return number & _MASK


def hash_of_long(number: int) -> int:
    """`Long.hashCode`, as an unsigned number of 32 bits."""
    return ((number >> 32) ^ number) & _MASK


def hash_of_uuid(uuid: bytes) -> int:
    """`Uuid.hashCode` of Kafka, as an unsigned number of 32 bits."""
    mixed = int.from_bytes(uuid[:8], "big") ^ int.from_bytes(uuid[8:], "big")
    return (mixed >> 32) ^ (mixed & 0xFFFFFFFF)


def java_order(keys: Iterable[K], hash_of: Hash[K], slots: int = _SMALLEST) -> list[K]:
    """Distinct keys in the order of a `java.util.HashMap` or `HashSet` that grew with them.

    `slots`: how many it had at first, a power of 2.
    """
    distinct = list(dict.fromkeys(keys))
    mask = slots_of_map(len(distinct), slots) - 1
    return sorted(distinct, key=lambda key: spread(hash_of(key)) & mask)


def concurrent_order(keys: Iterable[K], hash_of: Hash[K]) -> list[K]:
    """Distinct keys in the order of a `java.util.concurrent.ConcurrentHashMap`, which grows one key earlier."""
    distinct = list(dict.fromkeys(keys))
    slots = slots_of_map(len(distinct) + 1)
    return sorted(distinct, key=lambda key: spread(hash_of(key)) & (slots - 1))


def slots_of_map(size: int, slots: int = _SMALLEST) -> int:
    """How many slots a `java.util.HashMap` has that grew to that size; `slots`: how many it had at first."""
    while slots * 3 // 4 < size:
        slots *= 2
    return slots


def timeline_order(present: Sequence[str], peak: int) -> list[str]:
    """Texts as Kafka walks its versioned hash table (`TimelineHashMap`), such as the members of a group.

    `present` is in the order of arrival. `peak`: the most keys that the table has made room for since it was loaded,
    which is one more than there were if one was updated.
    """
    shift = 64 - timeline_bits(peak)
    latest_first = present[::-1]
    return sorted(latest_first, key=lambda member_id: timeline_hash(member_id) >> shift)


def timeline_bits(peak: int) -> int:
    """How many bits of a hash select the slot in Kafka's versioned hash table.

    It grows when it is overfull by a third.
    """
    bits = 1
    while peak * 3 > 4 << bits:
        bits += 1
    return bits


@text_cache(1 << 14)
def timeline_hash(text: str) -> int:
    """The Fibonacci hash of a text; its upper bits are the text's slot in Kafka's versioned hash table.

    Keys of one slot are walked latest first.
    """
    return signed_hash_of_text(text) * _FIBONACCI & _LONG_MASK


def scala_order(keys: Iterable[K], hash_of: Hash[K]) -> list[K]:
    """Distinct keys in the order of a `scala.collection.mutable.HashMap`: within a slot by their hash."""
    distinct = list(dict.fromkeys(keys))
    slots = _SMALLEST
    while slots * 3 // 4 <= len(distinct):
        slots *= 2

    def place(key: K) -> tuple[int, int]:
        code = spread(hash_of(key))
        return code & (slots - 1), _signed(code)

    return sorted(distinct, key=place)


def scala_trie_order(keys: Iterable[K], hash_of: Hash[K]) -> list[K]:
    """Distinct keys in the order of a `scala.collection.immutable.HashMap`: a trie over five bits of hash at a time.

    The keys that end in a node come first, by their five bits, then what hangs below it.
    """
    return _trie([(_improved(hash_of(key)), key) for key in dict.fromkeys(keys)], 0)


def scala_order_by_topic(partitions: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    """Partitions grouped by topic, as a mutable map of Scala and then its `groupBy` would give them."""
    by_topic: dict[str, list[tuple[str, int]]] = {}
    for partition in scala_order(partitions, hash_of_partition):
        by_topic.setdefault(partition[0], []).append(partition)
    return [
        (topic, [index for _, index in scala_order(by_topic[topic], hash_of_partition)])
        for topic in scala_trie_order(by_topic, hash_of_text)
    ]


def trie_order_by_topic(partitions: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    """The same of an immutable map, which keeps up to four keys in their order."""
    ordered = scala_order(partitions, hash_of_partition)
    if len(ordered) > _FEW:
        ordered = scala_trie_order(ordered, hash_of_partition)
    by_topic: dict[str, list[int]] = {}
    for topic, index in ordered:
        by_topic.setdefault(topic, []).append(index)
    return [(topic, by_topic[topic]) for topic in scala_trie_order(by_topic, hash_of_text)]


def _trie(entries: list[tuple[int, K]], shift: int) -> list[K]:
    branches: dict[int, list[tuple[int, K]]] = {}
    for entry in entries:
        branches.setdefault(entry[0] >> shift & 31, []).append(entry)
    here: list[K] = []
    below: list[K] = []
    for _, branch in sorted(branches.items()):
        if len(branch) == 1 or shift > 30:
            here += [key for _, key in branch]
        else:
            below += _trie(branch, shift + 5)
    return here + below


def spread(code: int) -> int:
    """The spread hash of a hash table in Java or Scala: the lower bits are the slot."""
    return code ^ code >> 16


def _improved(code: int) -> int:
    """`scala.collection.Hashing.improve`."""
    code = (code + (~(code << 9) & _MASK)) & _MASK
    code ^= code >> 14
    code = (code + (code << 4)) & _MASK
    return code ^ code >> 10


def _signed(code: int) -> int:
    return code - (1 << 32) if code >> 31 else code


# -- Sets that are walked in the order of a Java hash table.


DEFAULT_SLOTS: Final = 16
CROWDED: Final = 9
"""A slot with so many keys makes a table grow that has less than `TREES_FROM` slots."""
TREES_FROM: Final = 64


def slots_for(capacity: int) -> int:
    """How many slots `new HashMap(capacity)` gets: the next power of two."""
    return 1 if capacity <= 1 else 1 << (capacity - 1).bit_length()


def slots_to_hold(size: int) -> int:
    """How many slots a table gets that is made for so many keys: it is three quarters full at most."""
    return slots_for(size * 4 // 3 + 1)


def slots_of_copy(size: int) -> int:
    """How many slots a `HashSet` made from a collection of `size` gets (JDK 17)."""
    return max(slots_to_hold(size), DEFAULT_SLOTS)


class HashTable:
    """The keys of a `HashMap` or `HashSet`, all of one type. Walking it gives them in Java's order.

    `hash_of`: the hash of a key. A table of `slots` slots is made, and grows with the `keys`.
    """

    __slots__ = ("_hash_of", "_keys", "_slots", "_turn")

    def __init__(self, hash_of: Callable[[Any], int], keys: Iterable[Any] = (), slots: int = DEFAULT_SLOTS) -> None:
        self._hash_of = hash_of
        self._slots = slots
        self._turn = 0
        self._keys: dict[Any, tuple[int, int]] = {}  # hash, and place within a slot
        self.add_all(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: Any) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Any]:
        mask = self._slots - 1
        placed = sorted([(code & mask, turn, key) for key, (code, turn) in self._keys.items()])  # no two turns alike
        return iter([key for _, _, key in placed])

    def add(self, key: Any) -> None:
        """`put` or `add`: the key comes last in its slot, and the table grows when it is too full after that."""
        if key in self._keys:
            return
        code = self._place(key, 1)
        if len(self._keys) > self._slots * 3 // 4 or self._is_crowded(code):
            self._slots *= 2

    def add_all(self, keys: Iterable[Any]) -> None:
        """`add` each."""
        if self._turn:
            for key in keys:
                self.add(key)
            return
        slots, distinct = self._slots, dict.fromkeys(keys)
        self._fill(distinct)
        if len(distinct) >= CROWDED and slots < TREES_FROM and (self._slots > slots or self._has_crowd()):
            self._keys, self._slots, self._turn = {}, slots, 0
            for key in distinct:
                self.add(key)

    def _fill(self, keys: Collection[Any]) -> None:
        """`add` each into a new table in which no slot becomes crowded."""
        hash_of, known = self._hash_of, self._keys
        for turn, key in enumerate(keys, 1):
            code = hash_of(key)
            known[key] = (code ^ code >> 16, turn)
        self._turn = len(known)
        while len(known) > self._slots * 3 // 4:
            self._slots *= 2

    def add_first(self, key: Any) -> None:
        """`computeIfAbsent`: the table grows before it looks for the key, and a new key comes first in its slot."""
        if len(self._keys) > self._slots * 3 // 4:
            self._slots *= 2
        if key not in self._keys:
            self._place(key, -1)

    def discard(self, key: Any) -> None:
        """Take a key out; the table keeps its slots."""
        self._keys.pop(key, None)

    def _place(self, key: Any, direction: int) -> int:
        code = self._hash_of(key)
        code ^= code >> 16
        self._turn += 1
        self._keys[key] = (code, self._turn * direction)
        return code

    def _has_crowd(self) -> bool:
        mask = self._slots - 1
        return max(Counter(code & mask for code, _ in self._keys.values()).values()) >= CROWDED

    def _is_crowded(self, code: int) -> bool:
        if self._slots >= TREES_FROM or len(self._keys) < CROWDED:
            return False
        mask = self._slots - 1
        alike = 0
        for other, _ in self._keys.values():
            if (other ^ code) & mask == 0:
                alike += 1
        return alike >= CROWDED


def in_set_order(texts: Iterable[str]) -> list[str]:
    """Texts in the order of `new HashSet<>(list)`."""
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < 2:
        return distinct
    return list(HashTable(hash_of_text, distinct, slots_of_copy(len(distinct))))
