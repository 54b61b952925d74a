"""Which clients a client-metrics subscription is for: the config `match` (KIP-714).

The value is a list of `selector=pattern`. All patterns must match the client's whole attribute. Of two patterns with
one selector the last counts, as in Kafka.

A client may set such a pattern, and matching runs in the broker's one thread. So google-re2 matches, in time that grows
with the text, where it is installed (extra ``regex``); Python's own `re` can be kept busy for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

CLIENT_INSTANCE_ID = "client_instance_id"
CLIENT_ID = "client_id"
CLIENT_SOFTWARE_NAME = "client_software_name"
CLIENT_SOFTWARE_VERSION = "client_software_version"
CLIENT_SOURCE_ADDRESS = "client_source_address"
CLIENT_SOURCE_PORT = "client_source_port"

SELECTORS = frozenset(
    {
        CLIENT_INSTANCE_ID,
        CLIENT_ID,
        CLIENT_SOFTWARE_NAME,
        CLIENT_SOFTWARE_VERSION,
        CLIENT_SOURCE_ADDRESS,
        CLIENT_SOURCE_PORT,
    }
)


class Pattern(Protocol):
    """A compiled pattern."""

    def fullmatch(self, string: str, /) -> object | None:
        """A match with the whole text, if there is one."""


Selectors = Mapping[str, Pattern]


class IllegalSelectorError(ValueError):
    """A pattern that Kafka refuses; the text is Kafka's."""


def parse_selectors(patterns: Iterable[str]) -> Selectors:
    """The compiled patterns by selector; IllegalSelectorError for an invalid one.

    Java's `split("=")` drops empty parts at the end, so `client_id=a=` means `client_id=a`, and `client_id=` is
    refused.
    """
    found: dict[str, Pattern] = {}
    for pattern in patterns:
        parts = pattern.rstrip("=").split("=")
        selector = parts[0].strip()
        if len(parts) != 2 or selector not in SELECTORS:
            raise IllegalSelectorError(f"Illegal client matching pattern: {pattern}")
        try:
            found[selector] = _compiled(parts[1].strip())
        except ValueError:
            raise IllegalSelectorError(f"Illegal client matching pattern: {pattern}") from None
    return found


def _compiled(pattern: str) -> Pattern:
    """ValueError for a pattern that the engine does not take."""
    engine: Any
    options: dict[str, Any]
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        engine, options = re, {}
    else:
        engine, options = re2, {"options": re2.Options()}
        options["options"].log_errors = False
    try:
        compiled: Pattern = engine.compile(pattern, **options)
    except engine.error as error:
        raise ValueError(str(error)) from None
    return compiled


def matches(selectors: Selectors, attributes: Mapping[str, str | None]) -> bool:
    """Whether a client with these attributes is meant. No selector means every client; None matches nothing."""
    for selector, pattern in selectors.items():
        value = attributes.get(selector)
        if value is None or pattern.fullmatch(value) is None:
            return False
    return True
