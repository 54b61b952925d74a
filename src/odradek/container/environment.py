"""`odradek serve --from-env`: the environment variables of Kafka's images as configs, users and topics.

`apache/kafka`, `apache/kafka-native` and `confluentinc/cp-kafka` name a config `KAFKA_` and the config's name in
capitals, `bitnami/kafka` names it `KAFKA_CFG_` and so on. One underscore stands for a dot, two for an underscore, three
for a hyphen. The other variables of each image stand in the tables below, which docs/containers.md shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

SECRETS = PurePosixPath("/etc/kafka/secrets")
"""The folder in which the images look for key stores that are given by file name."""
BITNAMI_SASL = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"

OTHERS: Mapping[str, str] = {
    "CLUSTER_ID": "The cluster's id.",
    "KAFKA_KRAFT_CLUSTER_ID": "The cluster's id (bitnami).",
    "KAFKA_LOG4J_ROOT_LOGLEVEL": "What `odradek serve --log-level` says: DEBUG, INFO, WARN, ERROR or FATAL.",
    "KAFKA_CREATE_TOPICS": "Topics at the start: `orders:3:1,state:1:1:compact` (partitions, replicas, policy).",
    "KAFKA_SSL_KEYSTORE_FILENAME": f"`ssl.keystore.location`, a file in {SECRETS}.",
    "KAFKA_SSL_KEYSTORE_CREDENTIALS": f"`ssl.keystore.password`, the content of a file in {SECRETS}.",
    "KAFKA_SSL_KEY_CREDENTIALS": f"`ssl.key.password`, the content of a file in {SECRETS}.",
    "KAFKA_SSL_TRUSTSTORE_FILENAME": f"`ssl.truststore.location`, a file in {SECRETS}.",
    "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": f"`ssl.truststore.password`, the content of a file in {SECRETS}.",
    "KAFKA_CLIENT_USERS": "Users of the SASL listeners, with a comma or semicolon between them (bitnami).",
    "KAFKA_CLIENT_PASSWORDS": "Their passwords, in the same order (bitnami).",
    "KAFKA_INTER_BROKER_USER": "One more user (bitnami).",
    "KAFKA_INTER_BROKER_PASSWORD": "Its password (bitnami).",
    "KAFKA_BROKER_ID": "`node.id`, where `KAFKA_NODE_ID` does not stand.",
}
"""Variables that are read, and are no config of that name."""

WITHOUT_EFFECT: Mapping[str, str] = {
    "KAFKA_VERSION": "the image's own",
    "KAFKA_HEAP_OPTS": "there is no JVM",
    "KAFKA_JVM_PERFORMANCE_OPTS": "there is no JVM",
    "KAFKA_GC_LOG_OPTS": "there is no JVM",
    "KAFKA_JMX_OPTS": "there is no JVM",
    "KAFKA_JMX_PORT": "there is no JVM",
    "KAFKA_JMX_HOSTNAME": "there is no JVM",
    "KAFKA_LOG4J_OPTS": "there is no log4j",
    "KAFKA_LOG4J_LOGGERS": "there is no log4j",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL": "there are no Java tools",
    "KAFKA_ZOOKEEPER_CONNECT": "there is no ZooKeeper, and none is needed",
    "KAFKA_ZOOKEEPER_PROTOCOL": "there is no ZooKeeper, and none is needed",
    "KAFKA_CFG_ZOOKEEPER_CONNECT": "there is no ZooKeeper, and none is needed",
    "KAFKA_ENABLE_KRAFT": "there is no ZooKeeper, and none is needed",
    "KAFKA_CONFLUENT_SUPPORT_METRICS_ENABLE": "nothing is reported to Confluent",
    "KAFKA_REST_BOOTSTRAP_SERVERS": "there is no REST proxy",
    "KAFKA_SKIP_KRAFT_STORAGE_INIT": "nothing needs to be formatted",
    "ALLOW_PLAINTEXT_LISTENER": "plain text is allowed",
}
"""Variables that change nothing, and why."""

REFUSED: Mapping[str, str] = {
    "KAFKA_OPTS": "options of a JVM; give log-ins as listener.name.LISTENER.plain.sasl.jaas.config",
    "KAFKA_TLS_TYPE": "give ssl.keystore.type and ssl.keystore.location",
    "KAFKA_CERTIFICATE_PASSWORD": "give ssl.keystore.password",
}
"""Variables that ask for what odradek cannot do under that name, and what to say instead."""

_LEVELS = {"trace": "debug", "debug": "debug", "info": "info", "warn": "warning", "error": "error", "fatal": "critical"}
_LISTENERS = re.compile(r"([A-Za-z0-9_.-]+)://")


class EnvironmentRefused(ValueError):
    """A variable that cannot be honoured, as one line."""


@dataclass
class FromEnvironment:
    """The settings in the environment.

    `topics` are texts as `--topic` takes them, `scram` as `--add-scram` does; `notes` say in one line each which
    known variables have no effect, `warnings` which unknown ones.
    """

    configs: dict[str, str] = field(default_factory=dict)
    cluster_id: str | None = None
    topics: list[str] = field(default_factory=list)
    scram: list[str] = field(default_factory=list)
    log_level: str | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    """Config to the variable that names it."""

    def unknown(self, is_known: Callable[[str], bool]) -> list[tuple[str, str]]:
        """Take out the configs that Kafka does not know; variable and name of each."""
        unknown = [name for name in self.variables if not is_known(name)]
        for name in unknown:
            del self.configs[name]
        return [(self.variables[name], name) for name in unknown]


def read_environment(variables: Mapping[str, str], secrets: PurePosixPath = SECRETS) -> FromEnvironment:
    """The settings in the variables of a Kafka image; EnvironmentRefused for one that odradek cannot honour.

    Variables of other programs are left alone. Where none names a config, the listener is that of `apache/kafka`.
    """
    found = FromEnvironment()
    bitnami = any(name.startswith("KAFKA_CFG_") for name in variables) or "ALLOW_PLAINTEXT_LISTENER" in variables
    for name, value in sorted(variables.items()):
        if name in REFUSED:
            raise EnvironmentRefused(f"{name} cannot be honoured: {REFUSED[name]}")
        if name in WITHOUT_EFFECT:
            found.notes.append(f"{name} has no effect: {WITHOUT_EFFECT[name]}")
        elif name in OTHERS:
            continue
        elif name.startswith("KAFKA_"):
            config = config_name(name)
            found.configs[config] = value
            found.variables[config] = name
    found.cluster_id = variables.get("CLUSTER_ID") or variables.get("KAFKA_KRAFT_CLUSTER_ID") or None
    if (broker_id := variables.get("KAFKA_BROKER_ID")) and "node.id" not in found.configs:
        found.configs["node.id"] = broker_id
    found.log_level = _log_level(variables.get("KAFKA_LOG4J_ROOT_LOGLEVEL"))
    found.topics = [_topic(text) for text in _list(variables.get("KAFKA_CREATE_TOPICS", ""), ",")]
    _add_stores(found.configs, variables, secrets)
    _add_users(found, variables)
    if "listeners" not in found.configs:
        _add_listeners(found.configs, bitnami)
    return found


def config_name(variable: str) -> str:
    """The config that a variable names: `KAFKA_LOG_RETENTION_MS` is `log.retention.ms`."""
    text = variable.removeprefix("KAFKA_").removeprefix("CFG_").lower()
    return text.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def markdown() -> str:
    """The tables of docs/containers.md."""
    lines = ["| Variable | What it does |", "| --- | --- |"]
    lines += ["| `KAFKA_...`, `KAFKA_CFG_...` | Any config of the broker, such as `KAFKA_LOG_RETENTION_MS`. |"]
    lines += [f"| `{name}` | {effect} |" for name, effect in OTHERS.items()]
    lines += [f"| `{name}` | No effect: {reason}. |" for name, reason in WITHOUT_EFFECT.items()]
    lines += [f"| `{name}` | Refused: {reason}. |" for name, reason in REFUSED.items()]
    return "\n".join(lines) + "\n"


def _add_listeners(configs: dict[str, str], bitnami: bool) -> None:
    """Where nothing says where to listen: port 9092 at all addresses, and what the image advertises then."""
    configs["listeners"] = "PLAINTEXT://:9092"
    if not bitnami:
        configs.setdefault("advertised.listeners", "PLAINTEXT://localhost:9092")


def _add_stores(configs: dict[str, str], variables: Mapping[str, str], secrets: PurePosixPath) -> None:
    for kind in ("KEYSTORE", "TRUSTSTORE"):
        if file := variables.get(f"KAFKA_SSL_{kind}_FILENAME"):
            configs[f"ssl.{kind.lower()}.location"] = str(secrets / file)
    for variable, config in (
        ("KAFKA_SSL_KEYSTORE_CREDENTIALS", "ssl.keystore.password"),
        ("KAFKA_SSL_KEY_CREDENTIALS", "ssl.key.password"),
        ("KAFKA_SSL_TRUSTSTORE_CREDENTIALS", "ssl.truststore.password"),
    ):
        if file := variables.get(variable):
            try:
                with open(secrets / file) as content:
                    configs[config] = content.read().strip()
            except OSError as error:
                raise EnvironmentRefused(f"{variable}: {secrets / file}: {error.strerror}") from None


def _add_users(found: FromEnvironment, variables: Mapping[str, str]) -> None:
    """Users of bitnami's variables: for PLAIN in the JAAS text of each SASL listener, for SCRAM as records."""
    names = _list(variables.get("KAFKA_CLIENT_USERS", ""), ",;")
    passwords = _list(variables.get("KAFKA_CLIENT_PASSWORDS", ""), ",;")
    if len(names) != len(passwords):
        raise EnvironmentRefused(
            f"KAFKA_CLIENT_USERS names {len(names)} users, KAFKA_CLIENT_PASSWORDS has {len(passwords)} passwords"
        )
    users = dict(zip(names, passwords, strict=True))
    if inter_broker := variables.get("KAFKA_INTER_BROKER_USER"):
        users[inter_broker] = variables.get("KAFKA_INTER_BROKER_PASSWORD", "")
    if not users:
        return
    mechanisms = found.configs.setdefault("sasl.enabled.mechanisms", BITNAMI_SASL)
    listed = _list(mechanisms, ",")
    pairs = " ".join(f"user_{name}={_quoted(password)}" for name, password in users.items())
    for mechanism in listed:
        module = (
            f"plain.PlainLoginModule required {pairs};" if mechanism == "PLAIN" else "scram.ScramLoginModule required;"
        )
        for listener in _sasl_listeners(found.configs):
            config = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
            found.configs.setdefault(config, f"org.apache.kafka.common.security.{module}")
        if mechanism.startswith("SCRAM-"):
            found.scram += [f"{mechanism}=[name={name},password={password}]" for name, password in users.items()]


