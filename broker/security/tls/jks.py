"""Reads Java key stores (JKS): Sun's format of keytool before Java 9, still the default name of Kafka's store types.

Layout, all numbers big-endian: magic FEEDFEED, version 1 or 2, number of entries; each entry is a kind (1 key, 2
certificate), an alias, a date and its content; at the end a SHA-1 over password, a salt phrase and everything before.
Keys are encrypted with a stream of SHA-1 values and their own password, and have a checksum.
"""

from __future__ import annotations

import hashlib
import hmac
import struct

from odradek.broker.security.tls.der import object_id, read
from odradek.broker.security.tls.entries import KeyEntry, Store, StoreError
from odradek.protocol.errors import CorruptDataError

MAGIC = b"\xfe\xed\xfe\xed"
_MAGIC_NUMBER = int.from_bytes(MAGIC)
_PHRASE = b"Mighty Aphrodite"
_DIGEST = 20
_KEY, _CERTIFICATE = 1, 2
_SUN_KEY_PROTECTOR = "1.3.6.1.4.1.42.2.17.1.1"
_WRONG = "keystore was tampered with, or password was incorrect"


def read_jks(data: bytes, password: str | None, key_password: str | None) -> Store:
    """The entries of a store. Without `password` its checksum is not verified; keys need `key_password`.

    StoreError for a wrong password and for damaged data.
    """
    if password is not None:
        wanted = hashlib.sha1(password.encode("utf-16-be") + _PHRASE + data[:-_DIGEST], usedforsecurity=False)
        if not hmac.compare_digest(wanted.digest(), data[-_DIGEST:]):
            raise StoreError(_WRONG)
    try:
        return _Reader(data).store(key_password)
    except (struct.error, IndexError, UnicodeDecodeError, CorruptDataError):
        raise StoreError("keystore is damaged") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def store(self, key_password: str | None) -> Store:
        magic, self._version, count = self._numbers(">III")
        if magic != _MAGIC_NUMBER or self._version not in (1, 2):
            raise StoreError("invalid keystore format")
        keys: list[KeyEntry] = []
        trusted: list[tuple[str, bytes]] = []
        for _ in range(count):
            (kind,) = self._numbers(">I")
            alias = self._text()
            self._numbers(">Q")
            if kind == _KEY:
                hidden = self._block()
                (length,) = self._numbers(">I")
                chain = tuple(self._certificate() for _ in range(length))
                key = b"" if key_password is None else _shown(hidden, key_password)
                keys.append(KeyEntry(alias, key, chain))
            elif kind == _CERTIFICATE:
                trusted.append((alias, self._certificate()))
            else:
                raise StoreError("unrecognized keystore entry")
        return Store(tuple(keys), tuple(trusted))

    def _numbers(self, layout: str) -> tuple[int, ...]:
        numbers = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return numbers

    def _bytes(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise StoreError("keystore is cut off")
        self._at += size
        return self._data[self._at - size : self._at]

    def _block(self) -> bytes:
        return self._bytes(self._numbers(">I")[0])

    def _text(self) -> str:
        return self._bytes(self._numbers(">H")[0]).decode("utf-8", "surrogatepass")

    def _certificate(self) -> bytes:
        if self._version == 2:
            kind = self._text()
            if kind not in ("X.509", "X509"):
                raise StoreError(f"a certificate of the type {kind}")
        return self._block()


def _shown(hidden: bytes, password: str) -> bytes:
    """The key in PKCS#8 form."""
    algorithm, content = read(hidden).children()
    if object_id(algorithm.children()[0].content) != _SUN_KEY_PROTECTOR:
        raise StoreError("a key that is hidden in an unknown way")
    secret = password.encode("utf-16-be")
    block = content.content[:_DIGEST]
    body, check = content.content[_DIGEST:-_DIGEST], content.content[-_DIGEST:]
    stream = bytearray()
    while len(stream) < len(body):
        block = hashlib.sha1(secret + block, usedforsecurity=False).digest()
        stream += block
    key = bytes(left ^ right for left, right in zip(body, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key, usedforsecurity=False).digest(), check):
        raise StoreError("Cannot recover key: the key's password was incorrect")
    return key
