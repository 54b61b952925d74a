"""The garbage collector of a process that only serves a broker: it ignores what imports leave, runs less often, and
looks at no object more than a few times.

A usual full collection looks at everything that lives: 20 ms and more with 10,000 topics, in the middle of somebody's
request. Here objects that have survived two collections are frozen, so no collection looks at more than `MOST_OBJECTS`.
What is frozen still goes with its last reference; only circles of references stay, such as 0.6 MB of trio's classes. So
a broker leaves none: `tests/broker/test_garbage.py` holds that for requests of all APIs that are answered, refused, cut
or unreadable, and for log-ins and handshakes that fail. An exception that is kept is the usual circle, by its frames:
see `as_value` (`protocol/errors.py`).

Gains a quarter of the CPU of a start.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG_OBJECTS = 10_000
"""So many new containers make a collection. By default few hundred do: a hundred members that join leave some thousand
that stay, each collection looks at many of them in vain, and together they cost a tenth of the broker's time then."""
_YOUNG_COLLECTIONS = 3
"""After so many the next collection looks at all survivors of them, too; then they are frozen."""
MOST_OBJECTS = YOUNG_OBJECTS * (_YOUNG_COLLECTIONS + 2)
"""The most that one collection looks at: 4 to 10 ms."""


@contextmanager
def resting() -> Iterator[bool]:
    """Import modules inside, in any process: the objects that a module defines live as long as the process, and looking
    through them is a tenth of the time of a start.

    So the collector does not look at them before its next full collection. Yields whether it rests: one that was off
    stays off, and ODRADEK_FAST=0 in the environment lets it work.
    """
    if not gc.isenabled() or os.environ.get("ODRADEK_FAST") == "0":
        yield False
        return
    gc.disable()
    try:
        yield True
    finally:
        if not gc.get_freeze_count():  # what somebody has frozen stays so
            gc.freeze()
            gc.unfreeze()  # to the oldest generation
        gc.enable()


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Import modules inside, in a process of odradek's own only, as in `resting`.

    What is there at the end the collector never looks at: that would be a pause of each full collection. Afterwards it
    begins with `YOUNG_OBJECTS`, and freezes what lasts.
    """
    with resting() as rests:
        yield
        if not rests:
            return
        gc.freeze()
        young, *older = gc.get_threshold()
        if sys.version_info < (3, 14):  # from then on a full collection is done in small parts
            older[0] = _YOUNG_COLLECTIONS
            gc.callbacks.append(_freeze_survivors)
        gc.set_threshold(max(young, YOUNG_OBJECTS), *older)


def _freeze_survivors(phase: str, about: dict[str, int]) -> None:
    if phase == "stop" and about["generation"]:
        gc.freeze()
