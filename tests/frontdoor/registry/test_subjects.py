"""Subjects in contexts."""

from __future__ import annotations

import pytest

from odradek.registry.subjects import Subject, begins, context_of, context_subject, in_context, is_valid, normal


@pytest.mark.parametrize(
    ("text", "context", "name", "stored"),
    [
        ("orders", ".", "orders", "orders"),
        (":.:orders", ".", "orders", "orders"),
        (":.test:orders", ".test", "orders", ":.test:orders"),
        (":.test:", ".test", "", ":.test:"),
        (":.test", ".test", "", ":.test:"),
        (":.test:a:b", ".test", "a:b", ":.test:a:b"),
        (":orders", ".", ":orders", ":orders"),
    ],
)
def test_a_text_means_a_subject(text: str, context: str, name: str, stored: str) -> None:
    assert Subject.of(text) == (context, name)
    assert normal(text) == stored
    assert context_of(text) == context


def test_no_subject_is_in_the_default_context() -> None:
    assert context_of(None) == "."
    assert context_subject(".") is None
    assert context_subject(".test") == ":.test:"


@pytest.mark.parametrize("text", ["", "__GLOBAL", "__EMPTY", "a\nb", "a\x7fb", ":.test:", ":.test:__GLOBAL"])
def test_not_every_text_is_a_subject(text: str) -> None:
    assert not is_valid(text)


def test_a_subject_may_have_any_letters() -> None:
    assert is_valid("Bücher/värde 1")
    assert is_valid(":.test:orders")


@pytest.mark.parametrize(
    ("context", "subject", "meant"),
    [
        (".test", "orders", ":.test:orders"),
        ("test", "orders", ":.test:orders"),
        (".", "orders", "orders"),
        (".test", None, ":.test:"),
        (".", None, None),
        (".test", ":.other:orders", ":.other:orders"),
    ],
)
def test_a_request_may_name_the_context(context: str, subject: str | None, meant: str | None) -> None:
    assert in_context(context, subject) == meant


@pytest.mark.parametrize(
    ("subject", "prefix", "meant"),
    [
        ("orders", "", True),
        ("orders", "ord", True),
        ("orders", "x", False),
        (":.test:orders", "ord", False),
        (":.test:orders", ":*:", True),
        (":.test:orders", ":*:ord", True),
        (":.test:orders", ":.test:", True),
        ("orders", ":.:", True),
    ],
)
def test_prefixes(subject: str, prefix: str, meant: bool) -> None:
    assert begins(subject, prefix) is meant
