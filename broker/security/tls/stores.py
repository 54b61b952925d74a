"""Opens the key and trust stores in a listener's configs, with Kafka's rules for combining them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from odradek.broker.security.named_files import read_named
from odradek.broker.security.tls.store_formats import (
    JKS_MAGIC,
    Store,
    StoreError,
    UnreadableStoreError,
    pem_key_store,
    pem_trust_store,
    read_jks,
    read_pkcs12,
)

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
