"""librdkafka's security options by the names and in the forms of the Java client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from odradek.client_security.errors import SecurityOptionError
from odradek.client_security.options import ClientSecurity

_SECURITY = "org.apache.kafka.common.security"
_RENAMED = {
    "sasl.mechanisms": "sasl.mechanism",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    "sasl.oauthbearer.client.id": "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.secret": "sasl.oauthbearer.client.credentials.client.secret",
}
_FOLDED = (
    "sasl.username",
    "sasl.password",
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
)
"""Options that become part of another option."""
_NOT_JAVA = (
    "sasl.oauthbearer.token",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.extensions",
    "enable.ssl.certificate.verification",
)


def as_java(options: Mapping[str, str]) -> dict[str, str]:
    """The options as a Java client takes them; Java's own stay as they are.

    Raises SecurityOptionError for what the Java client cannot do, or is no security option.
    """
    security = ClientSecurity.parse(options)
    if wrong := [name for name in _NOT_JAVA if name in options]:
        raise SecurityOptionError(f"{wrong[0]} is not an option of the Java client")
    java = {_RENAMED.get(name, name): value for name, value in options.items() if name not in _FOLDED}
    if "security.protocol" in java:
        java["security.protocol"] = security.protocol
    if java.get("ssl.endpoint.identification.algorithm") == "none":
        java["ssl.endpoint.identification.algorithm"] = ""
    if security.sasl is not None and "sasl.jaas.config" not in java:
        module = _login_module(security.sasl.mechanism, security.sasl.module)
        if module is not None:
            java["sasl.jaas.config"] = module
    if "ssl.ca.location" in options:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": options["ssl.ca.location"]}
    for option, store in (("ssl.certificate.location", "certificate.chain"), ("ssl.key.location", "key")):
        if option in options:
            java[f"ssl.keystore.{store}"] = _text(options[option])
    if "ssl.keystore.key" in java:
        java["ssl.keystore.type"] = "PEM"
    if "ssl.truststore.certificates" in java:
        java["ssl.truststore.type"] = "PEM"
    return java


def _login_module(mechanism: str, module: Mapping[str, str]) -> str | None:
    name = {"PLAIN": "plain.PlainLoginModule", "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule"}.get(mechanism)
    if mechanism.startswith("SCRAM"):
        name = "scram.ScramLoginModule"
    if mechanism == "GSSAPI":
        options = {"useKeyTab": "true", "storeKey": "true"} | dict(module) if "keyTab" in module else dict(module)
        return _jaas("com.sun.security.auth.module.Krb5LoginModule", options or {"useTicketCache": "true"})
    return None if name is None else _jaas(f"{_SECURITY}.{name}", module)


def _jaas(name: str, options: Mapping[str, str]) -> str:
    def quoted(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    given = "".join(f' {key}="{quoted(value)}"' for key, value in options.items())
    return f"{name} required{given};"


def _text(location: str) -> str:
    try:
        return Path(location).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise SecurityOptionError(f"{location}: {getattr(error, 'strerror', None) or 'not a PEM file'}") from None
