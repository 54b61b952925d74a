"""Validation: each batch gets the answer, and is stored as, a real broker gave and stored it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.compression import compress
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.message_sets import format_of
from odradek.protocol.record_batch import Codec, Record, TimestampType, assemble, build_batch, read_batch
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from odradek.storage.validation import (
    RecordsRefused,
    RecordValidationError,
    validate_client_batch,
    validate_copied_batches,
)
from tests.fakes.examples import examples
from tests.storage.logs import NOW, batches, make_log, put

VECTORS = Path(__file__).parent.parent / "vectors"
CONFIGS = {
    "plain": LogConfig(),
    "append": LogConfig(message_timestamp_type=TimestampType.LOG_APPEND_TIME),
    "compact": LogConfig(cleanup_policy=frozenset({"compact"})),
    "gzip": LogConfig(compression_type=Codec.GZIP),
    "none": LogConfig(compression_type=Codec.NONE),
    "before": LogConfig(message_timestamp_before_max_ms=3_600_000),
}


def recorded(config: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS / "produce_batches.jsonl.gz", "rt") as lines:
        return [row for row in map(json.loads, lines) if row["config"] == config]


def without_clock(message: str | None) -> str | None:
    """The bounds in a timestamp message depend on the broker's clock at that moment."""
    return message and re.sub(r"within \[.*?\]", "", message)


def answer(log: PartitionLog, row: dict[str, Any]) -> tuple[object, ...]:
    """Append a recorded batch: (code, offset, append time, log start, message, record errors, stored bytes)."""
    try:
        info = log.append(bytes.fromhex(row["records"]), now_ms=row["now_ms"])
    except RecordsRefused as exc:
        errors = [(i, without_clock(m)) for i, m in exc.record_errors]
        return int(exc.code), -1, -1, exc.log_start_offset, without_clock(exc.client_message), errors, None
    stored = log.read(info.base_offset, max_bytes=1, up_to_offset=log.log_end_offset)
    data = bytes(stored.parts[0])[8:].hex()
    return 0, info.base_offset, info.log_append_time_ms, info.log_start_offset, None, [], data


@pytest.mark.parametrize("name", CONFIGS)
def test_answers_and_stored_bytes_are_a_real_brokers(name: str) -> None:
    """The batches of one topic in their order: later ones depend on the producer state that earlier ones left."""
    rows = recorded(name)
    assert len(rows) > 80
    log = PartitionLog("recorded", 0, CONFIGS[name], MemoryBackend())
    named = [m[1] for row in rows if (m := re.search(r"topic partition (\S+?-\d+-0)", row["error_message"] or ""))]
    log.name = named[0] if named else log.name
    for row in rows:
        expected = (
            row["error_code"],
            row["base_offset"],
            row["log_append_time_ms"],
            row["log_start_offset"],
            without_clock(row["error_message"]),
            [(i, without_clock(m)) for i, m in row["record_errors"]],
            row["stored"],
        )
        assert answer(log, row) == expected, f"{name}/{row['case']}"


def big_batch(count: int, **options: Any) -> bytes:
    return build_batch([Record(0, NOW + i, b"k", b"v%d" % i) for i in range(count)], **options)


@pytest.mark.parametrize("count", [1, 32, 33, 500])
def test_large_batches_follow_the_same_rules(count: int) -> None:
    good = big_batch(count)
    stored, *_, record_count = validate_client_batch(good, LogConfig(), NOW, "t-0")
    assert stored is good
    assert record_count == count
    torn = bytearray(good)
    torn[61] ^= 2  # the first record's length
    torn[17:21] = crc32c(torn[21:]).to_bytes(4, "big")
    with pytest.raises(RecordsRefused) as caught:
        make_log().append(bytes(torn), now_ms=NOW)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("count", [5, 100])
def test_timestamps_out_of_range_name_each_record(count: int) -> None:
    log = make_log(message_timestamp_after_max_ms=10)
    with pytest.raises(RecordValidationError) as caught:
        log.append(big_batch(count), now_ms=NOW + count - 1 - 12)
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert [i for i, _ in caught.value.record_errors] == [count - 2, count - 1]
    assert log.log_end_offset == 0


