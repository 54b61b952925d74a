"""Which aborted transactions a read_committed reader of a range must know of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from odradek.storage.segment import Segment


def aborted_between(segments: Sequence[Segment], first: int, from_offset: int, to_offset: int) -> list[tuple[int, int]]:
    """(producer id, first offset) of the aborted transactions with data in [from_offset, to_offset).

    `first` is the index of the segment that holds `from_offset`; a transaction's entry lies where its marker does, so
    in that segment or behind it. The search ends at the first marker written when everything before `to_offset` was
    stable: later markers speak of later data.
    """
    found: list[tuple[int, int]] = []
    for i in range(first, len(segments)):
        entries = segments[i].stores.txn_index.entries()
        for at in range(bisect_left(entries, from_offset, key=lambda entry: entry.last_offset), len(entries)):
            entry = entries[at]
            if entry.first_offset < to_offset:
                found.append((entry.producer_id, entry.first_offset))
            if entry.last_stable_offset >= to_offset:
                return found
    return found
