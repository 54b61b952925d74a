"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, 7677), the client's side, without channel binding."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from odradek.client_security.errors import AuthenticationError

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_MIN_ITERATIONS = 4096
_MAX_ITERATIONS = 1_000_000
"""Kafka stores at most 16384; a broker may not keep a client computing."""
_HEADER = "n,,"


class Scram:
    """One log-in. `delegated`: name and password are a delegation token's id and HMAC (KIP-48)."""

    def __init__(
        self, name: str, username: str, password: str, *, delegated: bool = False, nonce: str | None = None
    ) -> None:
        self.name = name
        self._hash = HASHES[name]
        self._password = password.encode()
        self._nonce = nonce or secrets.token_urlsafe(24)
        user = username.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={user},r={self._nonce}" + (",tokenauth=true" if delegated else "")
        self._expected: bytes | None = None
        self._complete = False

    def first(self) -> bytes:
        return (_HEADER + self._bare).encode()

    def answer(self, challenge: bytes) -> bytes | None:
        fields = self._fields(challenge)
        if "e" in fields:
            raise AuthenticationError(f"the broker refused the log-in: {fields['e']}")
        if self._expected is None:
            return self._proof(challenge.decode(), fields)
        if not hmac.compare_digest(_decoded(fields.get("v", "")), self._expected):
            raise AuthenticationError("the broker does not know the password either: its signature is wrong")
        self._complete = True
        return None

    def _fields(self, message: bytes) -> dict[str, str]:
        try:
            return dict(part.split("=", 1) for part in message.decode().split(","))
        except ValueError:  # of the decoding, or of a part without "="
            raise AuthenticationError("the broker's SCRAM message cannot be read") from None

    def _proof(self, server_first: str, fields: dict[str, str]) -> bytes:
        nonce, salt = fields.get("r", ""), _decoded(fields.get("s", ""))
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise AuthenticationError("the broker's nonce does not begin with the client's")
        iterations = int(fields["i"]) if fields.get("i", "").isdecimal() else 0
        if not _MIN_ITERATIONS <= iterations <= _MAX_ITERATIONS:
            raise AuthenticationError(f"the broker asks for {iterations} iterations: that cannot be right")
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, salt, iterations)
        final = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        message = ",".join((self._bare, server_first, final)).encode()
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash, client_key).digest(), message)
        self._expected = self._hmac(self._hmac(salted, b"Server Key"), message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        return f"{final},p={base64.b64encode(proof).decode()}".encode()

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._hash)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise AuthenticationError("the broker's SCRAM message cannot be read") from None