def test_max_message_bytes_counts_the_batch_as_sent_and_as_stored() -> None:
    data = big_batch(100)
    assert make_log(max_message_bytes=len(data)).append(data, now_ms=NOW).last_offset == 99
    with pytest.raises(RecordsRefused) as caught:
        make_log(max_message_bytes=len(data) - 1).append(data, now_ms=NOW)
    assert (caught.value.code, caught.value.log_start_offset) == (ErrorCode.MESSAGE_TOO_LARGE, -1)
    packed = big_batch(100, codec=Codec.GZIP)
    with pytest.raises(RecordsRefused) as caught:
        make_log(max_message_bytes=len(packed), compression_type=Codec.NONE).append(packed, now_ms=NOW)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_max_decompressed_message_bytes_counts_the_records(codec: Codec) -> None:
    data = big_batch(100, codec=codec)
    size = len(read_batch(data).body())
    assert make_log(max_decompressed_message_bytes=size).append(data, now_ms=NOW).last_offset == 99
    if codec is Codec.NONE:
        config: dict[str, Any] = {"compression_type": Codec.GZIP}
    else:
        config = {}
    text = f"The batch for t-0 has more than {size - 1} bytes decompressed, which the topic does not take"
    with pytest.raises(RecordsRefused, match=text) as caught:
        make_log(max_decompressed_message_bytes=size - 1, **config).append(data, now_ms=NOW)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("timestamp", "refused"),
    [(NOW - 100, False), (NOW - 101, True), (NOW + 50, False), (NOW + 51, True), (-1, False), (-2, True)],
)
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@pytest.mark.parametrize("count", [1, 40])
def test_timestamps_may_be_so_old_and_so_new(timestamp: int, refused: bool, codec: Codec, count: int) -> None:
    config = LogConfig(message_timestamp_before_max_ms=100, message_timestamp_after_max_ms=50)
    batch = build_batch([Record(0, timestamp, b"k", b"v")] * count, codec=codec)
    assert code_of(batch, config) == (ErrorCode.INVALID_TIMESTAMP if refused else 0)


def test_records_without_keys_are_for_logs_that_are_not_compacted() -> None:
    log = make_log(cleanup=["compact"])
    rows = [Record(0, NOW, key, b"v") for key in (b"k", None, b"", None, None, None)]
    with pytest.raises(RecordValidationError) as caught:
        log.append(build_batch(rows), now_ms=NOW)
    assert [index for index, _ in caught.value.record_errors] == [1, 3, 4, 5]
    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert (caught.value.message or "").startswith(
        "One or more records have been rejected due to 4 record errors in total, and only showing the first three "
        "errors at most: [RecordError(batchIndex=1, "
    )
    assert "batchIndex=5" not in (caught.value.message or "")
    assert make_log().append(build_batch(rows), now_ms=NOW).last_offset == 5


def test_copied_batches_are_whole_undamaged_and_in_order() -> None:
    one, other = (build_batch([Record(0, NOW, b"k", b"v")], base_offset=offset) for offset in (3, 7))
    assert [batch.base_offset for batch in validate_copied_batches(one + other, 3, "t-0")] == [3, 7]
    assert [batch.base_offset for batch in validate_copied_batches(one + other, 0, "t-0")] == [3, 7]
    damaged = bytearray(one)
    damaged[-1] ^= 1
    for data, end, why in (
        (b"", 0, "no whole batch to copy into t-0"),
        (one, 4, "t-0 ends at 4, a copied batch begins at 3"),
        (one + one, 3, "t-0 ends at 4, a copied batch begins at 3"),
        (bytes(damaged), 3, "a batch copied into t-0 has a wrong checksum"),
    ):
        with pytest.raises((KafkaError, CorruptDataError), match=why):
            validate_copied_batches(data, end, "t-0")


