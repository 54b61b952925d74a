"""Client configurations: the settings with which each client library connects and logs in.

`docs/security.md` has an example of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Client = Literal["confluent", "kafka-python", "aiokafka", "java", "kcat", "franz-go-env"]


@dataclass(frozen=True, slots=True)
class Access:
    """How a client connects: the address, the protocol, the user, and the files it needs.

    ``user`` and ``password`` are None without a log-in, ``authority`` without TLS, ``certificate`` and ``key`` without
    a client certificate.
    """

    bootstrap_servers: str
    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    user: str | None = None
    password: str | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def __repr__(self) -> str:
        return f"<Access to {self.bootstrap_servers} by {self.protocol} as {self.user}>"

    @property
    def unsecured_token(self) -> bool:
        """Whether the client logs in with an unsigned token."""
        return self.mechanism == "OAUTHBEARER"


def client_config(access: Access, client: str) -> dict[str, Any]:
    """The settings for a client library or program. Raises ValueError for an unknown client."""
    render = _RENDERED.get(client)
    if render is None:
        raise ValueError(f"client={client!r}: expected one of {', '.join(_RENDERED)}")
    return render(access)


def registry_config(url: str, client: str) -> dict[str, Any]:
    """The setting for a schema registry, for clients that take it among those for Kafka; others refuse it."""
    name = _REGISTRY_SETTING.get(client)
    return {} if name is None else {name: url}


def _librdkafka(access: Access) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap.servers": access.bootstrap_servers}
    if access.protocol == "PLAINTEXT":
        return config
    config["security.protocol"] = access.protocol
    if access.mechanism is not None:
        config["sasl.mechanism"] = access.mechanism
        if access.unsecured_token:
            config["enable.sasl.oauthbearer.unsecure.jwt"] = "true"
            config["sasl.oauthbearer.config"] = f"principal={access.user}"
        else:
            config |= {"sasl.username": access.user, "sasl.password": access.password}
    if access.authority is not None:
        config["ssl.ca.location"] = str(access.authority)
    if access.certificate is not None:
        config |= {"ssl.certificate.location": str(access.certificate), "ssl.key.location": str(access.key)}
    return config


def _kafka_python(access: Access) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap_servers": access.bootstrap_servers.split(",")}
    if access.protocol == "PLAINTEXT":
        return config
    config["security_protocol"] = access.protocol
    config |= _python_login(access, "kafka-python")
    if access.authority is not None:
        config["ssl_cafile"] = str(access.authority)
    if access.certificate is not None:
        config |= {"ssl_certfile": str(access.certificate), "ssl_keyfile": str(access.key)}
    return config


def _aiokafka(access: Access) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap_servers": access.bootstrap_servers}
    if access.protocol == "PLAINTEXT":
        return config
    config["security_protocol"] = access.protocol
    config |= _python_login(access, "aiokafka")
    if access.authority is not None:
        import ssl

        context = ssl.create_default_context(cafile=str(access.authority))
        if access.certificate is not None:
            context.load_cert_chain(access.certificate, access.key)
        config["ssl_context"] = context
    return config


def _python_login(access: Access, client: str) -> dict[str, Any]:
    if access.mechanism is None:
        return {}
    if access.unsecured_token:
        raise ValueError(f"{client} needs a token provider for OAUTHBEARER, which you have to write")
    return {
        "sasl_mechanism": access.mechanism,
        "sasl_plain_username": access.user,
        "sasl_plain_password": access.password,
    }


def _java(access: Access) -> dict[str, Any]:
    config: dict[str, Any] = {"bootstrap.servers": access.bootstrap_servers}
    if access.protocol == "PLAINTEXT":
        return config
    config["security.protocol"] = access.protocol
    if access.mechanism is not None:
        config |= {"sasl.mechanism": access.mechanism, "sasl.jaas.config": _java_login(access)}
    if access.authority is not None:
        config |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(access.authority)}
    if access.certificate is not None and access.key is not None:
        config |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": access.certificate.read_text(),
            "ssl.keystore.key": access.key.read_text(),
        }
    return config


def _java_login(access: Access) -> str:
    package = "org.apache.kafka.common.security"
    user, password = _quoted(access.user or ""), _quoted(access.password or "")
    if access.unsecured_token:
        return f"{package}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub={user};"
    module = "plain.PlainLoginModule" if access.mechanism == "PLAIN" else "scram.ScramLoginModule"
    return f"{package}.{module} required username={user} password={password};"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _environment(access: Access) -> dict[str, Any]:
    """Environment variables; docs/security.md has the Go code that reads them."""
    values = {
        "KAFKA_BOOTSTRAP_SERVERS": access.bootstrap_servers,
        "KAFKA_SECURITY_PROTOCOL": access.protocol,
        "KAFKA_SASL_MECHANISM": access.mechanism,
        "KAFKA_SASL_USERNAME": access.user if access.mechanism else None,
        "KAFKA_SASL_PASSWORD": access.password if access.mechanism else None,
        "KAFKA_SSL_CA_LOCATION": access.authority,
        "KAFKA_SSL_CERTIFICATE_LOCATION": access.certificate,
        "KAFKA_SSL_KEY_LOCATION": access.key,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


_RENDERED = {
    "confluent": _librdkafka,
    "kcat": _librdkafka,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "java": _java,
    "franz-go-env": _environment,
}
_REGISTRY_SETTING = {"java": "schema.registry.url", "franz-go-env": "SCHEMA_REGISTRY_URL"}
