"""Client configurations: the settings with which each client library connects and logs in.

`docs/security.md` has an example of each. `docs/testing.md` has a table of the settings with which a client waits less.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Client = Literal["confluent", "kcat", "kafka-python", "aiokafka", "java", "kafkajs", "franz-go-env"]


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


def client_config(access: Access, client: str, *, fast: bool = False) -> dict[str, Any]:
    """The settings for a client library or program; ``fast``: also those that shorten its timers.

    Raises ValueError for an unknown client.
    """
    render = CLIENTS.get(client)
    if render is None:
        raise ValueError(f"client={client!r}: expected one of {', '.join(CLIENTS)}")
    return {**render(access), **_FAST.get(client, {})} if fast else render(access)


def registry_config(url: str, client: str) -> dict[str, Any]:
    """The setting for a schema registry, for clients that take it among those for Kafka; others refuse it."""
    name = _REGISTRY_SETTING.get(client)
    return {} if name is None else {name: url}


def _named(access: Access, **names: str) -> dict[str, Any]:
    """The parts of an access that there are, under a client's names for them. PLAINTEXT is every client's default."""
    values = {name: getattr(access, part) for part, name in names.items()}
    given = {name: value for name, value in values.items() if value not in (None, "PLAINTEXT")}
    return {name: str(value) for name, value in given.items()}


def _librdkafka(access: Access) -> dict[str, Any]:
    config = _named(
        access,
        bootstrap_servers="bootstrap.servers",
        protocol="security.protocol",
        mechanism="sasl.mechanism",
        authority="ssl.ca.location",
        certificate="ssl.certificate.location",
        key="ssl.key.location",
    )
    if access.unsecured_token:
        config["enable.sasl.oauthbearer.unsecure.jwt"] = "true"
        config["sasl.oauthbearer.config"] = f"principal={access.user}"
    elif access.mechanism is not None:
        config |= {"sasl.username": access.user, "sasl.password": access.password}
    return config


def _kafka_python(access: Access) -> dict[str, Any]:
    files = {"authority": "ssl_cafile", "certificate": "ssl_certfile", "key": "ssl_keyfile"}
    config = _named(access, protocol="security_protocol", **files) | _python_login(access, "kafka-python")
    return {"bootstrap_servers": access.bootstrap_servers.split(","), **config}


def _aiokafka(access: Access) -> dict[str, Any]:
    config = _named(access, bootstrap_servers="bootstrap_servers", protocol="security_protocol")
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
    _refuse_unsecured_token(access, client)
    return {
        "sasl_mechanism": access.mechanism,
        "sasl_plain_username": access.user,
        "sasl_plain_password": access.password,
    }


def _refuse_unsecured_token(access: Access, client: str) -> None:
    if access.unsecured_token:
        raise ValueError(f"{client} needs a token provider for OAUTHBEARER, which you have to write")


def _kafkajs(access: Access) -> dict[str, Any]:
    """What `new Kafka()` takes. The texts of the files are in it: a test in JavaScript asks for it over HTTP."""
    config: dict[str, Any] = {"brokers": access.bootstrap_servers.split(",")}
    if access.mechanism is not None:
        _refuse_unsecured_token(access, "kafkajs")
        login = {"username": access.user, "password": access.password}
        config["sasl"] = {"mechanism": access.mechanism.lower(), **login}
    if access.authority is not None:
        config["ssl"] = {"ca": [access.authority.read_text()]}
        if access.certificate is not None and access.key is not None:
            config["ssl"] |= {"cert": access.certificate.read_text(), "key": access.key.read_text()}
    return config


def _java(access: Access) -> dict[str, Any]:
    names = {"bootstrap_servers": "bootstrap.servers", "protocol": "security.protocol", "mechanism": "sasl.mechanism"}
    config = _named(access, **names)
    if access.mechanism is not None:
        config["sasl.jaas.config"] = _java_login(access)
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
    user, password = quoted(access.user or ""), quoted(access.password or "")
    if access.unsecured_token:
        return f"{package}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub={user};"
    module = "plain.PlainLoginModule" if access.mechanism == "PLAIN" else "scram.ScramLoginModule"
    return f"{package}.{module} required username={user} password={password};"


def quoted(text: str) -> str:
    """A value in a JAAS configuration."""
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


CLIENTS = {
    "confluent": _librdkafka,
    "kcat": _librdkafka,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "java": _java,
    "kafkajs": _kafkajs,
    "franz-go-env": _environment,
}
_REGISTRY_SETTING = {"java": "schema.registry.url", "franz-go-env": "SCHEMA_REGISTRY_URL"}

_LIBRDKAFKA_FAST = {"reconnect.backoff.ms": 1}
_FAST: dict[str, dict[str, Any]] = {
    "confluent": _LIBRDKAFKA_FAST,
    "kcat": _LIBRDKAFKA_FAST,
    # With a version it does not ask for one before it knows its topics, and so not for metadata twice.
    "kafka-python": {"api_version": (4, 3), "retry_backoff_ms": 5},
    "java": {"fetch.max.wait.ms": 10, "linger.ms": 0, "retry.backoff.ms": 5},
    "kafkajs": {"maxWaitTimeInMs": 10},
    "franz-go-env": {"KAFKA_LINGER_MS": "0"},
}
"""Settings with which a client's timers are shorter; each one's producers, consumers and admin clients take all of
them. aiokafka has no timer that a test waits for."""
