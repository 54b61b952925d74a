"""A broker's properties for SASL, the same for odradek and a real Kafka, and who may log in there."""

from __future__ import annotations

from collections.abc import Mapping

PLAIN_USERS: Mapping[str, str] = {
    "admin": "admin-secret",
    "alice": 'alice\'s "secret"',
    "bob": "b,o=b",
    "zoë": "pässword",
}
"""Names and passwords of PLAIN."""
SCRAM_USERS: Mapping[str, str] = {
    "alice": "pencil",
    "bob": "eraser",
    "a=b,c": "comma",
    "ada lovelace": "p\u00adw\u2168",
}
"""Names and passwords of both SCRAM mechanisms, once `add_scram_users` has added them."""
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
LISTENERS = ("PLAINTEXT", "SASL", "REAUTH", "SHORT")
SECRET_KEY = "the key of all tokens"
SESSION_MS, SHORT_MS = 3_600_000, 1_200

_PROTOCOLS = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", "TLS": "SASL_SSL"}
_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def jaas(mechanism: str, **options: str) -> str:
    """A login configuration in Kafka's form."""
    quoted = "".join(f' {name}="{_escaped(value)}"' for name, value in options.items())
    return f"{_MODULES[mechanism]} required{quoted};"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def sasl_properties(ports: Mapping[str, int], controller: tuple[str, int] | None = None) -> dict[str, str]:
    """Listeners `PLAINTEXT`, `SASL`, `REAUTH` (sessions of an hour), `SHORT` (of `SHORT_MS`) at these ports.

    One named `TLS` is of SASL_SSL, and needs a key store besides.
    """
    listeners = dict(ports)
    if controller is not None:
        listeners[controller[0]] = controller[1]
    plain = {f"user_{name}": password for name, password in PLAIN_USERS.items()}
    properties = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items()),
        "listener.security.protocol.map": ",".join(
            f"{name}:{_PROTOCOLS.get(name, 'SASL_PLAINTEXT')}" for name in listeners
        ),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "connection.failed.authentication.delay.ms": "20",
        "delegation.token.secret.key": SECRET_KEY,
        "listener.name.reauth.connections.max.reauth.ms": str(SESSION_MS),
        "listener.name.short.connections.max.reauth.ms": str(SHORT_MS),
    }
    if controller is not None:
        properties["controller.quorum.voters"] = f"0@127.0.0.1:{controller[1]}"
        properties["advertised.listeners"] = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
    for name in ports:
        if name != "PLAINTEXT":
            for mechanism in MECHANISMS:
                options = plain if mechanism == "PLAIN" else {}
                key = f"listener.name.{name.lower()}.{mechanism.lower()}.sasl.jaas.config"
                properties[key] = jaas(mechanism, **options)
    return properties
