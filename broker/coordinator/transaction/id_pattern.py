"""Patterns of transactional ids as ListTransactions 2 takes them: RE2 syntax, matching whole ids (KIP-1152)."""

from __future__ import annotations

import re
import warnings

from odradek.protocol.errors import ErrorCode, KafkaError

# What Python's `re` takes and RE2 does not: look-around, back references, atomic groups, conditionals, comments,
# possessive quantifiers, and \Z.
_NOT_RE2 = re.compile(r"\(\?(?:[=!>(#]|<[=!]|P[=>])|\\[1-9Zk]|[*+?}]\+")
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\x0b\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_NAMED_GROUP = re.compile(r"\(\?<(\w+)>")
_POSIX_CLASS = re.compile(r"\[:(\w+):\]")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)


def compile_id_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, for `fullmatch`; INVALID_REGULAR_EXPRESSION when it is none.

    Unicode classes (`\\p{...}`) are refused too: `re` has none.
    """
    text = _QUOTED.sub(lambda found: re.escape(found[1]), pattern)
    if _NOT_RE2.search(text.replace("\\\\", "")):
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"not an RE2 expression: {pattern}")
    text = _NAMED_GROUP.sub(r"(?P<\1>", text)
    text = _POSIX_CLASS.sub(lambda found: _POSIX_CLASSES.get(found[1], found[0]), text).replace("\\z", "\\Z")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "[[": only a hint about what `re` may become
            return re.compile(text, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern}: {error}") from error
