"""Patterns that clients send, with google-re2 and without."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.patterns import (
    Pattern,
    PatternError,
    PatternNeedsRe2Error,
    compile_pattern,
    names_a_group_without_p,
)


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    compile_pattern.cache_clear()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "re2", None)
    yield
    compile_pattern.cache_clear()  # type: ignore[attr-defined]


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
def test_pattern_matches_whole_texts(pattern: str, matching: str, other: str | None) -> None:
    pytest.importorskip("re2")
    compiled = compile_pattern(pattern)
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
        r"a\C",
        "(?P<n>a)(?P<n>b)",
        "(?<n>a)(?P<n>b)",
    ],
)
def test_pattern_that_re2_does_not_know_is_refused(pattern: str) -> None:
    pytest.importorskip("re2")
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "a*", "a.*b.*", "a|b", "[ab]", "a{2}", "a.?", "^a", r"\1", r"\Qa\E", "a.*+"]
)
def test_without_google_re2_what_could_take_long_is_refused(pattern: str, without_re2: None) -> None:
    with pytest.raises(PatternNeedsRe2Error, match="pip install 'odradek\\[regex\\]'"):
        compile_pattern(pattern)


def test_a_pattern_has_65536_characters_at_most() -> None:
    assert compile_pattern("a" * 65_536).fullmatch("a" * 65_536)
    with pytest.raises(PatternError, match="longer than 65536 characters"):
        compile_pattern("a" * 65_537)


@pytest.mark.parametrize(
    ("pattern", "found"), [("(?<n>a)", True), ("(?P<n>a)", False), (r"\Q(?<n>\E", False), ("[(?<n>]", False)]
)
def test_a_group_that_is_named_without_p_is_seen(pattern: str, found: bool) -> None:
    assert names_a_group_without_p(pattern) is found


def both(pattern: str) -> tuple[Pattern, Pattern]:
    """Compiled by google-re2, and without it."""
    by_re2 = compile_pattern(pattern)
    with pytest.MonkeyPatch.context() as patch:
        compile_pattern.cache_clear()  # type: ignore[attr-defined]
        patch.setitem(sys.modules, "re2", None)
        simple = compile_pattern(pattern)
    compile_pattern.cache_clear()  # type: ignore[attr-defined]
    return by_re2, simple


ATOMS = st.lists(st.sampled_from(["a", "b", "-", ".", r"\.", r"\d", r"\w", r"\-"]), max_size=4).map("".join)


@given(ATOMS, st.sampled_from(["", ".*", ".+"]), ATOMS, st.lists(st.text("ab.-1\n", max_size=9), max_size=9))
def test_a_simple_pattern_matches_what_it_matches_with_google_re2(
    head: str, between: str, tail: str, texts: list[str]
) -> None:
    pytest.importorskip("re2")
    by_re2, simple = both(head + between + tail)
    for text in [*texts, "ab", "aab", "ab.ab"]:
        assert bool(simple.fullmatch(text)) == bool(by_re2.fullmatch(text)), text


def test_a_simple_pattern_takes_no_longer_than_its_text(without_re2: None) -> None:
    half = "a" * 8_000
    assert compile_pattern(f"{half}.*{half}").fullmatch(half * 2)
    assert not compile_pattern(f"{half}.+{half}").fullmatch(half * 2)
    assert not compile_pattern(f"{half}.*{half}b").fullmatch(half * 4)
