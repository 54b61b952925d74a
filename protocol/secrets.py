"""Which fields of messages are secrets: they are in no repr, dump or report."""

from __future__ import annotations

from typing import Final

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
