"""Patterns that clients send: groups' subscriptions, filters of transactional ids, selectors of client metrics.

Their syntax is RE2/J's, and matching takes time that grows with the text: it runs in the broker's one thread, where
Python's own `re` can be kept busy for ever. google-re2 (extra `regex`) matches them; it is imported when the first
pattern arrives. Without it a pattern may be text with one `.*` or `.+`.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Protocol

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
LONGEST_PATTERN = 65_536
"""Characters. Beyond that a pattern's compilation, which cannot be interrupted, takes too long and too much memory."""

_LOOK_BEHIND = "invalid perl operator: (?<"
# Patterns are compiled when they are first needed: every broker start would pay for them.
_TOKENS = r"(?s)\\Q.*?(?:\\E|$)|\\(?P<escaped>.)|\(\?P?<(?P<name>\w+)>|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]])*\]"
"""The syntax that differs between RE2 and RE2/J: escapes, and names of groups. Quotes and classes are skipped."""

_CHARACTER = r"[^\\.*+?()\[\]{}|^$]|\\[^\w\s]|\\[dw]|\.(?![*+?{])"
"""What stands for one character."""
_SIMPLE = rf"(?P<head>(?:{_CHARACTER})*+)(?:(?P<any>\.[*+])(?P<tail>(?:{_CHARACTER})*+))?"


class PatternError(ValueError):
    """A pattern that is refused; the text is RE2/J's."""


class PatternNeedsRe2Error(PatternError):
    """A pattern that only google-re2 matches, which is not installed."""


class Pattern(Protocol):
    """A compiled pattern."""

    def fullmatch(self, string: str, /) -> object | None:
        """A match with the whole text, if there is one."""


@text_cache(256)
def compile_pattern(pattern: str) -> Pattern:
    """The compiled pattern; :class:`PatternError` for an invalid one."""
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"longer than {LONGEST_PATTERN} characters")
    try:
        re2 = import_module("re2")
    except ImportError:
        return _simple(pattern)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # memory of a match grows with the square of the groups
    try:
        compiled: Pattern = re2.compile(pattern, options=options)
    except re2.error as error:
        raise PatternError(_reason(error)) from None
    _check_as_re2j(pattern)
    return compiled


def names_a_group_without_p(pattern: str) -> bool:
    """Whether a group is named as `(?<name>`."""
    return any(token[0].startswith("(?<") for token in re.finditer(_TOKENS, pattern))


def _simple(pattern: str) -> Pattern:
    """The pattern for Python's `re`, so written that nothing is tried twice."""
    found = re.fullmatch(_SIMPLE, pattern, re.ASCII)
    if found is None:
        raise PatternNeedsRe2Error("it needs google-re2 beside the broker: pip install 'odradek[regex]'")
    if found["any"] is None:
        return re.compile(pattern, re.ASCII)
    least = len(re.findall(_CHARACTER, found["tail"], re.ASCII)) + (found["any"] == ".+")
    return re.compile(f"{found['head']}(?=.{{{least}}}).*+(?<={found['tail']})", re.ASCII)


def _check_as_re2j(pattern: str) -> None:
    """Refuse syntax that RE2 accepts and RE2/J does not: single bytes, and two groups of one name."""
    names: set[str] = set()
    for token in re.finditer(_TOKENS, pattern):
        if token["escaped"] == "C":
            raise PatternError("invalid escape sequence")
        if token["name"] in names:
            raise PatternError("duplicate capture group name")
        if token["name"]:
            names.add(token["name"])


def _reason(error: Any) -> str:
    found = error.args[0] if error.args else ""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    if text.startswith(_LOOK_BEHIND):
        return "invalid named capture"
    what = text.split(":")[0]
    return _IN_RE2J.get(what, what)
