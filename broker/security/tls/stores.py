"""Key and trust stores: their formats (PEM, JKS, PKCS#12), their entries, and Kafka's rules for the configs that name
them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.named_files import read_named
from odradek.broker.security.tls.certificate_names import (
    OCTET_STRING,
    SEQUENCE,
    Element,
    issuer_and_subject,
    object_id,
    read,
)
from odradek.protocol.errors import CorruptDataError


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


# -- Stores of the type PEM (KIP-651): keys in PKCS#8 and certificates. Text around them is ignored.

_INTEGER = 0x02
_LONGEST_TITLE, _MOST_HEADERS = 100, 100
_MOST_ITERATIONS = 1_000_000  # half a second; OpenSSL's default is 2,048


def pem_key_store(key_text: str, chain_text: str, key_password: str | None) -> Store:
    """The store of one private key and its chain; StoreError in Kafka's terms."""
    key = _private_key(key_text, key_password)
    return Store((KeyEntry("kafka", key, _certificates(chain_text), key_password),))


def pem_trust_store(text: str) -> Store:
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


# -- Reads Java key stores (JKS): Sun's format of keytool before Java 9, still the default name of Kafka's store
# types.
#
# Layout, all numbers big-endian: magic FEEDFEED, version 1 or 2, number of entries; each entry is a kind (1 key, 2
# certificate), an alias, a date and its content; at the end a SHA-1 over password, a salt phrase and everything
# before. Keys are encrypted with a stream of SHA-1 values and their own password, and have a checksum.

JKS_MAGIC = b"\xfe\xed\xfe\xed"
_MAGIC_NUMBER = int.from_bytes(JKS_MAGIC)
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


# -- Reads PKCS#12 stores, keytool's format since Java 9, with the `cryptography` package (extra `odradek[tls]`).


def read_pkcs12(data: bytes, password: str | None) -> Store:
    """The entries of a store; StoreError for a wrong password, damaged data, or if the package is missing."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    except ImportError:
        raise StoreError(
            "PKCS12 stores need the extra odradek[tls] (cryptography); stores of the types PEM and JKS do not"
        ) from None
    secret = None if password is None else password.encode()
    try:
        content = load_pkcs12(data, secret)
    except ValueError:
        raise StoreError("keystore password was incorrect, or the file is damaged") from None
    except Exception as error:  # UnsupportedAlgorithm and other errors that the library may raise for a foreign file
        raise StoreError(f"keystore cannot be read: {type(error).__name__}") from None
    der = serialization.Encoding.DER
    others = [
        (_alias(part.friendly_name) or str(index), part.certificate.public_bytes(der))
        for index, part in enumerate(content.additional_certs)
    ]
    if content.key is None or content.cert is None:
        single = [] if content.cert is None else [(_alias(content.cert.friendly_name), content.cert)]
        return Store(trusted=(*((alias, part.certificate.public_bytes(der)) for alias, part in single), *others))
    key = content.key.private_bytes(der, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    own = content.cert.certificate.public_bytes(der)
    chain = _chain(own, [part for _, part in others])
    left = tuple((alias, part) for alias, part in others if part not in chain)
    return Store((KeyEntry(_alias(content.cert.friendly_name), key, chain),), left)


def _alias(name: bytes | None) -> str:
    return "" if name is None else name.decode("utf-8", "replace")


def _chain(own: bytes, others: list[bytes]) -> tuple[bytes, ...]:
    """The certificate and its signers, nearest first. A store may list them in any order."""
    by_subject = {issuer_and_subject(part)[1]: part for part in others}
    chain = [own]
    while True:
        issuer, subject = issuer_and_subject(chain[-1])
        signer = by_subject.get(issuer)
        if issuer == subject or signer is None or signer in chain:
            return tuple(chain)
        chain.append(signer)


# -- The stores that a listener's configs name.

PEM = "PEM"
_JCEKS = b"\xce\xce\xce\xce"
_NO_PEM_PASSWORD = "SSL key store password cannot be specified with PEM format, only key password may be specified."
_WITHOUT_LOCATION = "SSL {0} store is not specified, but {0} store password is specified."


class KeyStoreSettings(NamedTuple):
    """The ssl.keystore.* configs and ssl.key.password; None where not set."""

    type: str
    location: str | None = None
    password: str | None = None
    key_password: str | None = None
    key: str | None = None
    chain: str | None = None

    def __repr__(self) -> str:
        return f"KeyStoreSettings({self.type!r}, {self.location!r})"


class TrustStoreSettings(NamedTuple):
    """The ssl.truststore.* configs; None where not set."""

    type: str
    location: str | None = None
    password: str | None = None
    certificates: str | None = None

    def __repr__(self) -> str:
        return f"TrustStoreSettings({self.type!r}, {self.location!r})"


def open_key_store(settings: KeyStoreSettings) -> Store | None:
    """The key store, None if none is named; StoreError in Kafka's terms."""
    kind, path, password = settings.type, settings.location, settings.password
    if settings.key is not None:
        if kind != PEM:
            raise StoreError(f"SSL private key can be specified only for PEM, but key store type is {kind}.")
        if settings.chain is None:
            raise StoreError("SSL private key is specified, but certificate chain is not specified.")
        if path is not None:
            raise StoreError("Both SSL key store location and separate private key are specified.")
        if password is not None:
            raise StoreError(_NO_PEM_PASSWORD)
        with _explained("Invalid PEM keystore configs"):
            return pem_key_store(settings.key, settings.chain, settings.key_password)
    if settings.chain is not None:
        raise StoreError("SSL certificate chain is specified, but private key is not specified")
    if path is None:
        if password is not None:
            raise StoreError(_WITHOUT_LOCATION.format("key"))
        return None
    if kind == PEM:
        if password is not None:
            raise StoreError(_NO_PEM_PASSWORD.rstrip("."))
        with _explained(f"Failed to load PEM SSL keystore {path}"):
            text = _text(path)
            return pem_key_store(text, text, settings.key_password)
    if password is None:
        raise StoreError("SSL key store is specified, but key store password is not specified.")
    with _explained(f"Failed to load SSL keystore {path} of type {kind}", UnreadableStoreError):
        return _java_store(kind, path, password, settings.key_password or password)


