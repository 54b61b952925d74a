"""The order of Java's hash tables, seen on OpenJDK 17."""

from __future__ import annotations

from odradek.protocol.java_hash_table import HashTable, in_set_order, slots_for, slots_of_copy
from odradek.protocol.java_maps import hash_of_number, hash_of_uuid
from odradek.protocol.uuids import uuid_from_text

IVZ, REF, ZZ0 = "IVZjq8HyRLitwNp6Fv66oA", "refO837STC-Fbz2V4K4aGw", "zZ0rfSR6QzO3sLfSzagFbA"


def test_numbers_stand_by_their_slot() -> None:
    assert list(HashTable(hash_of_number, [17, 2, 1, 16])) == [16, 17, 1, 2]
    assert list(HashTable(hash_of_number, [17, 2, 1, 16], slots=32)) == [1, 2, 16, 17]


def test_the_table_grows_behind_three_quarters() -> None:
    assert list(HashTable(hash_of_number, [*range(11), 16]))[:2] == [0, 16]
    assert list(HashTable(hash_of_number, [*range(12), 16]))[:2] == [0, 1]


def test_nine_keys_in_a_slot_make_a_small_table_grow() -> None:
    assert list(HashTable(hash_of_number, [1, *range(0, 128, 16)]))[:3] == [0, 16, 32]
    assert list(HashTable(hash_of_number, [1, *range(0, 144, 16)]))[:3] == [0, 32, 64]


def test_put_appends_to_a_slot_and_compute_if_absent_heads_it() -> None:
    ids = [uuid_from_text(text) for text in (IVZ, REF, ZZ0)]
    put, computed = HashTable(hash_of_uuid, slots=1), HashTable(hash_of_uuid, slots=1)
    for topic_id in HashTable(hash_of_uuid, ids):
        put.add(topic_id)
        computed.add_first(topic_id)
    assert list(put) == [uuid_from_text(text) for text in (REF, IVZ, ZZ0)]
    assert list(computed) == [uuid_from_text(text) for text in (REF, ZZ0, IVZ)]


def test_what_is_taken_out_leaves_its_slots() -> None:
    table = HashTable(hash_of_number, [*range(13), 16])
    for number in range(1, 13):
        table.discard(number)
    assert (list(table), len(table), 16 in table, 1 in table) == ([0, 16], 2, True, False)
    table.add(33)
    assert list(table) == [0, 33, 16]


def test_keys_that_are_added_together_stand_as_if_added_one_by_one() -> None:
    for keys in ([1, *range(0, 144, 16)], [1, *range(0, 128, 16)], list(range(30)), [*range(0, 1600, 64)], [3, 3, 19]):
        one_by_one = HashTable(hash_of_number)
        for key in keys:
            one_by_one.add(key)
        begun = HashTable(hash_of_number, keys[:1])
        begun.add_all(keys)
        assert list(HashTable(hash_of_number, keys)) == list(one_by_one) == list(begun)


def test_compute_if_absent_keeps_a_key_where_it_is() -> None:
    table = HashTable(hash_of_number, [0, 16])
    table.add_first(32)
    table.add_first(16)
    assert list(table) == [32, 0, 16]


def test_a_java_hash_table_grows_as_in_java() -> None:
    assert [slots_for(n) for n in (0, 1, 2, 3, 16, 17)] == [1, 1, 2, 4, 16, 32]
    assert [slots_of_copy(n) for n in (0, 11, 12, 24)] == [16, 16, 32, 64]


def test_java_set_of_texts_has_javas_order() -> None:
    assert in_set_order(["topic-1", "b", "a", "b"]) == ["a", "b", "topic-1"]
    assert (in_set_order([]), in_set_order(["b", "b"])) == ([], ["b"])
