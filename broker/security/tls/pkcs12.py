"""Reads PKCS#12 stores, keytool's format since Java 9, with the `cryptography` package (extra `odradek[tls]`)."""

from __future__ import annotations

from odradek.broker.security.tls.certificate_names import issuer_and_subject
from odradek.broker.security.tls.entries import KeyEntry, Store, StoreError


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
