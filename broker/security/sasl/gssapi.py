"""GSSAPI with Kerberos (RFC 4752), through the package `gssapi` (`odradek[gssapi]`) over MIT Kerberos.

The login module is Java's `Krb5LoginModule` with `useKeyTab`, `keyTab` and `principal`, as on Kafka's brokers. There
are no security layers, as in Kafka. A step may read the keytab and write the replay cache, so it runs in a thread.

`sasl.kerberos.principal.to.local.rules` maps principals to users. A rule is `DEFAULT` (the first component of a
principal of the default realm) or `RULE:[n:format](regex)s/pattern/replacement/g/L`, as in `auth_to_local` of
krb5.conf. The first rule that matches is used.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import trio

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.sasl.server import (
    InvalidCredentials,
    MalformedToken,
    NewSaslServer,
    SaslServer,
    login_options,
)

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials


_RULE = re.compile(
    r"DEFAULT|RULE:\[(?P<count>\d+):(?P<format>[^\]]*)](?:\((?P<match>[^)]*)\))?"
    r"(?:s/(?P<pattern>[^/]*)/(?P<replacement>[^/]*)/(?P<repeat>g)?)?/?(?P<case>[LU])?"
)
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_PARAMETER = re.compile(r"\$(\d+)")
_GROUP = re.compile(r"\\(.)|\$(\d)")


class NoRule(Exception):
    """No rule maps a principal to a name, or the mapped name cannot be a user's."""


class _Rule(NamedTuple):
    components: int
    format: str
    match: re.Pattern[str] | None
    pattern: re.Pattern[str] | None
    replacement: str
    repeat: bool
    case: str | None


class KerberosNames:
    """The rules of a listener."""

    def __init__(self, rules: Sequence[str], default_realm: str) -> None:
        """ConfigError, in Kafka's words, for a rule that cannot be read."""
        self._realm = default_realm
        self._rules = [_parsed(rule) for rule in rules]

    def user(self, principal: str) -> str:
        """The user of a principal: `alice/host@REALM` -> `alice`. NoRule if no rule maps it."""
        found = _NAME.fullmatch(principal)
        if found is None:
            if "@" in principal:
                raise NoRule("Malformed Kerberos name")
            return principal
        service, host, realm = found.groups()
        parts = [realm, service] if host is None else [realm, service, host]
        for rule in self._rules:
            if rule is None:
                name = _simple(service) if realm == self._realm else None
            else:
                name = _applied(rule, parts)
            if name is not None:
                return name
        raise NoRule(f"No rules apply to {principal}")


def _parsed(text: str) -> _Rule | None:
    """None for DEFAULT."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise ConfigError(f"Invalid rule: {text}")
    if found["count"] is None:
        return None
    try:
        match, pattern = (
            None if found[part] is None else re.compile(found[part], re.ASCII) for part in ("match", "pattern")
        )
    except re.error as error:
        raise ConfigError(f"Invalid rule: {text}: {error}") from None
    replacement = _GROUP.sub(_python_group, found["replacement"] or "")
    return _Rule(
        int(found["count"]), found["format"], match, pattern, replacement, bool(found["repeat"]), found["case"]
    )


def _python_group(found: re.Match[str]) -> str:
    r"""Java's `$1` and `\$` in Python's words."""
    if found[2] is not None:
        return rf"\g<{found[2]}>"
    return "\\\\" if found[1] == "\\" else found[1]


def _applied(rule: _Rule, parts: Sequence[str]) -> str | None:
    """The name that a rule makes from realm and components; None if the rule does not match."""
    if len(parts) - 1 != rule.components:
        return None

    def parameter(found: re.Match[str]) -> str:
        if int(found[1]) >= len(parts):
            raise NoRule(f"index {found[1]} from {rule.format} is outside of the valid range 0 to {len(parts) - 1}")
        return parts[int(found[1])]

    base = _PARAMETER.sub(parameter, rule.format)
    if rule.match is not None and not rule.match.fullmatch(base):
        return None
    if rule.pattern is not None:
        try:
            base = rule.pattern.sub(rule.replacement, base, count=0 if rule.repeat else 1)
        except (re.error, IndexError):
            raise NoRule(f"the replacement {rule.replacement} does not fit its pattern") from None
    change: Callable[[str], str] = {"L": str.lower, "U": str.upper}.get(rule.case or "", str)
    return change(_simple(base))


def _simple(name: str) -> str:
    if "/" in name or "@" in name:
        raise NoRule(f"Non-simple name {name} after auth_to_local rule")
    return name


LOGIN_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
_NO_LAYER = 1
_LARGEST_MESSAGE = 65_536
_OFFER = bytes([_NO_LAYER]) + _LARGEST_MESSAGE.to_bytes(3, "big")
_TABLE = -1765328384
"""The first of MIT's error codes of Kerberos."""
_RETRIED = frozenset((_TABLE + code) & 0xFFFFFFFF for code in (7, 21, 33, 34))
"""Unknown server, client or ticket not yet valid, replay: Kafka closes the connection, and the client tries again."""


