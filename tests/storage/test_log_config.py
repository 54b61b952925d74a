"""The log's config: Kafka's defaults and the derived fields."""

from __future__ import annotations

import dataclasses

import pytest

from odradek.protocol.compression import Codec
from odradek.storage.log_config import LogConfig

WEEK = 7 * 86_400_000


def test_log_config_defaults_are_kafkas() -> None:
    config = LogConfig()
    assert (config.segment_bytes, config.segment_ms, config.segment_index_bytes) == (1 << 30, WEEK, 10 << 20)
    assert (config.retention_bytes, config.retention_ms, config.max_message_bytes) == (-1, WEEK, 1_048_588)
    assert (config.delete_retention_ms, config.min_cleanable_dirty_ratio) == (86_400_000, 0.5)
    assert (config.delete, config.compact, config.compression_type) == (True, False, None)


@pytest.mark.parametrize(
    ("policy", "lag", "expected"), [("delete", 1000, WEEK), ("compact", 1000, 1000), ("compact", 2 * WEEK, WEEK)]
)
def test_a_compacted_log_rolls_in_time_for_its_compaction_lag(policy: str, lag: int, expected: int) -> None:
    config = LogConfig(cleanup_policy=frozenset({policy}), max_compaction_lag_ms=lag)
    assert config.max_segment_ms == expected


def test_replacing_a_field_keeps_the_derived_ones_right() -> None:
    config = dataclasses.replace(LogConfig(), cleanup_policy=frozenset({"compact", "delete"}))
    assert config.compact
    assert config.delete
    assert not dataclasses.replace(config, cleanup_policy=frozenset({"delete"})).compact


def test_a_log_config_has_compression_levels_by_codec() -> None:
    config = LogConfig(compression_zstd_level=7)
    assert config.compression_level(Codec.ZSTD) == 7
    assert config.compression_level(Codec.SNAPPY) is None