def open_trust_store(settings: TrustStoreSettings) -> Store | None:
    """The trust store, None if none is named; StoreError in Kafka's terms."""
    kind, path, password = settings.type, settings.location, settings.password
    if settings.certificates is not None:
        if kind != PEM:
            raise StoreError(f"SSL trust store certs can be specified only for PEM, but trust store type is {kind}.")
        if path is not None:
            raise StoreError("Both SSL trust store location and separate trust certificates are specified.")
        if password is not None:
            raise StoreError("SSL trust store password cannot be specified for PEM format.")
        with _explained("Invalid PEM truststore configs"):
            return pem_trust_store(settings.certificates)
    if path is None:
        if password is not None:
            raise StoreError(_WITHOUT_LOCATION.format("trust"))
        return None
    if kind == PEM:
        if password is not None:
            raise StoreError("SSL trust store password cannot be specified for PEM format.")
        with _explained(f"Failed to load PEM SSL keystore {path}"):
            return pem_trust_store(_text(path))
    with _explained(f"Failed to load SSL keystore {path} of type {kind}", UnreadableStoreError):
        return _java_store(kind, path, password, None)


def _java_store(kind: str, path: str, password: str | None, key_password: str | None) -> Store:
    """A store of the type JKS or PKCS12. Like Java this reads either format under both names."""
    if kind.upper() not in ("JKS", "PKCS12", "P12"):
        raise StoreError(f"{kind} not found (odradek knows the types PEM, JKS and PKCS12)")
    data = _bytes(path)
    if data.startswith(JKS_MAGIC):
        return read_jks(data, password, key_password)
    if data.startswith(_JCEKS):
        raise StoreError("it is a JCEKS store, which odradek does not read (PEM, JKS and PKCS12 it does)")
    if key_password is not None and key_password != password:
        raise StoreError("the password of a key in a PKCS12 store is that of the store, but ssl.key.password differs")
    return read_pkcs12(data, password)


def _bytes(path: str) -> bytes:
    try:
        return read_named(path)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise StoreError(getattr(error, "strerror", None) or "it cannot be read") from None


def _text(path: str) -> str:
    return _bytes(path).decode("utf-8", "replace")


@contextmanager
def _explained(what: str, kind: type[StoreError] = StoreError) -> Iterator[None]:
    """Put the failed action before the reason of an error."""
    try:
        yield
    except StoreError as error:
        raise kind(f"{what}: {error}") from None
