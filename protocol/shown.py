"""Text of clients, made safe to show.

Names of groups, topics, clients and users come from outside. What shows them in a log, in a report or on a terminal
shows them through `one_line`: at the edge, not where they are kept.
"""

from __future__ import annotations

from typing import Final

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def one_line(text: str) -> str:
    """Escape what is not printable: line breaks, control sequences of terminals, marks of direction, half characters.

    A name must not write a line of its own, move a cursor, or change what stands beside it. The escapes are those of
    JSON, so that JSON stays what it is.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def printable(text: str) -> str:
    """The same for a text of several lines: its line breaks stay."""
    return "\n".join(map(one_line, text.split("\n")))


def counted(number: int, noun: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def place_name(topic: str, partition: int | None) -> str:
    """``topic 'orders'``, or ``partition orders-0``."""
    return f"topic {topic!r}" if partition is None else f"partition {topic}-{partition}"


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return _SHORT.get(char) or "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


# -- Which fields of messages are secrets: they are in no repr, dump or report.


HIDDEN: Final = "[hidden]"
SECRET_FIELDS: Final = frozenset({"auth_bytes", "hmac", "salted_password", "salt", "stored_key", "server_key"})
"""Tokens of a log-in, HMACs of delegation tokens (their passwords), and what is kept of SCRAM passwords."""
SECRET_REQUESTS: Final = frozenset({33, 36, 38, 39, 40, 41, 44, 51})
"""Keys of the APIs whose requests may hold a secret: AlterConfigs, SaslAuthenticate, the four of delegation tokens,
IncrementalAlterConfigs, AlterUserScramCredentials."""
_SECRET_CONFIGS = ("password", "passphrase", "secret", "jaas", "ssl.keystore.", "ssl.truststore.certificates")


def is_secret_config(name: object) -> bool:
    """Whether the value of a config of this name is nobody's business, whatever prefix it has."""
    return isinstance(name, str) and any(part in name.lower() for part in _SECRET_CONFIGS)


def is_secret(field: str, owner: object) -> bool:
    """Whether this field of a message is a secret: by its name, or as the value of a config."""
    return field in SECRET_FIELDS or (field == "value" and is_secret_config(getattr(owner, "name", None)))
