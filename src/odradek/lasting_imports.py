"""Imports of a process that only serves a broker, without a collector that looks for garbage among them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Import modules inside, in a process of odradek's own only.

    What a module defines lives as long as the process. Looking through it is a tenth of the time of a start, and later
    a pause of each full collection; so the collector rests meanwhile, and what is there at the end it never looks at.
    A collector that was off stays off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
