"""What fetches read that go on with a session (KIP-227)."""

from __future__ import annotations

from odradek.broker.transcript.fetch_sessions import FetchSessions
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from tests.fakes.exchanges import ORDERS_ID, Names


def fetch(epoch: int, *partitions: tuple[int, int], forgotten: tuple[int, ...] = ()) -> FetchRequest:
    topics = [FetchTopic("", ORDERS_ID, [FetchPartition(index, fetch_offset=offset) for index, offset in partitions])]
    gone = [ForgottenTopic("", ORDERS_ID, list(forgotten))] if forgotten else []
    return FetchRequest(session_id=9 if epoch else 0, session_epoch=epoch, topics=topics, forgotten_topics_data=gone)


def test_a_session_is_followed() -> None:
    sessions = FetchSessions(Names())
    assert sessions.read(1, fetch(0, (0, 5), (1, 7)), FetchResponse(session_id=9)) == ()
    assert sessions.read(1, fetch(1, (1, 8)), FetchResponse(session_id=9)) == (("orders", 0, 5), ("orders", 1, 8))
    assert sessions.read(1, fetch(2, forgotten=(0,)), None) == (("orders", 1, 8),)
    assert sessions.read(2, fetch(3), None) == ()  # of another node


def test_a_fetch_without_a_session_names_all() -> None:
    sessions = FetchSessions(Names())
    assert sessions.read(1, fetch(-1, (0, 5)), FetchResponse()) == ()
    assert sessions.read(1, fetch(1), None) == ()
