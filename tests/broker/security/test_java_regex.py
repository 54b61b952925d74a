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
        (r"a\Z", "a", "a\n"),
        ("(?<=x)y|(?<name>z)", "z", "y"),
        ("(?i)a(?x)b c", "ABC", "AB C"),
        ("(?i)a|b", "B", "c"),
        ("((?i)a)(?i)b", "AB", "AC"),
        ("a(?i)(b(?s).)c", "aB\nC", "AB\nC"),
        (r"[\]a]b", "]b", "bb"),
        (r"[^\p{Digit}]x", "ax", "1x"),
        (r"\P{IsAlpha}", "1", "a"),
        (r"\p{IsAlpha}", "a", "1"),
        (r"\Qa", "a", "Qa"),
        (r"\Qa.\Eb\Q.c\E", "a.b.c", "aXb.c"),
        (r"a\.b", "a.b", "aXb"),
    ],
)
def test_patterns_mean_what_they_mean_in_java(pattern: str, matching: str, other: str) -> None:
    compiled = compile_java(pattern)
    assert compiled.fullmatch(matching)
    assert not compiled.fullmatch(other)


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("Lower", "az"),
        ("Upper", "AZ"),
        ("ASCII", "\0\x7f"),
        ("Alpha", "azAZ"),
        ("Digit", "09"),
        ("Alnum", "azAZ09"),
        ("Punct", "!/:@[`{~"),
        ("Graph", "!~"),
        ("Print", " ~"),
        ("Blank", " \t"),
        ("Cntrl", "\0\x1f\x7f"),
        ("XDigit", "09afAF"),
        ("Space", " \t\n\x0b\f\r"),
    ],
)
def test_classes_of_posix_have_javas_members(name: str, members: str) -> None:
    assert all(compile_java(rf"\p{{{name}}}").fullmatch(member) for member in members)
    assert not any(compile_java(rf"[^\p{{{name}}}]").fullmatch(member) for member in members)


def test_the_end_before_a_last_line_feed_is_found() -> None:
    found = compile_java(r"a\Z")
    assert found.search("a\n")
    assert not found.search("a\n\n")
    assert not compile_java(r"a\z").search("a\n")


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
        ("(?<n>a)|b", "b", "<${n}>", "<>"),
        ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)", "abcdefghijk", "$11$10$1", "kja"),
        ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "abcdefghij", "$11", "a1"),
        ("a", "a", "$0$0", "aa"),
        ("x*", "ab", "-", "-a-b-"),
        ("a*", "baac", "X", "XbXXcX"),
        ("b", "abc", "", "ac"),
        ("(a)", "a", "$1x", "ax"),
    ],
)
def test_replacements_are_those_of_java(pattern: str, text: str, replacement: str, result: str) -> None:
    assert replace_all(compile_java(pattern), text, replacement) == result


@pytest.mark.parametrize("replacement", ["$", "$x", "$2", "${m}", "\\"])
def test_java_regex_replacements_that_java_refuses_are_refused(replacement: str) -> None:
    with pytest.raises(ValueError):
        replace_all(compile_java("(a)"), "a", replacement)
