"""What a piece of work costs, on any machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """How many functions are called, ours and Python's own, without those of what the collector ends meanwhile."""
    count = 0

    def called(frame: Any, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count
