"""Where a share group begins in a partition that it has never worked on (`share.auto.offset.reset`)."""

from __future__ import annotations

import re

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.partition_log import PartitionLog

EARLIEST = "earliest"
LATEST = "latest"
BY_DURATION = "by_duration:"

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+)(?:[.,](?P<part>\d{0,9}))?S)?)?",
    re.IGNORECASE,
)


def reset_offset(log: PartitionLog, reset: str, now_ms: int) -> int:
    """The first offset that a share group gets; OFFSET_NOT_AVAILABLE if no record is as young as asked for."""
    if reset == EARLIEST:
        return log.log_start_offset
    if reset == LATEST:
        return log.high_watermark
    since = now_ms - duration_ms(reset.removeprefix(BY_DURATION))
    found = log.offset_for_timestamp(since)
    if found is None:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
    return found.offset


def duration_ms(text: str) -> int:
    """An ISO 8601 duration of days and less, as Java's `Duration.parse` reads it, in milliseconds."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found[name] for name in ("days", "hours", "minutes", "seconds")):
        raise ValueError(f"not an ISO 8601 duration: {text!r}")
    units = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1000))
    total = sum(int(found[name] or 0) * ms for name, ms in units)
    part = int((found["part"] or "").ljust(9, "0")) // 1_000_000
    total += -part if (found["seconds"] or "").startswith("-") else part
    return -total if found["sign"] == "-" else total
