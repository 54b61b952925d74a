"""The fewest requests that still show a difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.conformance.duel.conversation import Conversation, Differs
from tests.conformance.duel.side import Side
from tests.conformance.duel.steps import Step

ANSWER_S = 1.5
"""No answer was an outcome before: there is less to wait for now."""


def outcome(sides: tuple[Side, Side], steps: Sequence[Step]) -> Differs | None:
    """Hold a conversation anew; the first difference in it."""
    conversation = Conversation(sides, ANSWER_S)
    try:
        for step in steps:
            conversation.say(step)
    except Differs as differs:
        return differs
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
