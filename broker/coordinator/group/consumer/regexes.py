"""Patterns of topics that members subscribe to, in the syntax of RE2/J.

They need the package google-re2 (extra ``regex``), which is imported when the first pattern arrives: Python's own `re`
has another syntax, and patterns that take exponential time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.text_cache import text_cache

# RE2's texts for what RE2/J refuses as well -> RE2/J's texts.
_IN_RE2J = {
    "missing )": "missing closing )",
    "unexpected )": "regexp/syntax: internal error",
    "missing ]": "missing closing ]",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_LONGEST = 65_536
"""Characters. Beyond that a pattern's compilation, which cannot be interrupted, takes too long and too much memory."""

_LOOK_BEHIND = "invalid perl operator: (?<"
_TOKENS = re.compile(
    r"\\Q.*?(?:\\E|$)|\\(?P<escaped>.)|\(\?P?<(?P<name>\w+)>|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]", re.S
)
"""The syntax that differs between RE2 and RE2/J: escapes, and names of groups. Quotes and classes are skipped."""


class ResolvedRegex(NamedTuple):
    """The topics that a pattern matched when topics had that ``version``, at that time (milliseconds)."""

    topics: frozenset[str]
    version: int
    timestamp: int


NO_TOPICS = ResolvedRegex(frozenset(), 0, 0)


def check_regex(regex: str, *, named_groups: bool = True) -> None:
    """INVALID_REGULAR_EXPRESSION with Kafka's message for an invalid pattern.

    `named_groups`: groups may be named without a P.
    """
    _compiled(regex)
    if not named_groups and any(token[0].startswith("(?<") for token in _TOKENS.finditer(regex)):
        raise _invalid(regex, "invalid or unsupported Perl syntax")


def matching(regex: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole names match the pattern."""
    fullmatch = _compiled(regex).fullmatch
    return frozenset(topic for topic in topics if fullmatch(topic) is not None)


@text_cache(256)
def _compiled(regex: str) -> Any:
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        text = f"SubscribedTopicRegex `{regex}` needs google-re2 beside the broker: pip install 'odradek[regex]'"
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, text) from None
    if len(regex) > _LONGEST:
        raise _invalid(f"{regex[:100]}...", f"longer than {_LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # memory of a match grows with the square of the groups
    try:
        compiled = re2.compile(regex, options=options)
    except re2.error as error:
        raise _invalid(regex, _reason(error)) from None
    _check_as_re2j(regex)
    return compiled


def _check_as_re2j(regex: str) -> None:
    """Refuse syntax that RE2 accepts and RE2/J does not: single bytes, and two groups of one name."""
    names: set[str] = set()
    for token in _TOKENS.finditer(regex):
        if token["escaped"] == "C":
            raise _invalid(regex, "invalid escape sequence")
        if token["name"] in names:
            raise _invalid(regex, "duplicate capture group name")
        if token["name"]:
            names.add(token["name"])


def _reason(error: Exception) -> str:
    found = error.args[0] if error.args else ""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    if text.startswith(_LOOK_BEHIND):
        return "invalid named capture"
    what = text.split(":")[0]
    return _IN_RE2J.get(what, what)


def _invalid(regex: str, reason: str) -> KafkaError:
    text = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {reason}."
    return KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, text)
