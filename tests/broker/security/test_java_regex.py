"""Java's regular expressions in Python. What whole rules do was recorded: see tls/test_principal_rules.py."""

from __future__ import annotations

import pytest

from odradek.broker.security.java_regex import compile_java, replace_all


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("^CN=(?<name>[^,]+).*$", "CN=a,O=b", "O=b"),
        (r"\p{Upper}+\p{Lower}[\p{Digit}_]", "ABc7", "ABC7"),
        (r"\P{Alpha}x", "1x", "ax"),
        (r"[\p{Alpha}-]x", "ax", "1x"),
        (r"\Qa.b(\E[0-9]", "a.b(1", "aXb(1"),
        (r"a\z", "a", "a\n"),
        ("^(?i)cn=x$", "CN=X", "CN=Y"),
        ("(a(?i)b)c", "aBc", "aBC"),
        ("(?<!x)y(?=z)z", "yz", "xyz"),
        ("[^]a]b", "cb", "]b"),
        (r"\d+", "12", "\u0661\u0662"),
        ("a++b", "aab", "aac"),
    ],
)
def test_patterns_mean_what_they_mean_in_java(pattern: str, matching: str, other: str) -> None:
    compiled = compile_java(pattern)
    assert compiled.fullmatch(matching)
    assert not compiled.fullmatch(other)


@pytest.mark.parametrize(
    "pattern", ["(a", "[a", "a)", "[a&&b]", "[a[b]]", r"\p{IsLatin}", r"[\P{Alpha}]", "*a", "x{99999999999999}"]
)
def test_wrong_patterns_and_those_that_python_does_not_have_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_java(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "replacement", "result"),
    [
        (".*", "abc", "x", "xx"),
        ("b*", "abc", "-", "-a--c-"),
        ("(.)(.)", "abcd", "$2$1", "badc"),
        ("(a)", "a", "$10", "a0"),
        ("(?<n>a)", "a", "<${n}>", "<a>"),
        ("a", "a", r"\$1\\", "$1\\"),
        ("(a)|(b)", "b", "$1", ""),
    ],
)
def test_replacements_are_those_of_java(pattern: str, text: str, replacement: str, result: str) -> None:
    assert replace_all(compile_java(pattern), text, replacement) == result


@pytest.mark.parametrize("replacement", ["$", "$x", "$2", "${m}", "\\"])
def test_java_regex_replacements_that_java_refuses_are_refused(replacement: str) -> None:
    with pytest.raises(ValueError):
        replace_all(compile_java("(a)"), "a", replacement)
