"""`kafka-configs`: of topics, brokers and SCRAM users."""

from __future__ import annotations

import re
import sys
from secrets import token_bytes
from typing import Any

from odradek.broker.config.broker_config import ConfigSource
from odradek.broker.metadata.image import ResourceType
from odradek.broker.security.sasl.credentials import SCRAM_HASHES, salted_password, scram_record
from odradek.container.storage import keep
from odradek.pipeline.cluster_client import ClusterClient
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.tools.options import Options, Refused, ToolError, check, connect, security

_SET, _DELETE = 0, 1
_ITERATIONS = 4096
_KINDS = {
    "topics": (ResourceType.TOPIC, ConfigSource.DYNAMIC_TOPIC),
    "brokers": (ResourceType.BROKER, ConfigSource.DYNAMIC_BROKER),
}
"""The kind of a resource, and where a config of its own comes from."""
_HASHES = {kind.mechanism: kind for kind in SCRAM_HASHES.values()}
_PAIR = re.compile(r"\s*([^=,]+)=(\[[^\]]*\]|[^,]*)(?:,|$)")


def configs(options: Options) -> int:
    """`kafka-configs`."""
    if ("alter" in options) == ("describe" in options):
        raise ToolError("Command must include exactly one action: --describe, --alter")
    kind, name = _entity(options)
    if options.one("zookeeper") is not None:
        return _keep_users(options, kind, name)
    try:
        with connect(options, security(options)) as client:
            if kind == "users":
                _users(client, options, name)
            elif "alter" in options:
                _alter(client, options, kind, name)
            else:
                _describe(client, options, kind, name)
    except Refused as error:
        print(f"Error while executing config command: {error}", file=sys.stderr)
        return 1
    return 0


def _entity(options: Options) -> tuple[str, str | None]:
    """The kind and the name of what is meant; the name of all brokers together is empty, None is each."""
    for kind in ("topic", "broker", "user"):
        if (name := options.one(kind)) is not None:
            return f"{kind}s", name
    if "broker-defaults" in options:
        return "brokers", ""
    kind = options.one("entity-type") or ""
    if not kind:
        raise ToolError("At least one entity type must be specified")
    if kind not in (*_KINDS, "users"):
        raise ToolError(f"entity-type {kind}: this kafka-configs is odradek's and knows topics, brokers and users")
    name = "" if "entity-default" in options else options.one("entity-name")
    if name is None and "alter" in options:
        raise ToolError(f"An entity name must be specified with --alter of {kind}")
    return kind, name


def _added(options: Options) -> dict[str, str]:
    """`a=1,b=[2,3]` as names and values."""
    found = {}
    for text in options.all("add-config"):
        pairs = list(_PAIR.finditer(text))
        if "".join(pair[0] for pair in pairs) != text or not pairs:
            raise ToolError(
                f"Invalid entity config: all configs to be added must be in the format \"key=val\", not '{text}'"
            )
        for pair in pairs:
            value = pair[2].strip()
            found[pair[1].strip()] = value[1:-1] if value.startswith("[") else value
    return found


def _deleted(options: Options) -> list[str]:
    return [name.strip() for text in options.all("delete-config") for name in text.split(",") if name.strip()]


def _alter(client: ClusterClient, options: Options, kind: str, name: str | None) -> None:
    changes = [AlterableConfig(key, _SET, value) for key, value in _added(options).items()]
    changes += [AlterableConfig(key, _DELETE, None) for key in _deleted(options)]
    if not changes:
        raise ToolError("At least one of --add-config or --delete-config must be specified with --alter")
    asked = AlterConfigsResource(_KINDS[kind][0], name or "", changes)
    [answer] = client.ask(IncrementalAlterConfigsRequest([asked])).responses
    check(answer.error_code, answer.error_message)
    whole = "default config for brokers in the cluster" if not name else f"config for {kind[:-1]} {name}"
    print(f"Completed updating {whole}.")


