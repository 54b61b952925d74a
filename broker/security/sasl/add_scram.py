"""Users as the option `--add-scram` of `kafka-storage format` names them: `SCRAM-SHA-256=[name=alice,password=secret]`.

Beside `name` there may be `iterations` (4096), `salt` in base64 (random) and, in place of `password`, the
`saltedpassword` in base64. Values may stand in double quotes, and hold no comma.
"""

from __future__ import annotations

import base64
import binascii
import secrets

from odradek.broker.security.sasl.credentials import SCRAM_HASHES, ScramHash, credential_of, salted_password
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord

_SALT_BYTES = 16


def scram_record(text: str) -> UserScramCredentialRecord:
    """The record of a user that the option names; ValueError, without any secret, for other text."""
    mechanism, equals, listed = text.strip().partition("=")
    if not equals:
        raise ValueError("no '=' in the SCRAM user; expected MECHANISM=[name=..,password=..]")
    kind = next((each for each in SCRAM_HASHES.values() if each.mechanism == mechanism), None)
    if kind is None:
        raise ValueError(f"the SCRAM mechanism {mechanism} is not supported")
    if not (listed.startswith("[") and listed.endswith("]") and len(listed) > 1):
        raise ValueError("the configuration of a SCRAM user stands in [ and ]")
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
        raise ValueError("the 'iterations' of a SCRAM user are no number") from None
    if not kind.min_iterations <= iterations <= kind.max_iterations:
        limits = f"{kind.min_iterations} to {kind.max_iterations}"
        raise ValueError(f"the 'iterations' of a SCRAM user are {limits} for {kind.mechanism}")
    return iterations


def _decoded(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"the '{name}' of a SCRAM user is no base64") from None
