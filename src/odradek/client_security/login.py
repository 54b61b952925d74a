"""The log-in of a client: the SASL mechanisms, and the exchange of SaslHandshake and SaslAuthenticate.

GSSAPI (RFC 4752) needs the package `gssapi` (`odradek[gssapi]`). The ticket comes from a keytab (`keyTab` and
`principal` of the login module, as Java names them), or from the ticket cache that `kinit` filled.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from odradek.client_security.options import AuthenticationError, SaslOptions, SecurityOptionError
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

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
            raise AuthenticationError("the broker sent an invalid SCRAM message") from None

    def _proof(self, server_first: str, fields: dict[str, str]) -> bytes:
        nonce, salt = fields.get("r", ""), _decoded(fields.get("s", ""))
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise AuthenticationError("the broker's nonce does not begin with the client's")
        iterations = int(fields["i"]) if fields.get("i", "").isdecimal() else 0
        if not _MIN_ITERATIONS <= iterations <= _MAX_ITERATIONS:
            raise AuthenticationError(f"the broker asks for {iterations} iterations, which is not a possible number")
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
        raise AuthenticationError("the broker sent an invalid SCRAM message") from None


_NO_LAYER = 1


class Gssapi:
    """One log-in at a broker, whose principal is `service/host`."""

    name = "GSSAPI"

    def __init__(self, options: SaslOptions, host: str) -> None:
        self._gssapi = _library()
        self._context: Any = self._call(self._begun, options, host)

    def first(self) -> bytes:
        return bytes(self._call(self._context.step) or b"")

    def answer(self, challenge: bytes) -> bytes | None:
        if not self._context.complete:
            token = self._call(self._context.step, challenge)
            return bytes(token or b"")
        if not challenge:
            return None
        return bytes(self._call(self._layers, challenge))

    def _begun(self, options: SaslOptions, host: str) -> Any:
        library = self._gssapi
        service = library.Name(f"{options.service_name}@{host}", library.NameType.hostbased_service)
        return library.SecurityContext(
            name=service, creds=self._credentials(options), usage="initiate", mech=library.MechType.kerberos
        )

    def _credentials(self, options: SaslOptions) -> Any:
        principal, keytab = options.module.get("principal"), options.module.get("keyTab")
        name = None
        if principal:
            name = self._gssapi.Name(principal, self._gssapi.NameType.kerberos_principal)
        if keytab:
            cache = f"MEMORY:odradek-{zlib.crc32(f'{principal} {keytab}'.encode()):08x}"
            return self._gssapi.Credentials(
                usage="initiate", name=name, store={"client_keytab": keytab, "ccache": cache}
            )
        return self._gssapi.Credentials(usage="initiate", name=name) if name is not None else None

    def _layers(self, challenge: bytes) -> bytes:
        offer = self._context.unwrap(challenge).message
        if len(offer) != 4 or not offer[0] & _NO_LAYER:
            raise AuthenticationError("the broker asks for a security layer, which Kafka's protocol does not have")
        return bytes(self._context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message)

    def _call(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._gssapi.exceptions.GSSError as error:
            raise AuthenticationError(" ".join(str(error).split())) from None


def _library() -> Any:
    try:
        import gssapi
    except ImportError:
        raise SecurityOptionError("GSSAPI needs MIT Kerberos and pip install 'odradek[gssapi]'") from None
    return gssapi


_SEPARATOR = "\x01"


class OAuthBearer:
    """One log-in with a token."""

    name = "OAUTHBEARER"

    def __init__(self, token: str, extensions: Mapping[str, str]) -> None:
        for name, value in extensions.items():
            if not (name.isascii() and name.isalpha()) or name == "auth":
                raise SecurityOptionError(f"an extension is named with letters, and not auth: {name!r}")
            if not value or not all(" " <= sign <= "~" or sign in "\t\r\n" for sign in value):
                raise SecurityOptionError(f"the extension {name} has no value, or one that cannot be sent")
        parts = [f"auth=Bearer {token}", *(f"{name}={value}" for name, value in extensions.items())]
        self._message = _SEPARATOR.join(("n,,", *parts, "", ""))

    def first(self) -> bytes:
        return self._message.encode()

    def answer(self, challenge: bytes) -> bytes | None:
        """A broker that refuses a token says why; the protocol wants an answer before the log-in fails."""
        return _SEPARATOR.encode() if challenge else None


class Mechanism(Protocol):
    """One log-in. Raises AuthenticationError when it does not trust the broker's messages."""

    name: str

    def first(self) -> bytes:
        """The message that begins the log-in."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """The next message; None when the log-in is complete."""
        ...


class Plain:
    """PLAIN (RFC 4616): name and password as they are."""

    name = "PLAIN"

    def __init__(self, username: str, password: str) -> None:
        self._message = b"\0".join((b"", username.encode(), password.encode()))

    def first(self) -> bytes:
        return self._message

    def answer(self, challenge: bytes) -> bytes | None:
        return None


def mechanism_for(options: SaslOptions, host: str) -> Mechanism:
    """A new log-in at the broker `host`. Raises SecurityOptionError, and WireError where a token must be fetched."""
    module = options.module
    if options.mechanism == "PLAIN":
        return Plain(module["username"], module["password"])
    if options.mechanism == "OAUTHBEARER":
        from odradek.client_security.tokens import token_for

        return OAuthBearer(*token_for(options))
    if options.mechanism == "GSSAPI":
        return Gssapi(options, host)

    if options.mechanism not in HASHES:
        raise SecurityOptionError(f"sasl.mechanism: {options.mechanism}")
    delegated = module.get("tokenauth", "false").lower() == "true"
    return Scram(options.mechanism, module["username"], module["password"], delegated=delegated)


_ROUNDS = 8


def log_in(ask: Callable[[Any], Any], options: SaslOptions, host: str, address: str) -> int:
    """Log in, or log in again. Returns the lifetime of the session in ms, 0 if it has none.

    ``ask``: sends a request in the newest common version and returns the response. AuthenticationError has the
    mechanism and the broker's message, never a secret.
    """
    answer: SaslHandshakeResponse = ask(SaslHandshakeRequest(mechanism=options.mechanism))
    if answer.error_code:
        raise AuthenticationError(f"{address}: {_refusal(answer, options.mechanism)}")
    try:
        mechanism = mechanism_for(options, host)
        message: bytes | None = mechanism.first()
        for _ in range(_ROUNDS):
            assert message is not None
            answered: SaslAuthenticateResponse = ask(SaslAuthenticateRequest(auth_bytes=message))
            if answered.error_code:
                said = answered.error_message or ErrorCode(answered.error_code).name
                raise AuthenticationError(said)
            message = mechanism.answer(bytes(answered.auth_bytes))
            if message is None:
                return answered.session_lifetime_ms
    except AuthenticationError as error:
        raise AuthenticationError(f"{address}: log-in with {options.mechanism} failed: {error}") from error
    raise AuthenticationError(f"{address}: log-in with {options.mechanism} did not end")


def _refusal(answer: SaslHandshakeResponse, mechanism: str) -> str:
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        return f"the broker takes no log-in with {mechanism}, but with {', '.join(answer.mechanisms) or 'nothing'}"
    if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        return "the broker takes no log-in: is security.protocol of this listener PLAINTEXT or SSL?"
    return ErrorCode(answer.error_code).name
