"""The names of a segment's files, as Kafka gives them.

The base offset in 20 digits, then `.log`, `.index`, `.timeindex` or `.txnindex`; `.snapshot` for the producer state
at an offset. `.cleaned` stands behind it while compaction writes, `.swap` while it swaps, `.deleted` until the file is
removed.
"""

from __future__ import annotations

import re

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TXN_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
INDEXES = (OFFSET_INDEX, TIME_INDEX, TXN_INDEX)
SEGMENT_PARTS = (*INDEXES, LOG)
"""The files of a segment in the order of renaming: the `.log` comes last, so it shows whether a rename was complete."""

CLEANED = ".cleaned"
SWAP = ".swap"
DELETED = ".deleted"

_NAME = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.cleaned|\.swap|\.deleted)?")


def file_name(offset: int, kind: str, suffix: str = "") -> str:
    """The name of a segment's file: a kind (LOG, ...) and optionally CLEANED, SWAP or DELETED."""
    return f"{offset:020d}{kind}{suffix}"


def parse_file_name(name: str) -> tuple[int, str, str] | None:
    """(offset, kind, suffix or ""), or None for a file that belongs to no segment."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), match[2], match[3] or "") if match else None
