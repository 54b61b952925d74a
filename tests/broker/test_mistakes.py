"""Mistakes in calls name the argument, the value and what was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from odradek.broker.mistakes import ByName, NearNames, checked, did_you_mean, one_of, words_of, wrong

# -- Suggestions for misspelt names.

KNOWN = ["retention.ms", "Produce", "NOT_LEADER_OR_FOLLOWER"]


def test_the_nearest_name_is_suggested_whatever_its_case() -> None:
    assert did_you_mean("retention.mss", KNOWN) == " (did you mean 'retention.ms'?)"
    assert did_you_mean("produce", KNOWN) == " (did you mean 'Produce'?)"


def test_the_beginning_of_a_name_is_near() -> None:
    assert did_you_mean("NOT_LEADER", KNOWN) == " (did you mean 'NOT_LEADER_OR_FOLLOWER'?)"
    assert did_you_mean("not_", KNOWN) == ""


def test_nothing_is_suggested_when_nothing_is_near() -> None:
    assert did_you_mean("zzz", KNOWN) == ""


# -- Arguments.


@checked
def verb(self: object, topic: str, partition: int | None = None, *, share: float = 1, nodes: Sequence[int] = ()) -> Any:
    return topic, partition, share, nodes


@checked
def any_name(self: object, **conditions: object) -> Any:
    return conditions


def test_a_call_that_fits_is_made() -> None:
    assert verb(None, "orders", partition=None, share=0.5, nodes=[1]) == ("orders", None, 0.5, [1])
    assert any_name(None, anything=1) == {"anything": 1}


class Whole:
    def __index__(self) -> int:
        return 3


def test_a_number_of_another_library_is_a_number() -> None:
    number: Any = Whole()
    assert verb(None, "orders", number)[1] is number


@pytest.mark.parametrize(
    ("given", "named", "told"),
    [
        ((3,), {}, "topic=3: expected text"),
        ((None,), {}, "topic=None: expected text"),
        (("orders", "0"), {}, "partition='0': expected a whole number"),
        (("orders", True), {}, "partition=True: expected a whole number"),
        (("orders", 1.0), {}, "partition=1.0: expected a whole number"),
        (("orders",), {"share": "1"}, "share='1': expected a number"),
        (("orders",), {"nodes": 3}, "nodes=3: expected a list of whole numbers"),
        (("orders",), {"nodes": ["x"]}, "nodes=['x']: expected a list of whole numbers"),
        (
            ("orders",),
            {"partitions": 1},
            "verb() got an unexpected keyword argument 'partitions' (did you mean 'partition'?)",
        ),
        (("orders",), {"zzz": 1}, "verb() got an unexpected keyword argument 'zzz'"),
        ((), {}, "verb() missing 1 required positional argument: 'topic'"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(given: tuple[Any, ...], named: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError) as refused:
        verb(None, *given, **named)
    assert str(refused.value) == told


def test_mistake_text_cuts_long_values() -> None:
    assert wrong("topic", ["x" * 500], "text") == f"topic=['{'x' * 98}...: expected text"


def test_mistake_text_lists_choices() -> None:
    assert one_of(["a", "b"]) == "a or b"
    assert one_of(["a", "b", "c"]) == "one of a, b, c"


def test_names_are_compared_by_their_words() -> None:
    assert words_of("topics", "delete") == words_of("delete-topic") == words_of("delete_topics")


# -- Names.


class Handle(NearNames):
    __slots__ = ("partitions",)
    partitions: int

    @property
    def broken(self) -> int:
        return self.partitions

    @property
    def other(self) -> object:
        return [].nothing  # type: ignore[attr-defined]


def test_an_unknown_attribute_names_the_nearest() -> None:
    handle: Any = Handle()
    with pytest.raises(AttributeError, match=r"^Handle has no 'brokn' \(did you mean 'broken'\?\)$"):
        _ = handle.brokn
    assert not hasattr(handle, "brokn")
    assert getattr(handle, "brokn", 7) == 7


def test_an_attribute_that_fails_says_why_itself() -> None:
    handle = Handle()
    with pytest.raises(AttributeError, match=r"partitions"):
        _ = handle.broken
    with pytest.raises(AttributeError, match="'list' object has no attribute 'nothing'"):
        _ = handle.other


def test_an_unknown_key_names_the_mapping_the_nearest_key_and_some_that_there_are() -> None:
    topics = ByName("broker.topics", {"orders": 1, "payments": 2})
    with pytest.raises(KeyError) as unknown:
        _ = topics["ordrs"]
    assert unknown.value.args == ("broker.topics has no 'ordrs' (did you mean 'orders'?); it has orders, payments",)
    assert (topics["orders"], topics.get("ordrs"), "ordrs" in topics) == (1, None, False)
    with pytest.raises(KeyError, match=r"^.broker.nodes has no 12; it has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\..$"):
        _ = ByName("broker.nodes", dict.fromkeys(range(12), ""))[12]
    with pytest.raises(KeyError, match=r"broker\.groups has no 'g'; it is empty"):
        _ = ByName[str, int]("broker.groups", {})["g"]
