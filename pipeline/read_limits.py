"""How much a micro-batch of the data source reads. Spark asks a Python source about it from 4.2 on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.pipeline.cluster_client import TopicPartition
from odradek.pipeline.source_options import OptionError

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

    LIMITS_KNOWN: bool
else:
    try:
        from pyspark.sql.streaming.datasource import (
            ReadAllAvailable,
            ReadLimit,
            ReadMaxRows,
            SupportsTriggerAvailableNow,
        )

        LIMITS_KNOWN = True
    except ImportError:
        LIMITS_KNOWN = False

        class ReadLimit: ...

        class ReadAllAvailable(ReadLimit): ...

        class ReadMaxRows(ReadLimit): ...

        class SupportsTriggerAvailableNow: ...


def check_limit(most: int | None) -> None:
    """OptionError for a limit that Spark cannot keep."""
    if most is not None and not LIMITS_KNOWN:
        raise OptionError("maxOffsetsPerTrigger: needs Spark 4.2")


def limited(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], most: int
) -> dict[TopicPartition, int]:
    """The ends of a batch with a limited number of offsets. A partition's share is in proportion to its backlog.

    A partition that is behind gets on by one at least, as long as the limit lets it: none waits for ever.
    """
    behind = {key: max(last - start.get(key, last), 0) for key, last in end.items()}
    total = sum(behind.values())
    if total <= most:
        return dict(end)
    shares = {key: most * count // total for key, count in behind.items()}
    left = most - sum(shares.values())
    # What rounding left goes to those that it took most from.
    for key in sorted(behind, key=lambda key: most * behind[key] % total, reverse=True)[:left]:
        shares[key] += 1
    return {key: start.get(key, last) + shares[key] if behind[key] else last for key, last in end.items()}


__all__ = [
    "LIMITS_KNOWN",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "SupportsTriggerAvailableNow",
    "check_limit",
    "limited",
]
