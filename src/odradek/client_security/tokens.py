"""The source of an OAUTHBEARER log-in's token.

- `sasl.oauthbearer.token`: the token itself (odradek's own option; Java and librdkafka ask a callback);
- `sasl.oauthbearer.token.endpoint.url`: a file with the token (`file:`), or an OAuth server that gives one for a client
  id and secret (client credentials, RFC 6749 4.4), as Java's and librdkafka's OIDC clients do;
- otherwise an unsecured token, from Java's `unsecuredLogin...` options or librdkafka's `sasl.oauthbearer.config`.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odradek.client_security.options import AuthenticationError, SaslOptions, SecurityOptionError

_TIMEOUT_S = 10.0
_MAX_ANSWER = 1 << 20

Token = tuple[str, dict[str, str]]
"""A token and the SASL extensions to send with it."""


def token_for(options: SaslOptions) -> Token:
    """A fresh token. Raises SecurityOptionError, and AuthenticationError when an OAuth server gives none."""
    given = options.oauthbearer
    extensions = _prefixed(options.module, "extension_") | _pairs(given.get("extensions", ""), "extensions", ",")
    if token := given.get("token"):
        return _checked(token), extensions
    url = given.get("token.endpoint.url")
    if url is None:
        return _unsecured(options, extensions)
    if url.startswith("file:"):
        return _from_file(url), extensions
    return _from_server(url, options), extensions


# --- tokens without a signature ---------------------------------------------------------------------------------------

_LOGIN = "unsecuredLogin"


def _unsecured(options: SaslOptions, extensions: dict[str, str]) -> Token:
    if text := options.oauthbearer.get("config"):
        return _from_librdkafka(text, extensions)
    module = options.module
    principal = module.get(f"{_LOGIN}PrincipalClaimName", "sub")
    claims: dict[str, Any] = dict(_prefixed(module, f"{_LOGIN}StringClaim_"))
    for name, value in _prefixed(module, f"{_LOGIN}NumberClaim_").items():
        claims[name] = _number(name, value)
    for name, value in _prefixed(module, f"{_LOGIN}ListClaim_").items():
        claims[name] = value[1:].split(value[0]) if value else []
    if not isinstance(claims.get(principal), str):
        raise SecurityOptionError(
            f'OAUTHBEARER needs a token: {_LOGIN}StringClaim_{principal}="..." in sasl.jaas.config, '
            "sasl.oauthbearer.config, sasl.oauthbearer.token or sasl.oauthbearer.token.endpoint.url"
        )
    lifetime = _number("LifetimeSeconds", module.get(f"{_LOGIN}LifetimeSeconds", "3600"))
    return unsecured_token(claims, lifetime), extensions | _prefixed(module, f"{_LOGIN}Extension_")


def _from_librdkafka(text: str, extensions: dict[str, str]) -> Token:
    given = _pairs(text, "config", " ")
    if "principal" not in given:
        raise SecurityOptionError("sasl.oauthbearer.config: principal=NAME is missing")
    claims: dict[str, Any] = {given.get("principalClaimName", "sub"): given["principal"]}
    if scope := given.get("scope"):
        claims[given.get("scopeClaimName", "scope")] = scope.split(",")
    lifetime = _number("lifeSeconds", given.get("lifeSeconds", "3600"))
    return unsecured_token(claims, lifetime), extensions | _prefixed(given, "extension_")


def unsecured_token(claims: Mapping[str, Any], lifetime_s: float) -> str:
    """A JWT with `alg` none that is valid from now on."""
    now = time.time()
    body = {"exp": now + lifetime_s, "iat": int(now), **claims}  # a broker's clock may be a moment behind
    return ".".join((_part({"alg": "none"}), _part(body), ""))


def _part(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


# --- tokens from elsewhere --------------------------------------------------------------------------------------------


def _from_file(url: str) -> str:
    path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
    try:
        return _checked(Path(path).read_text())
    except OSError as error:
        raise SecurityOptionError(f"sasl.oauthbearer.token.endpoint.url: {path}: {error.strerror}") from None


def _from_server(url: str, options: SaslOptions) -> str:
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise SecurityOptionError("sasl.oauthbearer.token.endpoint.url: neither file: nor http(s):")
    given, module = options.oauthbearer, options.module
    client = given.get("client.credentials.client.id") or given.get("client.id") or module.get("clientId")
    secret = given.get("client.credentials.client.secret") or given.get("client.secret") or module.get("clientSecret")
    if not client or not secret:
        raise SecurityOptionError("sasl.oauthbearer.token.endpoint.url needs a client id and its secret")
    form = {"grant_type": "client_credentials"}
    if scope := given.get("scope") or module.get("scope"):
        form["scope"] = scope
    basic = base64.b64encode(f"{client}:{secret}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Accept": "application/json"}
    request = urllib.request.Request(url, urllib.parse.urlencode(form).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            token = json.loads(answer.read(_MAX_ANSWER))["access_token"]
    except urllib.error.HTTPError as error:
        error.close()
        raise AuthenticationError(f"{url} gave no token: {error}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuthenticationError(f"{url} gave no token: {error or type(error).__name__}") from None
    return _checked(str(token))


def _checked(token: str) -> str:
    token = token.strip()
    if not token or not token.isascii() or any(sign <= " " for sign in token):
        raise SecurityOptionError("the OAUTHBEARER token is empty, or has characters that no token has")
    return token


# --- texts ------------------------------------------------------------------------------------------------------------


def _prefixed(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in options.items() if name.startswith(prefix)}


def _pairs(text: str, option: str, separator: str) -> dict[str, str]:
    parts = [part.strip() for part in text.split(separator) if part.strip()]
    if any("=" not in part for part in parts):
        raise SecurityOptionError(f"sasl.oauthbearer.{option}: NAME=VALUE, separated by {separator!r}")
    return dict(part.split("=", 1) for part in parts)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SecurityOptionError(f"{name}: a number, not {text!r}") from None
