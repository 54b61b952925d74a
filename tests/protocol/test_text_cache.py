"""A cache of what clients choose is bounded by its length, not only by its number."""

from __future__ import annotations

from typing import Any

from odradek.protocol import text_cache as module
from odradek.protocol.text_cache import text_cache


def test_a_short_text_is_remembered() -> None:
    calls = []

    @text_cache(10)
    def asked(text: str, number: int) -> str:
        calls.append(text)
        return text * number

    assert [asked("a", 2), asked("a", 2), asked("b", 1)] == ["aa", "aa", "b"]
    assert calls == ["a", "b"]


def test_long_texts_make_it_begin_anew() -> None:
    @text_cache(1000)
    def asked(text: str | bytes | tuple[str, ...]) -> int:
        return len(text)

    cache: Any = asked
    for long in ("x", b"x", ("x",)):
        for number in range(100):
            asked(long * (module.MOST_LENGTH // 10 + number))
            assert cache.cache_info().currsize <= 10