@pytest.mark.parametrize(
    ("config", "stamped", "codec"),
    [
        ({}, NOW - 5, Codec.NONE),
        ({"message_timestamp_type": TimestampType.LOG_APPEND_TIME}, NOW, Codec.NONE),
        ({"compression_type": Codec.GZIP}, NOW - 5, Codec.GZIP),
        ({"compression_type": Codec.NONE}, NOW - 5, Codec.NONE),
        ({"compression_type": Codec.GZIP, "message_timestamp_type": TimestampType.LOG_APPEND_TIME}, NOW, Codec.GZIP),
    ],
)
def test_the_brokers_own_batches_are_stored_as_the_topic_says(
    config: dict[str, Any], stamped: int, codec: Codec
) -> None:
    log = make_log(**config)
    own = build_batch([Record(0, NOW - 5, b"k", b"v" * 100)])
    log.append(own, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    (batch,) = batches(log)
    assert (batch.max_timestamp, batch.codec, batch.is_crc_valid) == (stamped, codec, True)
    assert [record.timestamp for record in batch.records()] == [stamped]
    limit = make_log(max_message_bytes=len(own))
    limit.append(own, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    with pytest.raises(RecordsRefused) as caught:
        make_log(max_message_bytes=len(own) - 1).append(own, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_one_partition_of_a_request_has_one_batch_of_the_newest_format() -> None:
    one = big_batch(1)
    old = bytearray(one)
    old[16] = 1
    for data, why in (
        (one + one, "A partition of a produce request has more than one batch"),
        (bytes(old), "Records of message format 1 are not accepted"),
        (b"", "A produce request must carry a record batch per partition"),
    ):
        with pytest.raises(RecordsRefused, match=why) as refused:
            validate_client_batch(data, LogConfig(), NOW, "t-0")
        assert refused.value.code is ErrorCode.INVALID_RECORD
    assert validate_client_batch(one + one[:5], LogConfig(), NOW, "t-0")[0] == one


def test_a_batch_larger_than_a_segment_is_refused() -> None:
    with pytest.raises(RecordsRefused) as caught:
        make_log(segment_bytes=100).append(big_batch(10), now_ms=NOW)
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE


@pytest.mark.parametrize("source", Codec)
@pytest.mark.parametrize("target", Codec)
def test_topic_compression_is_honoured(source: Codec, target: Codec) -> None:
    log = make_log(compression_type=target)
    put(log, (b"a", b"1" * 100), (b"b", b"2" * 100), codec=source)
    (batch,) = batches(log)
    assert batch.codec is target
    assert batch.is_crc_valid
    assert [(r.offset, r.key, r.value) for r in batch.records()] == [(0, b"a", b"1" * 100), (1, b"b", b"2" * 100)]


@pytest.mark.parametrize("kept", [0, 1])
def test_a_log_of_an_older_format_takes_only_what_that_has(kept: int) -> None:
    log = make_log(message_format=kept)
    put(log, (b"k", b"v"))
    put(log, (b"k", b"v"), codec=Codec.GZIP)
    producer: dict[str, Any] = {"producer_id": 4, "producer_epoch": 0, "base_sequence": 0}
    refused: list[tuple[dict[str, Any], ErrorCode]] = [
        (producer, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        ({**producer, "transactional": True}, ErrorCode.UNKNOWN_SERVER_ERROR),
        ({"codec": Codec.ZSTD}, ErrorCode.UNKNOWN_SERVER_ERROR),
    ]
    for options, code in refused:
        with pytest.raises(KafkaError) as error:
            log.append(big_batch(2, **options), now_ms=NOW)
        assert error.value.code == code
    with pytest.raises(KafkaError) as error:
        log.append(build_batch([Record(0, NOW, b"k", b"v", (("h", b"1"),))]), now_ms=NOW)
    assert error.value.code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert [(format_of(batch), batch.codec) for batch in batches(log)] == [(kept, Codec.NONE), (kept, Codec.GZIP)]


def test_the_brokers_own_batches_have_the_format_of_their_log() -> None:
    log = make_log(message_format=1, compression_type=Codec.GZIP)
    log.append(build_batch([Record(0, NOW, b"k", b"v")]), now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    assert [(format_of(batch), batch.codec) for batch in batches(log)] == [(1, Codec.GZIP)]
    batch = build_batch([Record(0, NOW, b"k", b"v")], producer_id=4, producer_epoch=0, base_sequence=0)
    with pytest.raises(KafkaError) as error:
        log.append(batch, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    assert error.value.code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_a_refused_append_changes_nothing() -> None:
    log = make_log()
    put(log, producer=(4, 0, 0))
    before = (log.log_end_offset, log.size_bytes, next(iter(log.producers)).last_sequence)
    for data in (b"", big_batch(3)[:-1], bytes(100), big_batch(2, producer_id=4, producer_epoch=0, base_sequence=9)):
        with pytest.raises(RecordsRefused):
            log.append(data, now_ms=NOW)
    assert (log.log_end_offset, log.size_bytes, next(iter(log.producers)).last_sequence) == before


@pytest.mark.parametrize(("count", "refused"), [(32, True), (33, False)])
def test_records_of_large_batches_are_not_looked_into(count: int, refused: bool) -> None:
    """A difference: Kafka walks every field of every record, whatever the batch's size."""
    data = bytearray(big_batch(count))
    data[61 + 4] = 0x7E  # the first record's key claims 63 bytes
    data[17:21] = crc32c(data[21:]).to_bytes(4, "big")
    log = make_log()
    if refused:
        with pytest.raises(RecordsRefused):
            log.append(bytes(data), now_ms=NOW)
    else:
        assert log.append(bytes(data), now_ms=NOW).last_offset == count - 1
    with pytest.raises(RecordsRefused):
        make_log(cleanup=["compact"]).append(bytes(data), now_ms=NOW)


@pytest.mark.parametrize("codec", Codec)
def test_record_lengths_must_fit_their_fields_in_every_codec(codec: Codec) -> None:
    """A difference: in compressed batches Kafka does not look at the lengths."""
    body = bytearray(read_batch(big_batch(3)).body())
    body[0] += 2
    packed = compress(codec, bytes(body))
    data = assemble(0, -1, (int(codec), 2, NOW, NOW + 2, -1, -1, -1, 3), packed)
    with pytest.raises(RecordsRefused) as caught:
        make_log().append(data, now_ms=NOW)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, 12),
    st.booleans(),
    st.sampled_from(Codec),
    st.sampled_from(list(CONFIGS)),
)
@settings(max_examples=examples(300), deadline=None)
def test_damage_is_refused_or_leaves_a_readable_log(
    changes: list[tuple[int, int]], cut: int, checksum_fits: bool, codec: Codec, config: str
) -> None:
    """Whatever a client sends: either a refusal that changes nothing, or a log whose batches all parse."""
    data = bytearray(big_batch(3, codec=codec, producer_id=1, producer_epoch=0, base_sequence=0))
    for at, byte in changes:
        data[at % len(data)] = byte
    del data[len(data) - cut :]
    if checksum_fits:
        data[17:21] = crc32c(data[21:]).to_bytes(4, "big")
    log = PartitionLog("t", 0, CONFIGS[config], MemoryBackend())
    try:
        log.append(bytes(data), now_ms=NOW)
    except RecordsRefused:
        assert (log.log_end_offset, log.size_bytes, len(log.producers)) == (0, 0, 0)
        return
    (batch,) = batches(log)
    assert batch.is_crc_valid
    assert batch.base_offset == 0
    assert log.log_end_offset == batch.next_offset == len(list(batch.records()))


def reheaded(batch: bytes, **fields: int) -> bytes:
    """The batch with other header fields behind its checksum, and a checksum that fits them."""
    places = {"attributes": (21, 2), "base_timestamp": (27, 8), "producer_id": (43, 8), "producer_epoch": (51, 2)}
    places["base_sequence"] = (53, 4)
    data = bytearray(batch)
    for name, value in fields.items():
        at, size = places[name]
        data[at : at + size] = value.to_bytes(size, "big", signed=True)
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


def code_of(batch: bytes, config: LogConfig) -> int:
    try:
        validate_client_batch(batch, config, NOW, "a-0")
    except (KafkaError, CorruptDataError) as error:
        return int(error.code)
    return 0


# A real Kafka's codes.
@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_comes_before_the_control_flag(codec: int) -> None:
    one = build_batch([Record(0, NOW, b"k", b"v", ())])
    assert code_of(reheaded(one, attributes=codec | 0x20), LogConfig()) == -1
    assert code_of(reheaded(one, attributes=0x20), LogConfig()) == 87


@pytest.mark.parametrize(
    ("producer", "code"),
    [
        ((-2, -1, 0), -1),
        ((-2, 0, -1), -1),
        ((-2, -2, 0), 0),
        ((-3, 0, 0), 0),
        ((5, -1, 0), -1),
        ((7, 0, -1), 87),
        ((-1, 5, 5), 0),
    ],
)
def test_what_a_rebuilt_batch_may_say_of_its_producer(producer: tuple[int, int, int], code: int) -> None:
    one = build_batch([Record(0, NOW, b"k", b"v", ())])
    producer_id, epoch, sequence = producer
    batch = reheaded(one, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    assert code_of(batch, LogConfig(compression_type=Codec.GZIP)) == code


def test_timestamps_are_looked_at_before_the_offsets_of_compressed_records() -> None:
    body = bytearray(read_batch(build_batch([Record(0, NOW, b"k", b"v", ())])).body())
    body[3] = 6  # offset 3 where 0 is due
    packed = compress(Codec.GZIP, bytes(body))
    old = assemble(0, -1, (int(Codec.GZIP), 0, NOW - 100_000, NOW - 100_000, -1, -1, -1, 1), packed)
    assert code_of(old, LogConfig(message_timestamp_before_max_ms=10_000)) == 32
    assert code_of(old, LogConfig()) == -1


def test_append_of_a_record_whose_length_overflows_is_refused() -> None:
    one = bytearray(build_batch([Record(0, NOW, b"k", b"v", ())]))
    one[8:12] = b"\x7f\xff\xff\xff"
    with pytest.raises(RecordsRefused) as refused:
        validate_client_batch(bytes(one), LogConfig(), NOW, "a-0")
    assert (refused.value.code, refused.value.log_start_offset) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1)


def test_timestamps_in_messages_have_64_bits() -> None:
    two = build_batch([Record(at, NOW + at, b"k", b"v", ()) for at in range(2)])
    with pytest.raises(RecordValidationError) as refused:
        validate_client_batch(reheaded(two, base_timestamp=(1 << 63) - 1), LogConfig(), NOW, "a-0")
    shown = [str(message).split()[1] for _, message in refused.value.record_errors]
    assert shown == ["9223372036854775807", "-9223372036854775808"]
