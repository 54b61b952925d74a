"""Work that may take its time."""

from __future__ import annotations

from odradek.protocol.compression import DEFAULT_MAX_INFLATED
from odradek.protocol.long_work import LongWork


def test_a_request_may_inflate_several_of_the_largest_batches() -> None:
    work = LongWork()
    work.give_way()
    assert work.left >= 2 * DEFAULT_MAX_INFLATED
