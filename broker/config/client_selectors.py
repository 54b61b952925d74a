"""Which clients a client-metrics subscription is for: the config `match` (KIP-714).

The value is a list of `selector=pattern`. All patterns must match the client's whole attribute. Of two patterns with
one selector the last counts, as in Kafka. `odradek.protocol.patterns` matches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.protocol.patterns import Pattern, PatternError, PatternNeedsRe2Error, compile_pattern

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
            found[selector] = compile_pattern(parts[1].strip())
        except PatternNeedsRe2Error as error:
            raise IllegalSelectorError(f"Illegal client matching pattern: {pattern}: {error}") from None
        except PatternError:
            raise IllegalSelectorError(f"Illegal client matching pattern: {pattern}") from None
    return found


def matches(selectors: Selectors, attributes: Mapping[str, str | None]) -> bool:
    """Whether a client with these attributes is meant. No selector means every client; None matches nothing."""
    for selector, pattern in selectors.items():
        value = attributes.get(selector)
        if value is None or pattern.fullmatch(value) is None:
            return False
    return True
