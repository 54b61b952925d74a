"""The mechanisms with passwords: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.

PLAIN (RFC 4616): name and password in clear text. The listener's JAAS configuration has the users.

SCRAM (RFC 5802, RFC 7677) as in Kafka. The metadata log has the users. Like Kafka, odradek is less strict than the RFC:
it ignores the channel binding of the final message, does not prepare strings (SASLprep), accepts ASCII names only, and
computes the client's proof without `m=`. With the extension `tokenauth=true` the name is the id of a delegation token
and the password its HMAC in base64 (KIP-48).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.sasl.credentials import SCRAM_SHA_256, SCRAM_SHA_512, ScramCredential, ScramHash
from odradek.broker.security.sasl.server import (
    OTHER_AUTHORIZATION_ID,
    InvalidCredentials,
    MalformedToken,
    NewSaslServer,
    SaslError,
    SaslServer,
    login_options,
)

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials

# -- PLAIN.

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_USER_PREFIX = "user_"
_MOST_PARTS = 4


def plain(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
    """The users are the options `user_NAME="password"`."""
    options = login_options(config, PLAIN_MODULE)
    users = {
        name.removeprefix(_USER_PREFIX): value.encode("utf-8", "surrogatepass")
        for name, value in options.items()
        if name.startswith(_USER_PREFIX)
    }
    return lambda: PlainServer(users)


class PlainServer(SaslServer):
    """One log-in with PLAIN. `users`: passwords by name."""

    mechanism = "PLAIN"

    def __init__(self, users: Mapping[str, bytes]) -> None:
        super().__init__()
        self._users = users

    def evaluate(self, token: bytes) -> bytes:
        """Check `authzid NUL name NUL password`; SaslError in Kafka's words."""
        parts = token.decode("utf-8", "replace").split("\0", _MOST_PARTS)[:_MOST_PARTS]
        if len(parts) != 3:
            raise SaslError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        act_as, name, password = parts
        if not name:
            raise SaslError("Authentication failed: username not specified")
        if not password:
            raise SaslError("Authentication failed: password not specified", name)
        expected = self._users.get(name)
        # An unknown user's password is compared too, so that the time does not show which users exist.
        right = hmac.compare_digest(password.encode(), b"" if expected is None else expected)
        if expected is None or not right:
            raise SaslError("Authentication failed: Invalid username or password", name)
        if act_as and act_as != name:
            raise SaslError(OTHER_AUTHORIZATION_ID, name)
        self.principal = Principal(USER, name)
        self.complete = True
        return b""


# -- SCRAM.

SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_NONCE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_FIRST = re.compile(
    rf"n,(?:a=(?P<act_as>{_NAME}))?,(?:m={_VALUE},)?n=(?P<name>{_NAME}),r=(?P<nonce>{_NONCE})(?P<extensions>{_EXTENSIONS})"
)
_FINAL = re.compile(rf"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_NONCE})(?:{_EXTENSIONS}),p=(?P<proof>{_BASE64})")
_NONCE_BYTES = 18


def scram_sha_256(
    config: ListenerConfig, credentials: Credentials, clock: BrokerClock, kind: ScramHash = SCRAM_SHA_256
) -> NewSaslServer:
    login_options(config, SCRAM_MODULE)
    return lambda: ScramServer(kind, credentials)


scram_sha_512 = partial(scram_sha_256, kind=SCRAM_SHA_512)


class ScramServer(SaslServer):
    """One log-in with SCRAM.

    As in Kafka the first answer shows whether a user exists: it is an error for an unknown one.
    """

    def __init__(self, kind: ScramHash, credentials: Credentials, nonce: str | None = None) -> None:
        """`nonce`: the server's; random if None."""
        super().__init__()
        self.mechanism = kind.mechanism
        self._kind = kind
        self._credentials = credentials
        self._nonce = nonce
        self._exchange: _Exchange | None = None

    def evaluate(self, token: bytes) -> bytes:
        """Answer the client's first message, then its final one."""
        text = token.decode("utf-8", "replace")
        exchange = self._exchange
        if exchange is None:
            self._exchange = self._begin(text)
            return self._exchange.server_first.encode()
        self._exchange = None
        try:
            proof = exchange.check(text)
        except InvalidCredentials as error:
            raise InvalidCredentials(error.reason, self.principal.name) from None
        self.complete = True
        return b"v=" + base64.b64encode(proof)

    def _begin(self, text: str) -> _Exchange:
        first = _FIRST.fullmatch(text)
        if first is None:
            raise InvalidCredentials("not a first message of SCRAM")
        escaped = first["name"]
        name = escaped.replace("=2C", ",").replace("=3D", "=")
        listed = first["extensions"]
        self.extensions = dict(part.split("=", 1) for part in listed.split(",")[1:])
        if self.extensions.get("tokenauth", "").lower() == "true":
            credential = self._of_token(name)
        else:
            credential = self._of_user(name)
        act_as = first["act_as"]
        if act_as and act_as != name:
            raise SaslError(OTHER_AUTHORIZATION_ID, name)
        if credential.iterations < self._kind.min_iterations:
            few = f"{credential.iterations} iterations are fewer than the minimum of {self._kind.min_iterations}"
            raise InvalidCredentials(few, name)
        nonce = first["nonce"] + (self._nonce or secrets.token_hex(_NONCE_BYTES))
        bare = f"n={escaped},r={first['nonce']}{listed}"
        return _Exchange(self._kind, credential, nonce, bare)

    def _of_user(self, name: str) -> ScramCredential:
        self.principal = Principal(USER, name)
        credential = self._credentials.user(name, self._kind)
        if credential is None:
            raise InvalidCredentials(f"there is no such user of {self.mechanism}", name)
        return credential

    def _of_token(self, token_id: str) -> ScramCredential:
        token = self._credentials.token(token_id, self._kind)
        if token is None:
            raise InvalidCredentials(f"there is no delegation token {token_id}")
        self.principal = token.owner
        self.expires_ms = token.expires_ms
        return token.credential


class _Exchange:
    """The values that the first messages have agreed on."""

    def __init__(self, kind: ScramHash, credential: ScramCredential, nonce: str, bare: str) -> None:
        self._kind = kind
        self._credential = credential
        self._nonce = nonce
        self._bare = bare
        salt = base64.b64encode(credential.salt).decode()
        self.server_first = f"r={nonce},s={salt},i={credential.iterations}"

    def check(self, text: str) -> bytes:
        """The server's proof, if the client's final message has the right proof."""
        final = _FINAL.fullmatch(text)
        if final is None:
            raise InvalidCredentials("not a final message of SCRAM")
        if final["nonce"] != self._nonce:
            raise InvalidCredentials("another nonce than the server's")
        hash_name = self._kind.hash_name
        proved = f"{self._bare},{self.server_first},c={final['channel']},r={final['nonce']}".encode()
        stored = self._credential.stored_key
        signature = hmac.digest(stored, proved, hash_name)
        proof = base64.b64decode(final["proof"])
        if len(proof) != len(signature):
            raise MalformedToken(f"a proof of {len(proof)} bytes")
        client_key = bytes(one ^ other for one, other in zip(signature, proof, strict=True))
        if not hmac.compare_digest(hashlib.new(hash_name, client_key).digest(), stored):
            raise InvalidCredentials("the password is wrong")
        return hmac.digest(self._credential.server_key, proved, hash_name)
