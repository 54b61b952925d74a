"""The security options of a client, by the names of the Java client and of librdkafka, as one checked value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from odradek.protocol.jaas import JaasError, LoginModule, parse


class WireError(ConnectionError):
    """The broker cannot be reached, cut the connection, or does not serve what is needed."""


class ConnectionClosed(WireError):
    """The broker closed the connection where an answer was due."""


class ApiNotServed(WireError):
    """The broker serves no version of an API that is known here. It will not when it is asked again."""


class TlsError(WireError):
    """No TLS connection came about: a certificate that is not trusted, a name that is not in it, no common version."""


class AuthenticationError(WireError):
    """The broker refused the log-in, or the client does not trust the broker's part of it."""


class SecurityOptionError(ValueError):
    """A security option is unknown, missing, contradictory or malformed. Never shows a secret."""


def parse_jaas(text: str) -> LoginModule:
    """The one login module of a JAAS configuration; SecurityOptionError for anything else. Errors show no values."""
    try:
        modules = parse(text)
    except JaasError as error:
        raise SecurityOptionError(f"sasl.jaas.config cannot be read: {error}") from None
    if len(modules) != 1:
        raise SecurityOptionError(f"sasl.jaas.config cannot be read: it has {len(modules)} login modules, not one")
    return modules[0]


PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
PREFIXES = ("security.", "sasl.", "ssl.", "enable.ssl.")

_LOGIN_HANDLERS = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
    "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler",
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
)
_TLS_VERSIONS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_USUAL_VERSIONS = ("TLSv1.2", "TLSv1.3")
"""Kafka's own default. OpenSSL's is what each system makes of it."""


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """The trusted certificates, and the client's own one. A store may be PEM or PKCS12; its content tells."""

    ca_location: str | None = None
    ca_pem: str | None = field(default=None, repr=False)
    ca_password: str | None = field(default=None, repr=False)
    keystore_location: str | None = None
    """One file with a key and its certificates."""
    keystore_password: str | None = field(default=None, repr=False)
    certificate_location: str | None = None
    certificate_pem: str | None = field(default=None, repr=False)
    key_location: str | None = None
    key_pem: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)
    verify: bool = True
    check_hostname: bool = True
    versions: tuple[str, ...] = _USUAL_VERSIONS
    """The versions of TLS to offer."""
    ciphers: str | None = None


