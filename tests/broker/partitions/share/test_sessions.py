"""Share sessions: epochs, order, connections."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.share.sessions import MAX_EPOCH, SessionKey, ShareSessionCache, next_epoch
from odradek.protocol.errors import ErrorCode, KafkaError

KEY = SessionKey("g", "m")
TOPIC = bytes(16)


def test_epochs_go_round_to_one() -> None:
    assert next_epoch(1) == 2
    assert next_epoch(MAX_EPOCH) == 1


def test_a_session_goes_on_with_its_epoch_only() -> None:
    cache = ShareSessionCache()
    session = cache.open(KEY, [((TOPIC, 0), "t")], "c1", 10)
    session.check(1)
    session.advance()
    with pytest.raises(KafkaError) as caught:
        cache.find(KEY).check(1)
    assert caught.value.code is ErrorCode.INVALID_SHARE_SESSION_EPOCH


def test_partitions_come_go_and_take_turns() -> None:
    session = ShareSessionCache().open(KEY, [((TOPIC, 0), "t"), ((TOPIC, 1), "t")], "c1", 10)
    session.change([((TOPIC, 2), "t"), ((TOPIC, 0), "t")], [(TOPIC, 1), (TOPIC, 9)])
    session.served((TOPIC, 0))
    assert list(session.places) == [(TOPIC, 2), (TOPIC, 0)]
    assert [item.must_answer for item in session.places.values()] == [True, False]


def test_a_node_has_so_many_sessions_and_no_more() -> None:
    cache = ShareSessionCache()
    cache.open(KEY, [], "c1", 1)
    cache.open(KEY, [], "c1", 1)  # takes the place of the member's other one
    with pytest.raises(KafkaError) as caught:
        cache.open(SessionKey("g", "other"), [], "c1", 1)
    assert caught.value.code is ErrorCode.SHARE_SESSION_LIMIT_REACHED


def test_a_closed_connection_ends_the_session_that_was_opened_last_on_it() -> None:
    """As in Kafka; an earlier one lives until its locks run out."""
    cache = ShareSessionCache()
    cache.open(KEY, [], "c1", 10)
    other = SessionKey("h", "n")
    cache.open(other, [], "c1", 10)
    assert cache.closed("c1") == (other, True)
    assert cache.has_group("g")
    assert not cache.knows_connection("c1")
    assert cache.closed("c1") == (None, False)


def test_a_closed_connection_does_not_end_a_session_that_began_again_on_another() -> None:
    cache = ShareSessionCache()
    cache.open(KEY, [], "c1", 10)
    cache.open(KEY, [], "c2", 10)
    assert cache.closed("c1") == (KEY, False)
    assert cache.closed("c2") == (KEY, True)
