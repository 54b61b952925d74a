"""Producer state: the sequence rules by table, expiry, verification."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import MAX_SEQUENCE
from odradek.storage.partition_log import AppendOrigin, RecordsRefused
from odradek.storage.producer_state import BatchMetadata, ProducerStates
from tests.storage.logs import NOW, end, make_log, put

OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
OLD_EPOCH = ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("before", "batch", "expected"),
    [
        ([], (0, 0), None),
        ([], (3, 17), None),  # KIP-360: without state any sequence begins
        ([(0, 0)], (0, 1), None),
        ([(0, 0)], (0, 2), OUT_OF_ORDER),
        ([(0, 5)], (0, 4), OUT_OF_ORDER),
        ([(1, 0)], (0, 1), OLD_EPOCH),
        ([(0, 0)], (1, 0), None),
        ([(0, 0)], (1, 1), OUT_OF_ORDER),
        ([(0, MAX_SEQUENCE)], (0, 0), None),
        ([(0, MAX_SEQUENCE)], (0, 1), OUT_OF_ORDER),
        ([(0, 0), (1, 0)], (0, 1), OLD_EPOCH),
    ],
)
def test_sequences_of_a_producer_are_checked_as_in_kafka(
    before: list[tuple[int, int]], batch: tuple[int, int], expected: ErrorCode | None
) -> None:
    log = make_log()
    for epoch, sequence in before:
        put(log, producer=(9, epoch, sequence))
    if expected is None:
        assert put(log, producer=(9, *batch)).base_offset == len(before)
        return
    with pytest.raises(RecordsRefused) as caught:
        put(log, producer=(9, *batch))
    assert caught.value.code is expected
    assert caught.value.log_start_offset == 0


def test_the_last_five_batches_are_known_again() -> None:
    log = make_log()
    for i in range(8):
        put(log, (b"k", b"a"), (b"k", b"b"), producer=(1, 0, 2 * i), at=NOW + i)
    for i in range(3, 8):
        info = put(log, (b"k", b"a"), (b"k", b"b"), producer=(1, 0, 2 * i))
        assert (info.base_offset, info.last_offset, info.duplicate) == (2 * i, 2 * i + 1, True)
        assert info.log_append_time_ms == NOW + i
    with pytest.raises(RecordsRefused) as caught:
        put(log, (b"k", b"a"), (b"k", b"b"), producer=(1, 0, 4))
    assert caught.value.code is OUT_OF_ORDER
    assert log.log_end_offset == 16


def test_a_batch_that_only_begins_like_a_known_one_is_no_duplicate() -> None:
    log = make_log()
    put(log, (b"k", b"a"), (b"k", b"b"), producer=(1, 0, 0))
    for records in (1, 3):
        with pytest.raises(RecordsRefused):
            put(log, *[(b"k", b"a")] * records, producer=(1, 0, 0))


def test_sequences_wrap_within_a_batch() -> None:
    log = make_log()
    put(log, *[(b"k", b"")] * 3, producer=(1, 0, MAX_SEQUENCE - 1))
    assert next(iter(log.producers)).last_sequence == 0
    assert put(log, producer=(1, 0, 1)).base_offset == 3
    assert put(log, *[(b"k", b"")] * 3, producer=(1, 0, MAX_SEQUENCE - 1)).duplicate


def test_a_marker_of_a_newer_epoch_starts_the_sequence_again() -> None:
    log = make_log()
    put(log, producer=(1, 0, 0), transactional=True)
    end(log, 1, 1, commit=True)
    with pytest.raises(RecordsRefused) as caught:
        put(log, producer=(1, 0, 1), transactional=True)
    assert caught.value.code is OLD_EPOCH
    with pytest.raises(RecordsRefused) as caught:
        put(log, producer=(1, 1, 1), transactional=True)
    assert caught.value.code is OUT_OF_ORDER
    assert put(log, producer=(1, 1, 0), transactional=True).base_offset == 2


def test_expiry_spares_open_transactions() -> None:
    log = make_log(producer_id_expiration_ms=1000)
    put(log, producer=(1, 0, 0))
    put(log, producer=(2, 0, 0), transactional=True)
    put(log, producer=(3, 0, 0), at=NOW + 500)
    assert log.producers.expire(NOW + 999, log.config.producer_id_expiration_ms) == 0
    assert log.producers.expire(NOW + 1000, log.config.producer_id_expiration_ms) == 1
    assert [p.producer_id for p in log.producers] == [2, 3]
    end(log, 2, 0, commit=True, at=NOW + 1000)
    assert log.producers.expire(NOW + 2000, log.config.producer_id_expiration_ms) == 2
    assert put(log, producer=(1, 0, 7)).base_offset == 4


def test_verification_wants_the_lowest_sequence_first() -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 0, 5, NOW, supports_epoch_bump=False)
    states.begin_verification(1, 0, 3, NOW, supports_epoch_bump=False)
    with pytest.raises(KafkaError) as caught:
        states.check_data(1, 0, 5, 0, 0, True)
    assert caught.value.code is OUT_OF_ORDER
    assert states.check_data(1, 0, 3, 0, 0, True) is None


def verified(states: ProducerStates, epoch: int, sequence: int) -> bool:
    """Whether a transactional batch passes; it is not written."""
    try:
        states.check_data(1, epoch, sequence, 0, 0, True)
    except KafkaError as error:
        if error.code is not OUT_OF_ORDER:
            raise
        return False
    return True


def test_an_older_epoch_does_not_lower_the_sequence_that_is_waited_for() -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 4, 5, NOW, supports_epoch_bump=False)
    states.begin_verification(1, 3, 0, NOW, supports_epoch_bump=False)
    assert verified(states, 4, 5)
    states.begin_verification(1, 6, 9, NOW, supports_epoch_bump=False)  # a newer one begins anew
    assert verified(states, 6, 9)
    assert not verified(states, 6, 10)


def test_nothing_is_waited_for_of_an_epoch_below_that_of_the_log() -> None:
    states = ProducerStates("t-0")
    states.data_appended(1, 4, BatchMetadata(0, 0, 0, 0, NOW), transactional=True)
    states.begin_verification(1, 3, 0, NOW, supports_epoch_bump=True)
    assert verified(states, 4, 1)


def test_producer_state_keeps_the_support_of_the_transactions_begin() -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 0, 5, NOW, supports_epoch_bump=False)
    states.begin_verification(1, 0, 5, NOW, supports_epoch_bump=True)
    assert verified(states, 0, 5)


@pytest.mark.parametrize(("transactional", "ends"), [(True, True), (False, False)])
def test_verification_ends_with_a_transactional_batch_only(transactional: bool, ends: bool) -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 0, 0, NOW, supports_epoch_bump=False)
    states.data_appended(1, 0, BatchMetadata(0, 0, 0, 0, NOW), transactional=transactional)
    assert verified(states, 0, 1) is ends


@pytest.mark.parametrize(
    ("bumps", "marker_epoch", "ends"), [(True, 4, False), (True, 3, True), (False, 4, True), (False, 3, True)]
)
def test_a_late_marker_of_version_2_leaves_the_next_verification(bumps: bool, marker_epoch: int, ends: bool) -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 4, 0, NOW, supports_epoch_bump=bumps)
    states.marker_appended(1, marker_epoch, 0, commit=True, offset=0, timestamp=NOW)
    states.data_appended(1, 4, BatchMetadata(0, 0, 1, 1, NOW), transactional=False)
    assert verified(states, 4, 1) is ends


def test_a_verification_that_led_to_nothing_expires() -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 0, 0, NOW, supports_epoch_bump=False)
    states.expire(NOW + 999, 1000)
    assert not verified(states, 0, 1)
    states.expire(NOW + 1000, 1000)
    assert verified(states, 0, 1)


def test_transactions_v2_begin_at_zero() -> None:
    states = ProducerStates("t-0")
    states.begin_verification(1, 0, 3, NOW, supports_epoch_bump=True)
    with pytest.raises(KafkaError) as caught:
        states.check_data(1, 0, 3, 0, 0, True)
    assert caught.value.code is OUT_OF_ORDER


def test_coordinator_writes_check_the_epoch_but_no_sequence() -> None:
    log = make_log()
    put(log, producer=(1, 3, -1), transactional=True, origin=AppendOrigin.COORDINATOR)
    put(log, producer=(1, 3, -1), transactional=True, origin=AppendOrigin.COORDINATOR)
    assert log.last_stable_offset == 0
    with pytest.raises(KafkaError) as caught:
        put(log, producer=(1, 2, -1), transactional=True, origin=AppendOrigin.COORDINATOR)
    assert caught.value.code is OLD_EPOCH


def test_a_producer_that_is_further_than_a_log_that_went_back_may_go_on_once() -> None:
    states = ProducerStates("t-0")
    states.data_appended(7, 0, BatchMetadata(0, 4, 0, 4, 1), transactional=False)
    with pytest.raises(KafkaError):
        states.check_data(7, 0, 9, 0, 5, False)
    states.rewind()
    assert states.check_data(7, 0, 9, 0, 5, False) is None
    states.data_appended(7, 0, BatchMetadata(9, 9, 5, 5, 1), transactional=False)
    with pytest.raises(KafkaError):
        states.check_data(7, 0, 12, 0, 6, False)
