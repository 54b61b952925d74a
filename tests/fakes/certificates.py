"""Certificates for tests, made on the spot: authorities, leaves, and PEM texts of all of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class Certificate(NamedTuple):
    """A certificate with its key, and the certificates of those who signed it, nearest first."""

    certificate: x509.Certificate
    key: Key
    issuers: tuple[x509.Certificate, ...] = ()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> str:
        """The certificate alone."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def chain_pem(self) -> str:
        """The certificate and its issuers."""
        chain = (self.certificate, *self.issuers)
        return "".join(part.public_bytes(serialization.Encoding.PEM).decode() for part in chain)

    @property
    def key_pem(self) -> str:
        """The key in PKCS#8, not encrypted."""
        return self._key_pem(serialization.NoEncryption())

    @property
    def old_key_pem(self) -> str:
        """The key in the form that is not PKCS#8 (`BEGIN EC PRIVATE KEY`)."""
        kind = serialization.PrivateFormat.TraditionalOpenSSL
        return self.key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()).decode()

    def encrypted_key_pem(self, password: str) -> str:
        """The key in PKCS#8, encrypted."""
        return self._key_pem(serialization.BestAvailableEncryption(password.encode()))

    def _key_pem(self, encryption: serialization.KeySerializationEncryption) -> str:
        kind = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, kind, encryption).decode()


_KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


@cache
def new_authority(name: str) -> Certificate:
    """An authority that signs itself; one for each name."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _for_authority(_builder(subject, subject, key, days=(-2, 3650)))
    return Certificate(builder.sign(key, hashes.SHA256()), key)


def issued_by(
    authority: Certificate,
    name: str,
    *,
    organisation: str | None = None,
    hosts: Sequence[str] = (),
    days: tuple[int, int] = (-1, 365),
    is_authority: bool = False,
    use_rsa: bool = False,
    for_servers_only: bool = False,
) -> Certificate:
    """A certificate of an authority. `days`: from when to when it is valid, from today."""
    key: Key = rsa.generate_private_key(65537, 2048) if use_rsa else ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if organisation is not None:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    builder = _builder(x509.Name(attributes), authority.certificate.subject, key, days)
    if is_authority:
        builder = _for_authority(builder)
    if for_servers_only:
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), False)
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), False
    )
    issuers = (authority.certificate, *authority.issuers)
    return Certificate(builder.sign(authority.key, hashes.SHA256()), key, issuers)


def _for_authority(builder: x509.CertificateBuilder) -> x509.CertificateBuilder:
    """With what RFC 5280 wants of an authority; Python insists on it from 3.13 on."""
    wanted = {"key_cert_sign", "crl_sign"}
    usage = {name: name in wanted for name in _KEY_USAGES}
    builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    return builder.add_extension(x509.KeyUsage(**usage), True)


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, days: tuple[int, int]) -> x509.CertificateBuilder:
    today = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today + timedelta(days=days[0]))
        .not_valid_after(today + timedelta(days=days[1]))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
