"""JAAS configurations as Kafka reads them, with Java's StreamTokenizer: `LOGIN.MODULE flag name="value" ...;`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

_FLAGS = frozenset({"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"})
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OCTAL = "01234567"
_NUMBER_STARTS = frozenset("0123456789.-")


class JaasError(ValueError):
    """A text is no JAAS configuration. The message, in Kafka's words, has no values."""


class LoginModule(NamedTuple):
    """One entry: the Java class and its options."""

    name: str
    flag: str
    options: Mapping[str, str]

    def __repr__(self) -> str:
        return f"LoginModule({self.name}, {', '.join(self.options)})"


def parse(text: str) -> list[LoginModule]:
    """The entries of a configuration; JaasError in Kafka's words."""
    tokens = _Tokens(text)
    modules = []
    while tokens.next() is not None:
        modules.append(_module(tokens))
    if not modules:
        raise JaasError("Login module not specified in JAAS config")
    return modules


def _module(tokens: _Tokens) -> LoginModule:
    name = tokens.word
    if tokens.next() is None:
        raise JaasError("Login module control flag not specified in JAAS config")
    flag = tokens.word
    if flag is None:
        raise JaasError("Login module control flag is not available in the JAAS config")
    if flag.upper() not in _FLAGS:
        raise JaasError("Invalid login module control flag in JAAS config")
    options: dict[str, str] = {}
    while tokens.next() not in (None, ";"):
        key = tokens.word
        if tokens.next() != "=" or tokens.next() is None or tokens.word is None:
            raise JaasError(f"Value not specified for key '{_told(key)}' in JAAS config")
        options[_told(key)] = tokens.word
    if tokens.kind != ";":
        raise JaasError("JAAS config entry not terminated by semi-colon")
    return LoginModule(_told(name), flag.upper(), options)


def _told(word: str | None) -> str:
    return "null" if word is None else word


class _Tokens:
    """Reads the tokens of a text. `kind`: "word", "number" or a character; None at the end. `word`: its text."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokenize(text)
        self.kind: str | None = None
        self.word: str | None = None

    def next(self) -> str | None:
        """Go to the next token; returns its kind."""
        self.kind, self.word = next(self._tokens, (None, None))
        return self.kind


def _tokenize(text: str) -> Iterator[tuple[str, str | None]]:
    at = 0
    while at < len(text):
        char = text[at]
        if char <= " ":
            at += 1
        elif char == "/":
            at = _behind_comment(text, at)
        elif char in "\"'":
            word, at = _quoted(text, at)
            yield "word", word
        elif char in _NUMBER_STARTS:
            at = _behind_number(text, at)
            yield "number", None
        elif _in_word(char):
            end = at
            while end < len(text) and (_in_word(text[end]) or text[end] in _NUMBER_STARTS):
                end += 1
            yield "word", text[at:end]
            at = end
        else:
            yield char, None
            at += 1


def _in_word(char: str) -> bool:
    return (char.isascii() and char.isalpha()) or char in "_$" or char >= "\xa0"


def _behind_comment(text: str, at: int) -> int:
    """A slash begins a comment, with or without a second one."""
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    return min(ends, default=len(text))


def _behind_number(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] in "0123456789.":
        end += 1
    return end


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The string that begins at a quote, and its end: the same quote, the end of the line or the end of the text."""
    quote = text[at]
    at += 1
    found: list[str] = []
    while at < len(text) and text[at] not in (quote, "\n", "\r"):
        char = text[at]
        at += 1
        if char != "\\":
            found.append(char)
        elif at < len(text):
            char, at = _escaped(text, at)
            found.append(char)
    return "".join(found), at + 1 if at < len(text) and text[at] == quote else at


def _escaped(text: str, at: int) -> tuple[str, int]:
    """The character after a backslash: an escape by name, up to three octal digits, or the character itself."""
    end = at
    most = at + (3 if text[at] in "0123" else 2)
    while end < min(most, len(text)) and text[end] in _OCTAL:
        end += 1
    if end > at:
        return chr(int(text[at:end], 8)), end
    return _ESCAPES.get(text[at], text[at]), at + 1