def _describe(client: ClusterClient, options: Options, kind: str, name: str | None) -> None:
    metadata = client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    known = (
        [topic.name for topic in metadata.topics]
        if kind == "topics"
        else [str(each.node_id) for each in metadata.brokers]
    )
    if name and name not in known:
        print(f"The {kind[:-1]} '{name}' doesn't exist and doesn't have dynamic config.")
        return
    word = "All" if "all" in options else "Dynamic"
    number, source = _KINDS[kind]
    for each in sorted(known) if name is None else [name]:
        head = f"{word} configs for {kind[:-1]} {each} are:"
        if not each:
            source = ConfigSource.DYNAMIC_DEFAULT_BROKER
            head = f"{word.replace('Dynamic', 'Default')} configs for {kind} in the cluster are:"
        asked = DescribeConfigsResource(number, each, None)
        [answer] = client.ask(DescribeConfigsRequest([asked], include_synonyms=True)).results
        check(answer.error_code, answer.error_message)
        print(head)
        for entry in sorted(answer.configs, key=lambda entry: str(entry.name)):
            if "all" in options or entry.config_source == source:
                synonyms = ", ".join(
                    f"{ConfigSource(each.source).name}_CONFIG:{_pair(each)}" for each in entry.synonyms
                )
                print(f"  {_pair(entry)} sensitive={str(entry.is_sensitive).lower()} synonyms={{{synonyms}}}")


def _pair(entry: Any) -> str:
    return f"{entry.name}={'null' if entry.value is None else entry.value}"


def _users(client: ClusterClient, options: Options, name: str | None) -> None:
    if "describe" in options:
        asked = None if name is None else [UserName(name)]
        for user in client.ask(DescribeUserScramCredentialsRequest(asked)).results:
            if user.error_code != ErrorCode.RESOURCE_NOT_FOUND:
                check(user.error_code, user.error_message)
                shown = ", ".join(
                    f"{SCRAM_HASHES[each.mechanism].mechanism}=iterations={each.iterations}"
                    for each in user.credential_infos
                )
                print(f"SCRAM credential configs for user-principal '{user.user}' are {shown}")
        return
    added = [_credential(name or "", mechanism, value) for mechanism, value in _scram(options).items()]
    deleted = [ScramCredentialDeletion(name or "", _HASHES[mechanism].number) for mechanism in _deleted(options)]
    for user in client.ask(AlterUserScramCredentialsRequest(deleted, added)).results:
        check(user.error_code, user.error_message)
    print(f"Completed updating config for user {name}.")


def _scram(options: Options) -> dict[str, str]:
    """Mechanism to `iterations=N,password=P`; ToolError for what else is added or deleted."""
    added = _added(options)
    for name in [*added, *_deleted(options)]:
        if name not in _HASHES:
            raise ToolError(f"{name}: of users this kafka-configs is odradek's and knows {', '.join(_HASHES)}")
    return added


def _credential(name: str, mechanism: str, value: str) -> ScramCredentialUpsertion:
    parts = {key.strip(): text for key, _, text in (pair.partition("=") for pair in value.split(","))}
    if "password" not in parts or set(parts) - {"password", "iterations"}:
        raise ToolError(f"{mechanism}: expected [iterations=N,password=PASSWORD]")
    iterations, salt = int(parts.get("iterations", _ITERATIONS)), token_bytes(16)
    kind = _HASHES[mechanism]
    salted = salted_password(parts["password"], salt, iterations, kind)
    return ScramCredentialUpsertion(name, kind.number, iterations, salt, salted)


def _keep_users(options: Options, kind: str, name: str | None) -> int:
    """A user in ZooKeeper is created before the broker starts: it is kept for the start of the container's broker."""
    if kind != "users" or "alter" not in options:
        raise ToolError("zookeeper is not a recognized option: give --bootstrap-server")
    texts = [f"{mechanism}=[name={name},{value}]" for mechanism, value in _scram(options).items()]
    for text in texts:
        scram_record(text)
    keep(None, texts)
    print(f"Completed updating config for entity: user-principal '{name}'.")
    return 0
