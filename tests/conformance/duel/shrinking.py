"""The fewest requests that still show a difference."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.conformance.duel.conversation import Conversation, Differs, Parted
from tests.conformance.duel.side import Side
from tests.conformance.duel.steps import Step

ANSWER_S = 1.5
"""No answer was an outcome before: there is less to wait for now."""

MOST_TRIES = 80
"""How often bodies are made smaller."""


def outcome(sides: tuple[Side, Side], steps: Sequence[Step]) -> Differs | None:
    """Hold a conversation anew; the first difference in it."""
    conversation = Conversation(sides, ANSWER_S)
    try:
        for step in steps:
            conversation.say(step)
    except Differs as differs:
        return differs
    except Parted:
        pass
    finally:
        conversation.close()
    return None


def shrunk(steps: Sequence[Step], shows: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Delta debugging: leave out halves, quarters and so on, from the front, as long as `shows` is true of the rest."""
    kept = list(steps)
    size = max(len(kept) // 2, 1)
    while True:
        at = 0
        while at < len(kept):
            tried = kept[:at] + kept[at + size :]
            if tried and shows(tried):
                kept = tried
            else:
                at += size
        if size == 1:
            return kept
        size = max(size // 2, 1)


def with_less(steps: Sequence[Step], shows: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """The steps with as few elements in the lists of their bodies, as long as `shows` is true of them."""
    kept = list(steps)
    tries = MOST_TRIES
    for at in reversed(range(len(kept))):
        place = 0
        while tries and place < sum(1 for _ in _elements(kept[at].body)):
            body = copy.deepcopy(kept[at].body)
            elements, index = next(each for number, each in enumerate(_elements(body)) if number == place)
            del elements[index]
            tried = [*kept[:at], replace(kept[at], body=body), *kept[at + 1 :]]
            tries -= 1
            if shows(tried):
                kept = tried
            else:
                place += 1
    return kept


def _elements(form: Any) -> Iterator[tuple[list[Any], int]]:
    """All elements of all lists: the list and the number in it. A list in a list is a header, which stays whole."""
    for value in form.values() if isinstance(form, dict) else ():
        if isinstance(value, list):
            yield from ((value, at) for at in range(len(value)))
        for each in value if isinstance(value, list) else [value]:
            yield from _elements(each)
