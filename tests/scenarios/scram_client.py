"""The client's side of SCRAM (RFC 5802), written from the RFC for tests: a fixed nonce, any part can be made wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac

NONCE = "abcdefgh"


def salted_password(password: str, salt: bytes, iterations: int, hash_name: str = "sha256") -> bytes:
    """Hi() of RFC 5802."""
    return hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)


class ScramClient:
    """One log-in: `first`, then `final` with the server's first message, then `server_is_right`."""

    def __init__(
        self,
        name: str,
        password: str,
        mechanism: str = "SCRAM-SHA-256",
        *,
        authzid: str = "",
        extensions: str = "",
        reserved: str = "",
        nonce: str = NONCE,
    ) -> None:
        self._hash = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
        self._password = password
        self._header = f"n,a={authzid}," if authzid else "n,,"
        escaped = name.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"{reserved}n={escaped},r={nonce}{extensions}"
        self._server_first = ""
        self._proved = ""
        self._salted = b""

    def first(self) -> bytes:
        """The client's first message."""
        return (self._header + self._bare).encode()

    def final(self, server_first: bytes) -> bytes:
        """The client's final message."""
        self._server_first = server_first.decode()
        parts = dict(part.split("=", 1) for part in self._server_first.split(","))
        salt = base64.b64decode(parts["s"])
        self._salted = salted_password(self._password, salt, int(parts["i"]), self._hash)
        channel = base64.b64encode(self._header.encode()).decode()
        return self.sealed(f"c={channel},r={parts['r']}").encode()

    def sealed(self, without_proof: str) -> str:
        """A final message with its proof."""
        self._proved = without_proof
        key = self._hmac(self._salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash, key).digest(), self._message())
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}"

    def server_is_right(self, server_final: bytes) -> bool:
        """Whether the server has proved that it knows the user."""
        signature = self._hmac(self._hmac(self._salted, b"Server Key"), self._message())
        return server_final == b"v=" + base64.b64encode(signature)

    def _message(self) -> bytes:
        return f"{self._bare},{self._server_first},{self._proved}".encode()

    def _hmac(self, key: bytes, data: bytes) -> bytes:
        return hmac.digest(key, data, self._hash)
