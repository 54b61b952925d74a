"""Translates Java's regular expressions, which security configs use, to Python's `re`.

Most syntax is the same. Different syntax is translated, and syntax that Python lacks is refused.
"""

from __future__ import annotations

import re

_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_FLAGS = re.compile(r"\(\?([imsx]+)\)")
_UNTIL_END_OF_QUOTE = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)


def compile_java(pattern: str) -> re.Pattern[str]:
    """Compile a Java pattern. ValueError if it is invalid or uses syntax that Python's `re` lacks."""
    translated = _Translation(_UNTIL_END_OF_QUOTE.sub(lambda quoted: re.escape(quoted[1]), pattern)).run()
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{error} in the pattern {pattern}") from None


class _Translation:
    """One pass over a pattern. In Java a flag in the middle applies up to the end of its group; Python needs an
    explicit group.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._to_close = [0]

    def run(self) -> str:
        while self._at < len(self._pattern):
            self._step(self._pattern[self._at])
        return "".join(self._out) + ")" * self._to_close[0]

    def _step(self, char: str) -> None:
        rest = self._pattern[self._at :]
        if char == "\\":
            self._escape(rest, in_class=False)
        elif char == "[":
            self._class()
        elif flags := _FLAGS.match(rest):
            self._take(f"(?{flags[1]}:", flags.end())
            self._to_close[-1] += 1
        elif rest.startswith("(?<") and rest[3:4] not in ("=", "!"):
            self._to_close.append(0)
            self._take("(?P<", 3)
        elif char == "(":
            self._to_close.append(0)
            self._take("(", 1)
        elif char == ")":
            open_flags = self._to_close.pop() if len(self._to_close) > 1 else 0
            self._take(")" * (open_flags + 1), 1)
        else:
            self._take(char, 1)

    def _take(self, text: str, length: int) -> None:
        self._out.append(text)
        self._at += length

    def _escape(self, rest: str, *, in_class: bool) -> None:
        named = re.match(r"\\([pP])\{(?:Is)?(\w+)\}", rest)
        if named:
            inside = _CLASSES.get(named[2])
            if inside is None or (in_class and named[1] == "P"):
                raise ValueError(f"{named[0]} is not supported in the pattern {self._pattern}")
            self._take(inside if in_class else f"[{'^' if named[1] == 'P' else ''}{inside}]", named.end())
        elif rest.startswith("\\z"):
            self._take("\\Z", 2)
        elif rest.startswith("\\Z"):
            self._take("(?=\\n?\\Z)", 2)
        else:
            self._take(rest[:2], 2)

    def _class(self) -> None:
        """A class in brackets. Unions and intersections, which Python lacks, are refused."""
        self._take("[", 1)
        for sign in ("^", "]"):
            if self._pattern.startswith(sign, self._at):
                self._take(sign, 1)
        while self._at < len(self._pattern):
            rest = self._pattern[self._at :]
            if rest.startswith("]"):
                self._take("]", 1)
                return
            if rest.startswith(("[", "&&")):
                raise ValueError(f"classes within classes are not supported in the pattern {self._pattern}")
            if rest.startswith("\\"):
                self._escape(rest, in_class=True)
            else:
                self._take(rest[0], 1)


def replace_all(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """Java's `String.replaceAll`. ValueError for a replacement that Java refuses."""
    out: list[str] = []
    copied = position = 0
    while position <= len(text):
        match = pattern.search(text, position)
        if match is None:
            break
        out += text[copied : match.start()], _expanded(match, replacement)
        copied = match.end()
        position = copied if match.end() > match.start() else copied + 1
    out.append(text[copied:])
    return "".join(out)


def _expanded(match: re.Match[str], replacement: str) -> str:
    """The replacement with `$1`, `${name}` and backslashes expanded."""
    out: list[str] = []
    at = 0
    while at < len(replacement):
        char = replacement[at]
        if char == "\\":
            if at + 1 == len(replacement):
                raise ValueError("character to be escaped is missing")
            out.append(replacement[at + 1])
            at += 2
        elif char == "$":
            text, at = _group(match, replacement, at + 1)
            out.append(text)
        else:
            out.append(char)
            at += 1
    return "".join(out)


def _group(match: re.Match[str], replacement: str, at: int) -> tuple[str, int]:
    named = re.compile(r"\{(\w+)\}").match(replacement, at)
    if named:
        if named[1] not in match.re.groupindex:
            raise ValueError(f"No group with name {{{named[1]}}}")
        return match[named[1]] or "", named.end()
    if not ("0" <= replacement[at : at + 1] <= "9"):
        raise ValueError("Illegal group reference: group index is missing")
    number = int(replacement[at])
    at += 1
    if number > match.re.groups:
        raise ValueError(f"No group {number}")
    # A further digit belongs to the number if there is a group with that number.
    while at < len(replacement) and "0" <= replacement[at] <= "9":
        longer = number * 10 + int(replacement[at])
        if longer > match.re.groups:
            break
        number = longer
        at += 1
    return match[number] or "", at