@dataclass(frozen=True, slots=True)
class SaslOptions:
    """How to log in. `module` holds the options of the login module, whichever names they were given by."""

    mechanism: str
    module: Mapping[str, str] = field(repr=False)
    service_name: str = "kafka"
    oauthbearer: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The options `sasl.oauthbearer.*`, without that prefix."""


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """How to connect: in the clear or by TLS, and with which log-in. It can be pickled; its repr has no secrets."""

    protocol: str = "PLAINTEXT"
    tls: TlsOptions | None = None
    sasl: SaslOptions | None = None

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> Self:
        """From options such as `security.protocol`; others than security options must not be among them.

        Raises SecurityOptionError.
        """
        if unknown := sorted(name for name in options if name not in _KNOWN):
            raise SecurityOptionError(f"unknown security option {', '.join(unknown)}")
        protocol = options.get("security.protocol", "PLAINTEXT").strip().upper()
        if protocol not in PROTOCOLS:
            raise SecurityOptionError(f"security.protocol: {protocol!r} is not one of {', '.join(PROTOCOLS)}")
        given = {name: value for name, value in options.items() if value is not None}
        tls = _tls(given) if protocol in ("SSL", "SASL_SSL") else None
        return cls(protocol, tls, _sasl(given) if protocol.startswith("SASL") else None)


PLAIN_TEXT = ClientSecurity()


def security_options(options: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """The security options among others, by their names without the prefix."""
    names = tuple(prefix + part for part in PREFIXES)
    return {name[len(prefix) :]: value for name, value in options.items() if name.lower().startswith(names)}


# --- TLS --------------------------------------------------------------------------------------------------------------

_TLS_NAMES: Mapping[str, tuple[str, ...]] = {
    "ca_location": ("ssl.ca.location", "ssl.truststore.location"),
    "ca_pem": ("ssl.ca.pem", "ssl.truststore.certificates"),
    "ca_password": ("ssl.truststore.password",),
    "keystore_location": ("ssl.keystore.location",),
    "keystore_password": ("ssl.keystore.password",),
    "certificate_location": ("ssl.certificate.location",),
    "certificate_pem": ("ssl.certificate.pem", "ssl.keystore.certificate.chain"),
    "key_location": ("ssl.key.location",),
    "key_pem": ("ssl.key.pem", "ssl.keystore.key"),
    "key_password": ("ssl.key.password",),
    "ciphers": ("ssl.cipher.suites",),
}
"""A field of TlsOptions to the options that set it."""


def _tls(options: Mapping[str, str]) -> TlsOptions:
    texts = {name: _first(options, *names) for name, names in _TLS_NAMES.items()}
    for store in ("truststore", "keystore"):
        kind = options.get(f"ssl.{store}.type", "JKS").upper()
        if kind not in ("JKS", "PKCS12", "PEM"):
            raise SecurityOptionError(f"ssl.{store}.type: {kind!r} is not one of JKS, PKCS12, PEM")
    if (texts["certificate_location"] or texts["certificate_pem"]) and not (texts["key_location"] or texts["key_pem"]):
        raise SecurityOptionError("a certificate needs its key (ssl.key.location or ssl.key.pem)")
    identification = options.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    if identification not in ("https", "none", ""):
        raise SecurityOptionError(
            f"ssl.endpoint.identification.algorithm: {identification!r} is neither https nor none"
        )
    verify = _boolean(options, "enable.ssl.certificate.verification", default=True)
    return TlsOptions(
        **texts,
        verify=verify,
        check_hostname=verify and identification == "https",
        versions=_versions(options),
    )


def _versions(options: Mapping[str, str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in options.get("ssl.enabled.protocols", "").split(",") if name.strip())
    if wrong := [name for name in names if name not in _TLS_VERSIONS]:
        raise SecurityOptionError(f"ssl.enabled.protocols: {wrong[0]!r} is not one of {', '.join(_TLS_VERSIONS)}")
    return names or _USUAL_VERSIONS


# --- SASL -------------------------------------------------------------------------------------------------------------


def _sasl(options: Mapping[str, str]) -> SaslOptions:
    mechanism = (_first(options, "sasl.mechanism", "sasl.mechanisms") or "GSSAPI").strip().upper()
    if mechanism not in MECHANISMS:
        raise SecurityOptionError(f"sasl.mechanism: {mechanism!r} is not one of {', '.join(MECHANISMS)}")
    handler = options.get("sasl.login.callback.handler.class")
    if handler is not None and handler not in _LOGIN_HANDLERS:
        raise SecurityOptionError(
            f"sasl.login.callback.handler.class: {handler} is a class of Java's; cannot be loaded"
        )
    text = options.get("sasl.jaas.config")
    module = parse_jaas(text) if text is not None else LoginModule("", "", {})
    if module.name and module.name.rpartition(".")[2] != LOGIN_MODULES[mechanism]:
        raise SecurityOptionError(f"sasl.jaas.config: {module.name} does not log in with {mechanism}")
    names = _MODULE_OPTIONS.get(mechanism, {})
    chosen = {**module.options, **{names[name]: value for name, value in options.items() if name in names}}
    if mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        for name, option in (("username", "sasl.username"), ("password", "sasl.password")):
            if name not in chosen:
                raise SecurityOptionError(f"{mechanism} needs {option}, or {name} in sasl.jaas.config")
            if "\0" in chosen[name]:
                raise SecurityOptionError(f"{option} cannot hold a NUL character")
    service = _first(options, "sasl.kerberos.service.name") or chosen.get("serviceName", "kafka")
    prefix = "sasl.oauthbearer."
    oauthbearer = {name.removeprefix(prefix): value for name, value in options.items() if name.startswith(prefix)}
    return SaslOptions(mechanism, chosen, service, oauthbearer)


LOGIN_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
}
_USER = {"sasl.username": "username", "sasl.password": "password"}
_MODULE_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "PLAIN": _USER,
    "SCRAM-SHA-256": _USER,
    "SCRAM-SHA-512": _USER,
    "GSSAPI": {"sasl.kerberos.principal": "principal", "sasl.kerberos.keytab": "keyTab"},
}
"""Mechanism to librdkafka's options for what Java writes into the login module."""


def _first(options: Mapping[str, str], *names: str) -> str | None:
    given = [name for name in names if options.get(name)]
    if len({options[name] for name in given}) > 1:
        raise SecurityOptionError(f"{' and '.join(given)} mean the same: give one of them")
    return options[given[0]] if given else None


def _boolean(options: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = options.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise SecurityOptionError(f"{name}: true or false, not {text!r}")
    return text == "true"


_KNOWN = {
    "security.protocol",
    "enable.ssl.certificate.verification",
    "ssl.endpoint.identification.algorithm",
    "ssl.enabled.protocols",
    "ssl.truststore.type",
    "ssl.keystore.type",
    *(name for names in _TLS_NAMES.values() for name in names),
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "sasl.login.callback.handler.class",
    "sasl.kerberos.service.name",
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.token",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
}
