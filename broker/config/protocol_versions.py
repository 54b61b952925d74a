"""The versions that `inter.broker.protocol.version` and `message.format.version` take: `0.10.2`, `2.8-IV1`, `3.9`.

A name without `-IV` is the last version of that release, and a patch release is its minor release.
"""

from __future__ import annotations

from collections.abc import Sequence

_NAMES: Sequence[str] = (
    *("0.8.0", "0.8.1", "0.8.2", "0.9.0", "0.10.0-IV0", "0.10.0-IV1", "0.10.1-IV0", "0.10.1-IV1", "0.10.1-IV2"),
    *("0.10.2-IV0", "0.11.0-IV0", "0.11.0-IV1", "0.11.0-IV2", "1.0-IV0", "1.1-IV0", "2.0-IV0", "2.0-IV1"),
    *("2.1-IV0", "2.1-IV1", "2.1-IV2", "2.2-IV0", "2.2-IV1", "2.3-IV0", "2.3-IV1", "2.4-IV0", "2.4-IV1", "2.5-IV0"),
    *("2.6-IV0", "2.7-IV0", "2.7-IV1", "2.7-IV2", "2.8-IV0", "2.8-IV1", "3.0-IV0", "3.0-IV1", "3.1-IV0", "3.2-IV0"),
    *("3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2"),
    *("3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
)
"""From the oldest on."""


def protocol_version(text: str) -> int | None:
    """The place of a version among all, from the oldest on; None where there is no such version."""
    segments = text.split(".")
    name = ".".join(segments[: 3 if text.startswith("0.") else 2])
    if name in _NAMES:
        return _NAMES.index(name)
    return max((place for place, each in enumerate(_NAMES) if each.partition("-")[0] == name), default=None)


FIRST_OF_FORMAT_1 = _NAMES.index("0.10.0-IV0")
FIRST_OF_FORMAT_2 = _NAMES.index("0.11.0-IV0")
LAST_WITH_FORMATS = _NAMES.index("3.0-IV0")
"""From the next one on logs are in message format 2, whatever `message.format.version` says (KIP-724)."""


def message_format(version: str) -> int:
    """The format that a `message.format.version` stands for: 0, 1 or 2."""
    place = protocol_version(version)
    if place is None or place >= FIRST_OF_FORMAT_2:
        return 2
    return 1 if place >= FIRST_OF_FORMAT_1 else 0
