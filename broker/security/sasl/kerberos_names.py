"""Kerberos principals as Kafka's users: `sasl.kerberos.principal.to.local.rules`.

A rule is `DEFAULT` (the first component of a principal of the default realm) or
`RULE:[n:format](regex)s/pattern/replacement/g/L`, as in `auth_to_local` of krb5.conf. The first that applies counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError

_RULE = re.compile(
    r"DEFAULT|RULE:\[(?P<count>\d+):(?P<format>[^\]]*)](?:\((?P<match>[^)]*)\))?"
    r"(?:s/(?P<pattern>[^/]*)/(?P<replacement>[^/]*)/(?P<repeat>g)?)?/?(?P<case>[LU])?"
)
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_PARAMETER = re.compile(r"\$(\d+)")
_GROUP = re.compile(r"\\(.)|\$(\d)")


class NoRule(Exception):
    """No rule makes a name of a principal, or one makes a name that cannot be a user's."""


class _Rule(NamedTuple):
    components: int
    format: str
    match: re.Pattern[str] | None
    pattern: re.Pattern[str] | None
    replacement: str
    repeat: bool
    case: str | None


class KerberosNames:
    """The rules of a listener."""

    def __init__(self, rules: Sequence[str], default_realm: str) -> None:
        """ConfigError, in Kafka's words, for a rule that cannot be read."""
        self._realm = default_realm
        self._rules = [_parsed(rule) for rule in rules]

    def user(self, principal: str) -> str:
        """`alice/host@REALM` -> `alice` and the like; NoRule if it is nobody's."""
        found = _NAME.fullmatch(principal)
        if found is None:
            if "@" in principal:
                raise NoRule("Malformed Kerberos name")
            return principal
        service, host, realm = found.groups()
        parts = [realm, service] if host is None else [realm, service, host]
        for rule in self._rules:
            name = self._default(parts) if rule is None else _applied(rule, parts)
            if name is not None:
                return name
        raise NoRule(f"No rules apply to {principal}")

    def _default(self, parts: Sequence[str]) -> str | None:
        return _simple(parts[1]) if parts[0] == self._realm else None


def _parsed(text: str) -> _Rule | None:
    """None for DEFAULT."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise ConfigError(f"Invalid rule: {text}")
    if found["count"] is None:
        return None
    try:
        match, pattern = (
            None if found[part] is None else re.compile(found[part], re.ASCII) for part in ("match", "pattern")
        )
    except re.error as error:
        raise ConfigError(f"Invalid rule: {text}: {error}") from None
    replacement = _GROUP.sub(_python_group, found["replacement"] or "")
    return _Rule(
        int(found["count"]), found["format"], match, pattern, replacement, bool(found["repeat"]), found["case"]
    )


def _python_group(found: re.Match[str]) -> str:
    r"""Java's `$1` and `\$` in Python's words."""
    if found[2] is not None:
        return rf"\g<{found[2]}>"
    return "\\\\" if found[1] == "\\" else found[1]


def _applied(rule: _Rule, parts: Sequence[str]) -> str | None:
    """The name that a rule makes of realm and components; None if it is not for them."""
    if len(parts) - 1 != rule.components:
        return None

    def parameter(found: re.Match[str]) -> str:
        if int(found[1]) >= len(parts):
            raise NoRule(f"index {found[1]} from {rule.format} is outside of the valid range 0 to {len(parts) - 1}")
        return parts[int(found[1])]

    base = _PARAMETER.sub(parameter, rule.format)
    if rule.match is not None and not rule.match.fullmatch(base):
        return None
    if rule.pattern is not None:
        try:
            base = rule.pattern.sub(rule.replacement, base, count=0 if rule.repeat else 1)
        except (re.error, IndexError):
            raise NoRule(f"the replacement {rule.replacement} does not fit its pattern") from None
    change: Callable[[str], str] = {"L": str.lower, "U": str.upper}.get(rule.case or "", str)
    return change(_simple(base))


def _simple(name: str) -> str:
    if "/" in name or "@" in name:
        raise NoRule(f"Non-simple name {name} after auth_to_local rule")
    return name
