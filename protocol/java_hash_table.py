"""Sets that are walked in the order of a Java hash table.

Kafka's assignors and records go through maps and sets of Java, so who gets which partition depends on the order in
which a `java.util.HashMap` gives its keys: by their hash in as many slots as the table has, and in the order of arrival
within a slot. Only the trees that Java makes of slots with nine keys and more (in tables of 64 slots and more) are left
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from odradek.protocol.java_maps import hash_of_text

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
