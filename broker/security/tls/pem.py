"""Stores of the type PEM (KIP-651): keys in PKCS#8 and certificates. Text around them is ignored."""

from __future__ import annotations

import base64
import binascii
import re
from contextlib import suppress

from odradek.broker.security.tls.der import OCTET_STRING, SEQUENCE, Element, read
from odradek.broker.security.tls.entries import KeyEntry, Store, StoreError
from odradek.protocol.errors import CorruptDataError

_INTEGER = 0x02
_LONGEST_TITLE, _MOST_HEADERS = 100, 100
_MOST_ITERATIONS = 1_000_000  # half a second; OpenSSL's default is 2,048


def key_store(key_text: str, chain_text: str, key_password: str | None) -> Store:
    """The store of one private key and its chain; StoreError in Kafka's terms."""
    key = _private_key(key_text, key_password)
    return Store((KeyEntry("kafka", key, _certificates(chain_text), key_password),))


def trust_store(text: str) -> Store:
    """The store of trusted certificates; StoreError in Kafka's terms."""
    return Store(trusted=tuple((f"kafka{index}", part) for index, part in enumerate(_certificates(text))))


def _certificates(text: str) -> tuple[bytes, ...]:
    return tuple(_entries("CERTIFICATE", text))


def _private_key(text: str, password: str | None) -> bytes:
    found = _entries("PRIVATE KEY", text)
    if len(found) != 1:
        raise StoreError(f"Expected one private key, but found {len(found)}")
    kind = _kind_of_key(found[0])
    if kind == "other":
        raise StoreError(
            "Private key could not be loaded: it is not in PKCS#8 form (`openssl pkcs8 -topk8` makes it so)"
        )
    if kind == "encrypted" and _iterations(read(found[0])) > _MOST_ITERATIONS:
        raise StoreError(f"Private key could not be loaded: its encryption takes more than {_MOST_ITERATIONS} rounds")
    if kind == "encrypted" and password is None:
        raise StoreError("Private key could not be loaded: it is encrypted, and ssl.key.password is not specified")
    if kind == "plain" and password is not None:
        raise StoreError("ssl.key.password is specified, but the private key is not encrypted")
    return found[0]


def _kind_of_key(key: bytes) -> str:
    """`plain` or `encrypted` for PKCS#8, else `other`."""
    try:
        parts = [part.tag for part in read(key).children()]
    except CorruptDataError:
        return "other"
    if parts == [SEQUENCE, OCTET_STRING]:
        return "encrypted"
    return "plain" if parts[:3] == [_INTEGER, SEQUENCE, OCTET_STRING] else "other"


def _iterations(encrypted: Element) -> int:
    """The largest number among the parameters of the encryption (RFC 8018), which is that of the rounds."""
    largest, left = 0, encrypted.children()[:1]
    with suppress(CorruptDataError):  # OpenSSL will say so
        while left:
            part = left.pop()
            if part.tag == SEQUENCE:
                left += part.children()
            elif part.tag == _INTEGER:
                largest = max(largest, int.from_bytes(part.content))
    return largest


def _entries(name: str, text: str) -> list[bytes]:
    """The contents of all entries of this name, as liberal as Kafka's pattern.

    No part gives back what it has taken, and what is free has a length: some kilobytes would keep Kafka's pattern busy
    for hours.
    """
    words = name.replace(" ", r"\s++")
    title = rf"\s*+[^\r\n]{{0,{_LONGEST_TITLE}}}?{words}[^-]*+-++\s++"
    header = rf"\s*+[^\r\n:]{{0,{_LONGEST_TITLE}}}+:[^\r\n]*+[\r\n]++"
    pattern = rf"(?<=-)BEGIN{title}(?:{header}){{0,{_MOST_HEADERS}}}([a-zA-Z0-9/+=\s]*+)-++END{title}"
    found = re.findall(pattern, text + "\n")
    if not found:
        raise StoreError(f"No matching {name} entries in PEM file")
    try:
        return [base64.b64decode("".join(body.split()), validate=True) for body in found]
    except binascii.Error:
        raise StoreError(f"a {name} entry is not base64") from None
