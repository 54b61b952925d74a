"""What a key or trust store holds, whatever its format."""

from __future__ import annotations

import base64
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError


class StoreError(ConfigError):
    """A key or trust store that cannot be used. The text never shows what is secret.

    `java`: Kafka's exception of the same meaning, whose name it puts before the text where a change is refused.
    """

    java = "org.apache.kafka.common.errors.InvalidConfigurationException"


class UnreadableStoreError(StoreError):
    """A file that cannot be opened as a store of Java."""

    java = "org.apache.kafka.common.KafkaException"


class ChangeError(StoreError):
    """A store that cannot take the place of another one."""

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
        """Key and chain as OpenSSL reads them."""
        kind = "PRIVATE KEY" if self.password is None else "ENCRYPTED PRIVATE KEY"
        return to_pem(kind, self.key) + "".join(to_pem("CERTIFICATE", part) for part in self.chain)


class Store(NamedTuple):
    """`keys`: private keys with their certificates. `trusted`: certificates by alias that stand alone."""

    keys: tuple[KeyEntry, ...] = ()
    trusted: tuple[tuple[str, bytes], ...] = ()

    def certificates(self) -> dict[str, bytes]:
        """The first certificate of each entry by its alias, as a trust store is read."""
        return {entry.alias: entry.chain[0] for entry in self.keys if entry.chain} | dict(self.trusted)


def to_pem(kind: str, content: bytes) -> str:
    """DER as PEM."""
    text = base64.b64encode(content).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])
