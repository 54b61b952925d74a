"""`ssl.principal.mapping.rules`: maps the subject of a certificate to the name of a principal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.java_regex import compile_java, replace_all

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER = rf"\s*({_RULE})\s*(?:,\s*|$)"
_REFERENCE = re.compile(r"\$([0-9]+)")


class NoMatchingRuleError(Exception):
    """No rule matches the name. Its connection is closed."""


class _Rule(NamedTuple):
    """One rule. With a `pattern` of None the name stays as it is."""

    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        result = replace_all(self.pattern, name, _literal_unknown_groups(self.replacement, self.pattern.groups))
        return result.lower() if self.case == "L" else result.upper() if self.case == "U" else result


class PrincipalRules:
    """The rules of a listener, in order. The first one that matches the whole name applies."""

    def __init__(self, text: str) -> None:
        """ConfigError for rules that Kafka refuses."""
        self._text = text
        self._rules = [rule for part in _split(text) if (rule := _parse(part)) is not None]

    def name_of(self, subject: str) -> str:
        """The principal's name for a subject; NoMatchingRuleError if no rule matches."""
        for rule in self._rules:
            try:
                name = rule.apply(subject)
            except ValueError as error:
                raise NoMatchingRuleError(f"a rule cannot be applied to {subject}: {error}") from None
            if name is not None:
                return name
        raise NoMatchingRuleError(f"No rules apply to {subject}, rules {self._text}")


def _split(text: str) -> Iterator[str]:
    return (found[1] for found in re.finditer(_SPLITTER, text.strip()))


def _parse(part: str) -> _Rule | None:
    """One rule; None for an empty one."""
    match = re.match(_RULE, part)
    assert match is not None, "the last alternative takes anything"
    if match.end() != len(part):
        raise ConfigError(f"Invalid rule: `{part}`, unmatched substring: `{part[match.end() :]}`")
    if match[1] is not None:
        return _Rule(None)
    if match[2] is None:
        return None
    try:
        return _Rule(compile_java(match[2]), match[3], match[4])
    except ValueError as error:
        raise ConfigError(f"Invalid rule: `{part}`: {error}") from None


def _literal_unknown_groups(replacement: str, groups: int) -> str:
    """Escape references to groups that the pattern lacks: they are literal text."""
    if groups == 0:
        return replacement

    def checked(reference: re.Match[str]) -> str:
        number = reference[1]
        if number.startswith("0"):
            return reference[0]
        while int(number) > groups and len(number) > 1:
            number = number[:-1]
        return reference[0] if int(number) <= groups else f"\\{reference[0]}"

    return _REFERENCE.sub(checked, replacement)
