"""Where share groups begin, and Java's durations."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.share.offset_reset import duration_ms, reset_offset
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.storage.logs import make_log


def test_beginnings() -> None:
    log = make_log()
    for timestamp in (1_000, 2_000, 3_000):
        log.append(build_batch([Record(0, timestamp, None, b"v", ())]), now_ms=timestamp, leader_epoch=0)
    assert reset_offset(log, "earliest", 5_000) == 0
    assert reset_offset(log, "latest", 5_000) == 3
    assert reset_offset(log, "by_duration:PT3.5S", 5_000) == 1
    with pytest.raises(KafkaError) as caught:
        reset_offset(log, "by_duration:PT1S", 5_000)
    assert caught.value.code is ErrorCode.OFFSET_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("P1D", 86_400_000),
        ("PT1H", 3_600_000),
        ("PT10M", 600_000),
        ("PT20.345S", 20_345),
        ("P2DT3H4M", 183_840_000),
        ("PT-6H3M", -21_420_000),
        ("-PT6H3M", -21_780_000),
        ("pt1,5s", 1_500),
    ],
)
def test_durations(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "1D", "P1W", "PT1D"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="not an ISO 8601 duration"):
        duration_ms(text)