def _sasl_listeners(configs: Mapping[str, str]) -> Sequence[str]:
    protocols = dict(
        pair.split(":", 1) for pair in _list(configs.get("listener.security.protocol.map", ""), ",") if ":" in pair
    )
    names = _LISTENERS.findall(configs.get("listeners", ""))
    return [name for name in names if protocols.get(name, name).startswith("SASL_")]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _topic(text: str) -> str:
    """`name:partitions:replicas[:cleanup.policy]` as `--topic` takes it."""
    name, *rest = text.split(":")
    if not name or len(rest) > 3 or not all(part.isdecimal() for part in rest[:2]):
        raise EnvironmentRefused(f"KAFKA_CREATE_TOPICS: {text}: expected name:partitions:replicas[:cleanup.policy]")
    if len(rest) > 1 and rest[1] != "1":
        raise EnvironmentRefused(f"KAFKA_CREATE_TOPICS: {text}: one container is one node, so there is one replica")
    policy = f":cleanup.policy={rest[2]}" if len(rest) == 3 else ""
    return f"{name}:{rest[0] if rest else 1}{policy}"


def _log_level(text: str | None) -> str | None:
    if not text:
        return None
    if text.lower() not in _LEVELS:
        raise EnvironmentRefused(f"KAFKA_LOG4J_ROOT_LOGLEVEL: {text} is not one of {', '.join(_LEVELS).upper()}")
    return _LEVELS[text.lower()]


def _list(text: str, separators: str) -> list[str]:
    return [part.strip() for part in re.split(f"[{separators}]", text) if part.strip()]
