"""The entries of a key or trust store, in any format."""

from __future__ import annotations

import base64
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError


class StoreError(ConfigError):
    """A key or trust store is invalid.

    The text never has a secret. `java`: the corresponding exception of Kafka, which puts its name before the text when
    it refuses a change.
    """

    java = "org.apache.kafka.common.errors.InvalidConfigurationException"


class UnreadableStoreError(StoreError):
    """A file is no store that Java can open."""

    java = "org.apache.kafka.common.KafkaException"


class ChangeError(StoreError):
    """A store cannot replace another one."""

    java = "org.apache.kafka.common.config.ConfigException"


class KeyEntry(NamedTuple):
    """A private key (PKCS#8 in DER, encrypted if `password` is not None) and its certificates (DER), its own first."""

    alias: str
    key: bytes
    chain: tuple[bytes, ...]
    password: str | None = None

    def __repr__(self) -> str:
        return f"KeyEntry({self.alias!r}, {len(self.chain)} certificates)"

    def pem(self) -> str:
        """Key and chain in OpenSSL's format."""
        kind = "PRIVATE KEY" if self.password is None else "ENCRYPTED PRIVATE KEY"
        return to_pem(kind, self.key) + "".join(to_pem("CERTIFICATE", part) for part in self.chain)


class Store(NamedTuple):
    """`keys`: private keys with their certificates. `trusted`: certificates without a key, by alias."""

    keys: tuple[KeyEntry, ...] = ()
    trusted: tuple[tuple[str, bytes], ...] = ()

    def certificates(self) -> dict[str, bytes]:
        """The first certificate of each entry, by alias: the content of a trust store."""
        return {entry.alias: entry.chain[0] for entry in self.keys if entry.chain} | dict(self.trusted)


def to_pem(kind: str, content: bytes) -> str:
    """DER as PEM."""
    text = base64.b64encode(content).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])
