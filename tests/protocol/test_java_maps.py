"""Orders of hash maps, against lists that a real Kafka 4.3.1 gave."""

from __future__ import annotations

import pytest

from odradek.protocol.java_maps import (
    HashTable,
    concurrent_order,
    hash_of_long,
    hash_of_number,
    hash_of_partition,
    hash_of_text,
    hash_of_uuid,
    in_set_order,
    java_order,
    scala_order,
    scala_order_by_topic,
    scala_trie_order,
    signed_hash_of_text,
    slots_for,
    slots_of_copy,
    slots_of_map,
    timeline_bits,
    trie_order_by_topic,
)
from odradek.protocol.uuids import uuid_from_text


def test_hashes_are_javas() -> None:
    # From java.lang.String and TopicPartition: "x", an umlaut, a character of two units, and x-0, x-1.
    assert [hash_of_text(text) for text in ("", "x", "hello", "é")] == [0, 120, 99162322, 233]
    assert hash_of_text("\U0001f600") == 0xD83D * 31 + 0xDE00
    assert hash_of_partition(("x", 1)) - hash_of_partition(("x", 0)) == 31


@pytest.mark.parametrize(
    ("number", "code"), [(0, 0), (5, 5), (1 << 32, 1), (5 | 1 << 32, 4), (-1, 0), (-2, 1), ((1 << 63) - 1, 1 << 31)]
)
def test_the_hash_of_a_long_is_javas(number: int, code: int) -> None:
    assert hash_of_long(number) == code


def test_an_immutable_map_of_scala_keeps_four_keys_in_their_order() -> None:
    few = [("a", index) for index in (7, 40, 41, 1000)]
    assert trie_order_by_topic(few) == [("a", [index for _, index in scala_order(few, hash_of_partition)])]
    more = [*few, ("a", 2)]
    ordered = scala_trie_order(scala_order(more, hash_of_partition), hash_of_partition)
    assert trie_order_by_topic(more) == [("a", [index for _, index in ordered])]
    assert [index for _, index in ordered] != [index for _, index in scala_order(more, hash_of_partition)]


@pytest.mark.parametrize(
    ("peak", "bits"), [(0, 1), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (10, 3), (11, 4), (21, 4), (22, 5)]
)
def test_kafkas_versioned_table_grows_when_it_is_overfull_by_a_third(peak: int, bits: int) -> None:
    assert timeline_bits(peak) == bits


@pytest.mark.parametrize(("size", "slots"), [(12, 16), (13, 32), (24, 32), (25, 64)])
def test_a_java_map_grows_behind_three_quarters_and_a_concurrent_one_before(size: int, slots: int) -> None:
    assert slots_of_map(size) == slots
    keys = [f"t{number}" for number in range(size)]
    later = slots_of_map(size + 1)
    expected = sorted(keys, key=lambda key: (hash_of_text(key) ^ hash_of_text(key) >> 16) & later - 1)
    assert concurrent_order(keys, hash_of_text) == expected


def test_create_partitions_answers_in_the_order_of_a_java_map() -> None:
    assert java_order(["nope", "a b", "", "nope"], hash_of_text) == ["", "a b", "nope"]


def test_groups_are_deleted_in_the_order_of_a_java_set_by_partition() -> None:
    asked = ["g926", "g585", "g582", "g106", "g730", "g671", "g216", "g648", "g851"]
    by_partition: dict[tuple[str, int], list[str]] = {}
    for group in java_order(asked, hash_of_text):
        code = hash_of_text(group)
        index = abs(code - (1 << 32) if code >> 31 else code) % 5
        by_partition.setdefault(("__consumer_offsets", index), []).append(group)
    answered = [group for key in java_order(by_partition, hash_of_partition) for group in by_partition[key]]
    assert answered == ["g585", "g648", "g926", "g106", "g851", "g671", "g216", "g730", "g582"]


def test_list_offsets_answers_in_the_order_of_scalas_maps() -> None:
    assert scala_order_by_topic([("a", 0), ("a", 1)]) == [("a", [1, 0])]
    assert scala_order_by_topic([("a", 0), ("a", 2)]) == [("a", [2, 0])]
    assert scala_order_by_topic([("a", 0), ("", 0)]) == [("", [0]), ("a", [0])]
    assert scala_order_by_topic([("a", 0), ("nonesuch", 0)]) == [("a", [0]), ("nonesuch", [0])]


def test_a_large_answer_of_list_offsets() -> None:
    asked = {"orders": range(20), "payments.v2": [3, 1, 2], "audit_log": [5], "x": [40, 41, 1000]}
    assert scala_order_by_topic([(topic, index) for topic, indexes in asked.items() for index in indexes]) == [
        ("x", [41, 40, 1000]),
        ("payments.v2", [2, 1, 3]),
        ("audit_log", [5]),
        ("orders", [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 1, 2, 3, 4, 5, 6]),
    ]


def test_keys_are_put_in_once() -> None:
    keys = [f"t{number}" for number in range(100)]
    for order in (java_order, scala_order, scala_trie_order):
        assert sorted(order(keys + keys, hash_of_text)) == sorted(keys)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -2147483648),
        ("Aa", 2112),
        ("BB", 2112),
        ("\u00e9", 233),
        ("\U0001f600", 1772899),
    ],
)
def test_hash_of_text_is_javas(text: str, value: int) -> None:
    """Values from Java's documentation of the formula, and of well-known strings."""
    assert signed_hash_of_text(text) == value
    assert hash_of_text(text) == value % (1 << 32)


# -- Sets that are walked in the order of a Java hash table.


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
