"""The value of `sasl.jaas.config`: one login module, a control flag, options: `Module required name="value" ...;`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from odradek.client_security.errors import SecurityOptionError

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |"(?P<double>(?:[^"\\\n]|\\.)*)"
    |'(?P<single>(?:[^'\\\n]|\\.)*)'
    |(?P<word>[\w.$-]+)
    |(?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_FLAGS = ("required", "requisite", "sufficient", "optional")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}


class LoginModule(NamedTuple):
    """A login module and its options; the options may hold secrets."""

    name: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"LoginModule({self.name}, {', '.join(self.options)})"

    def flag(self, name: str) -> bool:
        """Whether an option is `true`."""
        return self.options.get(name, "false").lower() == "true"


def parse_jaas(text: str) -> LoginModule:
    """The one login module of a JAAS configuration; SecurityOptionError for anything else. Errors show no values."""
    tokens = list(_tokens(text))
    if len(tokens) < 3 or tokens[-1] != (";", True):
        raise _wrong("it ends with a semicolon")
    (name, _), (flag, _) = tokens[:2]
    if flag.lower() not in _FLAGS:
        raise _wrong("a module's name, then required, then its options")
    options: dict[str, str] = {}
    rest = tokens[2:-1]
    for start in range(0, len(rest), 3):
        key, *others = rest[start : start + 3]
        if key[1] or len(others) != 2 or others[0] != ("=", True) or others[1][1]:
            raise _wrong('options are name="value", and there is one module')
        options[key[0]] = others[1][0]
    return LoginModule(name, options)


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Words and values, and the signs = and ; (which are marked)."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong('a value with other characters than letters, digits, . _ $ - stands in "quotes"')
        at = found.end()
        kind = found.lastgroup
        if kind != "space" and kind is not None:
            value = found[kind]
            yield re.sub(r"\\(.)", _unescaped, value) if kind in ("double", "single") else value, kind == "sign"


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[1])


def _wrong(why: str) -> SecurityOptionError:
    return SecurityOptionError(f"sasl.jaas.config cannot be read: {why}")
