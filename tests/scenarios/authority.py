"""Certificates and signed tokens made on the fly, in the forms that Kafka and its clients read."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey


def _pkcs8(pem: bytes) -> bytes:
    """A key in the one form that Java reads from PEM."""
    key = load_pem_private_key(pem, None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Authority:
    """A certificate authority with a folder: `ca.pem`, and for each certificate `NAME.pem` (key and chain)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._ca = trustme.CA(key_type=trustme.KeyType.RSA)
        self.ca = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(str(self.ca))

    def issue(self, name: str, *identities: str) -> Path:
        """A certificate whose common name is `name`, with its key; the identities are host names and addresses."""
        issued = self._ca.issue_cert(*(identities or (f"{name}.invalid",)), common_name=name)
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        path = self.folder / f"{name}.pem"
        path.write_bytes(_pkcs8(issued.private_key_pem.bytes()) + chain)
        return path

    def pkcs12(self, name: str, password: str) -> Path:
        """The same as a PKCS12 store."""
        data = (self.folder / f"{name}.pem").read_bytes()
        certificate, *others = x509.load_pem_x509_certificates(data)
        key: Any = load_pem_private_key(data, None)
        path = self.folder / f"{name}.p12"
        encryption = BestAvailableEncryption(password.encode())
        path.write_bytes(pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, others, encryption))
        return path


@dataclass
class TokenSigner:
    """An OAuth server's keys, without the server: `jwks.json` in the folder, and tokens signed with them."""

    folder: Path
    kid: str = "first"

    @cached_property
    def key(self) -> RSAKey:
        return RSAKey.generate_key(2048, {"kid": self.kid, "use": "sig", "alg": "RS256"})

    @property
    def jwks(self) -> Path:
        path = self.folder / "jwks.json"
        if not path.exists():
            path.write_text(self.key_set())
        return path

    def key_set(self) -> str:
        """The public keys, as JSON."""
        return json.dumps(KeySet([self.key]).as_dict(private=False))

    def token(self, header: dict[str, Any] | None = None, lifetime_s: float = 3600, **claims: Any) -> str:
        """A token of `sub` alice for the audience kafka, valid from now on; a claim of None is left out."""
        now = int(time.time())
        body = {
            "iss": "https://issuer.invalid",
            "sub": "alice",
            "aud": "kafka",
            "scope": "read",
            "iat": now,
            "exp": now + lifetime_s,
        }
        kept = {name: value for name, value in (body | claims).items() if value is not None}
        head = {"alg": "RS256", "kid": self.kid} | (header or {})
        return jwt.encode({k: v for k, v in head.items() if v is not None}, kept, self.key)
