"""When a broker is warm: a JVM compiles for seconds what it runs often, and a measurement before that says little.

Every broker is warmed for every row in the same way: windows of load, until two in a row give the same rate, or cost
the same CPU time a unit, within 5 %. CPU time counts too because on a busy machine no two rates are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.bench.load_program import Measured

WITHIN = 0.05
FEWEST = 3  # windows: the first one has new connections and a new topic, and two may be alike by chance


def settled(windows: Sequence[Measured], within: float = WITHIN) -> bool:
    """Whether the last two windows are alike."""
    if len(windows) < FEWEST:
        return False
    last, before = windows[-1], windows[-2]
    return alike(last.per_second, before.per_second, within) or alike(last.broker_us, before.broker_us, within)


def alike(one: float, other: float, within: float) -> bool:
    return abs(one - other) <= within * max(one, other)


def warm_up(window: Callable[[], Measured], most: int) -> bool:
    """Run windows until they have settled; False if `most` of them were not enough."""
    done: list[Measured] = []
    while len(done) < most:
        done.append(window())
        if settled(done):
            return True
    return False
