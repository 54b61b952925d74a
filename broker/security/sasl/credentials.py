"""The credentials in the metadata log, SCRAM users and delegation tokens, and the users of `--add-scram`.

The option is that of `kafka-storage format`: `SCRAM-SHA-256=[name=alice,password=secret]`. Optional are `iterations`
(4096), `salt` in base64 (random) and, instead of `password`, `saltedpassword` in base64. Values may be in double quotes
and must not contain a comma.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.security.principal import USER, Principal
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataImage


TOKEN_ITERATIONS = 4096
_TOKEN_SALT_BYTES = 16
_KEPT_TOKEN_KEYS = 4096


class ScramHash(NamedTuple):
    """A SCRAM mechanism: its number in records and requests, its name and its hash."""

    number: int
    mechanism: str
    hash_name: str
    min_iterations: int = 4096
    max_iterations: int = 16384


SCRAM_SHA_256 = ScramHash(1, "SCRAM-SHA-256", "sha256")
SCRAM_SHA_512 = ScramHash(2, "SCRAM-SHA-512", "sha512")
SCRAM_HASHES = {kind.number: kind for kind in (SCRAM_SHA_256, SCRAM_SHA_512)}
"""By number."""


class ScramCredential(NamedTuple):
    """The stored form of a password (RFC 5802)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return f"ScramCredential({self.iterations} iterations)"


class TokenCredential(NamedTuple):
    """A delegation token as a password: its owner, and its end (milliseconds since 1970)."""

    owner: Principal
    expires_ms: int
    credential: ScramCredential


def salted_password(password: str, salt: bytes, iterations: int, kind: ScramHash) -> bytes:
    """Hi() of RFC 5802. Like Kafka it does not prepare the password (SASLprep): it takes the plain UTF-8."""
    return hashlib.pbkdf2_hmac(kind.hash_name, password.encode(), salt, iterations)


def credential_of(salted: bytes, salt: bytes, iterations: int, kind: ScramHash) -> ScramCredential:
    """The stored form of a salted password."""
    client_key = hmac.digest(salted, b"Client Key", kind.hash_name)
    server_key = hmac.digest(salted, b"Server Key", kind.hash_name)
    return ScramCredential(salt, hashlib.new(kind.hash_name, client_key).digest(), server_key, iterations)


def token_hmac(secret_key: str, token_id: str) -> bytes:
    """The secret of a delegation token. Every broker with the same key computes the same secret."""
    return hmac.digest(secret_key.encode(), token_id.encode(), "sha512")


class Credentials:
    """The credentials for SCRAM, from the present image.

    `secret_key`: the value of `delegation.token.secret.key`; None or an empty text turns tokens off. A token's SCRAM
    keys take some milliseconds to compute, so they are cached.
    """

    def __init__(self, image: MetadataImage, secret_key: Callable[[], str | None]) -> None:
        self._image = image
        self._secret_key = secret_key
        self._token_keys: dict[tuple[str, str, int], ScramCredential] = {}

    def user(self, name: str, kind: ScramHash) -> ScramCredential | None:
        """The credential of a user; None if there is none."""
        record = self._image.scram.get((name, kind.number))
        if record is None:
            return None
        return ScramCredential(
            bytes(record.salt), bytes(record.stored_key), bytes(record.server_key), record.iterations
        )

    def token(self, token_id: str, kind: ScramHash) -> TokenCredential | None:
        """The credential of a delegation token; None if there is none, or if tokens are turned off."""
        record = self._image.delegation_tokens.get(token_id)
        secret_key = self._secret_key()
        if record is None or not secret_key:
            return None
        user = Principal(USER, record.owner.partition(":")[2], token_authenticated=True)  # whatever kind it has
        return TokenCredential(user, record.expiration_timestamp, self._keys(secret_key, token_id, kind))

    def _keys(self, secret_key: str, token_id: str, kind: ScramHash) -> ScramCredential:
        key = (secret_key, token_id, kind.number)
        found = self._token_keys.get(key)
        if found is None:
            if len(self._token_keys) >= _KEPT_TOKEN_KEYS:
                self._token_keys.clear()
            password = base64.b64encode(token_hmac(secret_key, token_id)).decode()
            salt = token_hmac(secret_key, f"salt of {token_id}")[:_TOKEN_SALT_BYTES]
            salted = salted_password(password, salt, TOKEN_ITERATIONS, kind)
            found = self._token_keys[key] = credential_of(salted, salt, TOKEN_ITERATIONS, kind)
        return found


_SALT_BYTES = 16


def scram_record(text: str) -> UserScramCredentialRecord:
    """The record of the user in the option; ValueError, without any secret, for invalid text."""
    mechanism, equals, listed = text.strip().partition("=")
    if not equals:
        raise ValueError("no '=' in the SCRAM user; expected MECHANISM=[name=..,password=..]")
    kind = next((each for each in SCRAM_HASHES.values() if each.mechanism == mechanism), None)
    if kind is None:
        raise ValueError(f"the SCRAM mechanism {mechanism} is not supported")
    if not (listed.startswith("[") and listed.endswith("]") and len(listed) > 1):
        raise ValueError("the configuration of a SCRAM user is enclosed in [ and ]")
    return _record(kind, _parts(listed[1:-1]))


def _parts(listed: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in listed.rstrip(",").split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError("a part of a SCRAM user has no '='")
        if len(value) >= 2 and value[0] == value[-1] == '"':
            value = value[1:-1]
        parts[name] = value
    return parts


def _record(kind: ScramHash, parts: dict[str, str]) -> UserScramCredentialRecord:
    name = parts.pop("name", None)
    if name is None:
        raise ValueError("a SCRAM user needs a 'name'")
    iterations = _iterations(kind, parts.pop("iterations", "4096"))
    given_salt = parts.pop("salt", None)
    salt = secrets.token_bytes(_SALT_BYTES) if given_salt is None else _decoded("salt", given_salt)
    password, salted_text = parts.pop("password", None), parts.pop("saltedpassword", None)
    if parts:
        raise ValueError(f"unknown parts of a SCRAM user: {', '.join(sorted(parts))}")
    if password is not None:
        salted = salted_password(password, salt, iterations, kind)
    elif salted_text is None:
        raise ValueError("a SCRAM user needs one of 'password' and 'saltedpassword'")
    elif given_salt is None:
        raise ValueError("a SCRAM user with 'saltedpassword' needs its 'salt'")
    else:
        salted = _decoded("saltedpassword", salted_text)
    keys = credential_of(salted, salt, iterations, kind)
    return UserScramCredentialRecord(name, kind.number, salt, keys.stored_key, keys.server_key, iterations)


def _iterations(kind: ScramHash, text: str) -> int:
    try:
        iterations = int(text)
    except ValueError:
        raise ValueError("the 'iterations' of a SCRAM user are not a number") from None
    if not kind.min_iterations <= iterations <= kind.max_iterations:
        limits = f"{kind.min_iterations} to {kind.max_iterations}"
        raise ValueError(f"the 'iterations' of a SCRAM user are {limits} for {kind.mechanism}")
    return iterations


def _decoded(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"the '{name}' of a SCRAM user is not base64") from None
