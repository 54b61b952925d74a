"""The configuration of one partition log: Kafka's topic configs that the storage layer obeys, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import FORMAT_OF_BATCHES, TimestampType

MAX_LONG = (1 << 63) - 1
DELETE = "delete"
COMPACT = "compact"


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    """The topic configs of one log.

    Immutable: a change sets a new LogConfig on the log. Sizes in bytes, times in milliseconds. A field has the name of
    its topic config, with `_` for `.`. -1 means "no limit" for the retention limits. A compression type of None is
    Kafka's `producer`: keep the producer's codec.
    """

    cleanup_policy: frozenset[str] = frozenset({DELETE})
    compression_type: Codec | None = None
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    delete_retention_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    flush_messages: int = MAX_LONG
    flush_ms: int = MAX_LONG
    index_interval_bytes: int = 4096
    local_retention_bytes: int = -1
    """With Kafka's -2 worked out: the same as `retention_bytes`, where the topic does not say less."""
    local_retention_ms: int = 604_800_000
    """With Kafka's -2 worked out, like `local_retention_bytes`."""
    max_compaction_lag_ms: int = MAX_LONG
    max_decompressed_message_bytes: int = 2_147_483_639
    max_message_bytes: int = 1_048_588
    message_timestamp_after_max_ms: int = 3_600_000
    message_timestamp_before_max_ms: int = MAX_LONG
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    min_insync_replicas: int = 1
    preallocate: bool = False
    remote_log_copy_disable: bool = False
    remote_storage_enable: bool = False
    """Whether the log is tiered: only where the broker's `remote.log.storage.system.enable` is true, too."""
    retention_bytes: int = -1
    retention_ms: int = 604_800_000
    segment_bytes: int = 1_073_741_824
    segment_index_bytes: int = 10_485_760
    segment_jitter_ms: int = 0
    segment_ms: int = 604_800_000
    unclean_leader_election_enable: bool = False
    producer_id_expiration_ms: int = 86_400_000
    """A broker config (`producer.id.expiration.ms`), here because the log applies it."""
    remote_storage_keeps: bool = True
    """A broker config: false where the tier forgets what is copied (`NoOpRemoteStorageManager`)."""

    message_format: int = FORMAT_OF_BATCHES
    """The message format of what is appended: 0 and 1 only as releases that have such logs."""

    refuses_append_time: bool = False
    """Of the broker's release: whether a producer's batch may not say that the broker set its timestamps."""

    compact: bool = field(init=False)
    """Whether compaction removes old values of a key (from `cleanup_policy`)."""
    delete: bool = field(init=False)
    """Whether retention removes whole segments (from `cleanup_policy`)."""
    any_age: bool = field(init=False)
    """Whether records may be of any age (from `message_timestamp_before_max_ms`)."""
    rewrites: bool = field(init=False)
    """Whether batches that are not compressed get another form: a codec of the topic, or an older message format."""
    max_segment_ms: int = field(init=False)
    """Age at which a segment rolls: a compacted log must roll in time for `max_compaction_lag_ms`."""

    def __post_init__(self) -> None:
        # Plain attributes, since every append asks for them.
        compact = COMPACT in self.cleanup_policy
        oldest = self.segment_ms
        if compact and self.max_compaction_lag_ms > 0:
            oldest = min(oldest, self.max_compaction_lag_ms)
        object.__setattr__(self, "compact", compact)
        object.__setattr__(self, "delete", DELETE in self.cleanup_policy)
        older = self.message_format < FORMAT_OF_BATCHES
        object.__setattr__(self, "rewrites", older or bool(self.compression_type))
        object.__setattr__(self, "any_age", self.message_timestamp_before_max_ms == MAX_LONG)
        object.__setattr__(self, "max_segment_ms", oldest)

    def compression_level(self, codec: Codec) -> int | None:
        """The configured level of a codec that has levels."""
        levels = {
            Codec.GZIP: self.compression_gzip_level,
            Codec.LZ4: self.compression_lz4_level,
            Codec.ZSTD: self.compression_zstd_level,
        }
        return levels.get(codec)
