"""Without a cache nothing is kept."""

from __future__ import annotations

from odradek.broker.requests.answer_cache import NoAnswerCache


def test_what_is_put_is_not_there_the_next_time() -> None:
    cache = NoAnswerCache()
    cache.of("Metadata", 1)
    cache.keep("Metadata", "question", "answer", 6)
    cache.topics["t"] = (1, "part")
    assert cache.of("Metadata", 1) == {}
    assert cache.topics == {}