def gssapi(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
    library = _library()
    options = login_options(config, LOGIN_MODULE)
    service = config.get_text("sasl.kerberos.service.name") or options.get("serviceName")
    if not service:
        raise ConfigError("No serviceName defined in either JAAS or Kafka config")
    acceptor = Acceptor(library, _keytab(options), options.get("principal"), service)
    names = KerberosNames(config.get_list("sasl.kerberos.principal.to.local.rules"), _default_realm(library))
    return lambda: GssapiServer(acceptor, names)


def _library() -> Any:
    try:
        import gssapi as library
    except ImportError:
        raise ConfigError("GSSAPI needs MIT Kerberos and pip install 'odradek[gssapi]'") from None
    return library


def _keytab(options: Mapping[str, str]) -> Path:
    if options.get("useKeyTab", "").lower() != "true" or not options.get("keyTab") or not options.get("principal"):
        raise ConfigError('a broker logs in with useKeyTab=true, keyTab="..." and principal="..."')
    keytab = Path(options["keyTab"].removeprefix("FILE:"))
    if not keytab.is_file():
        raise ConfigError(f"the keytab {keytab} is not there")
    return keytab


def _default_realm(library: Any) -> str:
    """The default realm in krb5.conf; an empty text without one, as in Kafka."""
    try:
        name = library.Name("x", library.NameType.user).canonicalize(library.MechType.kerberos)
    except library.exceptions.GSSError:
        return ""
    return str(name).rpartition("@")[2]


class Acceptor:
    """The shared part of a listener's log-ins: the keys of its service, and the tickets seen so far."""

    def __init__(self, library: Any, keytab: Path, principal: str | None, service: str) -> None:
        """ConfigError if the keytab has no keys of the principal."""
        self.gssapi = library
        self.service = service
        folder = tempfile.mkdtemp(prefix="odradek-kerberos-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._store = {"keytab": f"FILE:{keytab}", "rcache": f"file2:{folder}/replays"}
        self._principal = principal
        try:
            self._credentials()
        except library.exceptions.GSSError as error:
            raise ConfigError(f"the keytab {keytab} cannot be used for {principal}: {_text(error)}") from None

    def context(self) -> Any:
        """The context of one log-in. It reads the keytab again, so the file may be replaced."""
        return self.gssapi.SecurityContext(creds=self._credentials(), usage="accept")

    def _credentials(self) -> Any:
        name = self.gssapi.Name(self._principal, self.gssapi.NameType.kerberos_principal)
        mechanisms = [self.gssapi.MechType.kerberos]
        return self.gssapi.Credentials(usage="accept", name=name, mechs=mechanisms, store=self._store)


class GssapiServer(SaslServer):
    """One log-in with Kerberos."""

    mechanism = "GSSAPI"
    waits = True

    def __init__(self, acceptor: Acceptor, names: KerberosNames) -> None:
        super().__init__()
        self._acceptor, self._names = acceptor, names
        self._context: Any = None
        self._offered = False

    async def evaluate_async(self, token: bytes) -> bytes:
        """As `evaluate`, in a thread."""
        return await trio.to_thread.run_sync(self.evaluate, token)

    def evaluate(self, token: bytes) -> bytes:
        """Accept the client's ticket, then agree on no security layer."""
        error_class = self._acceptor.gssapi.exceptions.GSSError
        try:
            return self._step(token)
        except error_class as error:
            if getattr(error, "min_code", 0) & 0xFFFFFFFF in _RETRIED:
                raise MalformedToken(_text(error)) from None
            raise InvalidCredentials(_text(error)) from None

    def _step(self, token: bytes) -> bytes:
        if self._context is None:
            self._context = self._acceptor.context()
        if not self._context.complete:
            answer = self._context.step(token) or b""
            return self._offer() if self._context.complete and not answer else bytes(answer)
        if not self._offered:
            if token:
                raise InvalidCredentials("Handshake expecting no response data from server")
            return self._offer()
        self._agree(self._context.unwrap(token).message)
        return b""

    def _offer(self) -> bytes:
        self._offered = True
        return bytes(self._context.wrap(_OFFER, False).message)

    def _agree(self, chosen: bytes) -> None:
        if len(chosen) < 4 or chosen[0] != _NO_LAYER:
            raise InvalidCredentials("Client selected unsupported protection")
        service = str(self._context.target_name).split("@", 1)[0].split("/", 1)[0]
        if service.lower() != self._acceptor.service.lower():
            raise InvalidCredentials(f"GSS context targ name protocol error: {service}")
        try:
            user = self._names.user(str(self._context.initiator_name))
        except NoRule as error:
            raise MalformedToken(str(error)) from None
        self.principal = Principal(USER, user)
        self.complete = True


def _text(error: Exception) -> str:
    return " ".join(str(error).split())
