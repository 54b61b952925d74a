"""Patterns of transactional ids: RE2, not Python's dialect."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.transaction.id_pattern import compile_id_pattern
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("app-.*", "app-1", "my-app-1"),
        (".*", "", None),
        ("a|b", "b", "ab"),
        ("[[:alpha:]]+", "abc", "abc1"),
        (r"\Qa.b\E.", "a.bc", "axbc"),
        (r"\d+", "12", "١٢"),
        (r"x\z", "x", "x\n"),
        ("(?i)abc", "ABC", "ABCD"),
        ("(?P<name>a)b", "ab", "a"),
        ("(?<name>a)b", "ab", "a"),
        ("(?:a)b", "ab", "a"),
        (r"a\\Z", "a\\Z", "a"),
        ("a{2,3}?", "aa", "a"),
    ],
)
def test_whole_ids_are_matched(pattern: str, matching: str, other: str | None) -> None:
    compiled = compile_id_pattern(pattern)
    assert compiled.fullmatch(matching)
    assert other is None or not compiled.fullmatch(other)


@pytest.mark.parametrize(
    "pattern",
    [
        "([",
        "a**",
        "*a",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?>a)",
        "a++",
        "(?#x)",
        r"a\Z",
    ],
)
def test_what_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(KafkaError) as caught:
        compile_id_pattern(pattern)
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
