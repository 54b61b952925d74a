"""`kafka-topics` and `kafka-broker-api-versions`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from odradek.pipeline.cluster_client import ClusterClient
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.java_maps import hash_of_text, java_order, slots_of_map
from odradek.protocol.uuids import uuid_to_text
from odradek.tools.options import Options, Refused, ToolError, action, check, connect, security
from odradek.wire_client import ApiNotServed, WireClient, WireError

_TIMEOUT_MS = 30_000
_TOPIC = 2
_DEFAULT = 5
CLIENT_APIS = {key for key, spec in API_BY_KEY.items() if spec.on_brokers and not spec.cluster_action}
_COLLISION = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


def topics(options: Options) -> int:
    """`kafka-topics`."""
    chosen = action(options, "list", "describe", "create", "alter", "delete")
    with connect(options, security(options)) as client:
        try:
            if chosen == "create":
                _create(client, options)
            elif chosen == "list":
                print("\n".join(topic.name for topic in _matching(client, options)))
            elif found := _matching(client, options, needed="if-exists" not in options):
                {"describe": _describe, "alter": _alter, "delete": _delete}[chosen](client, options, found)
        except Refused as error:
            print(f"Error while executing topic command : {error}")
            return 1
    return 0


def _matching(client: ClusterClient, options: Options, *, needed: bool = False) -> list[Any]:
    """The topics that `--topic` is a pattern of, in the order of their names."""
    pattern = options.one("topic")
    allowed = None if pattern is None else re.compile(pattern.strip("\"'").replace(",", "|"))
    found = [
        topic
        for topic in client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False)).topics
        if (allowed is None or allowed.fullmatch(topic.name))
        and not (topic.is_internal and "exclude-internal" in options)
    ]
    if needed and pattern is not None and not found:
        raise Refused(f"Topic '{pattern}' does not exist as expected")
    return sorted(found, key=lambda topic: str(topic.name))


def _create(client: ClusterClient, options: Options) -> None:
    name = options.one("topic")
    if name is None:
        raise ToolError('Missing required argument "[topic]"')
    partitions, factor = options.number("partitions"), options.number("replication-factor")
    configs = [CreatableTopicConfig(key, value) for key, value in options.pairs("config").items()]
    if "." in name or "_" in name:
        print(_COLLISION)
    asked = CreatableTopic(
        name, -1 if partitions is None else partitions, -1 if factor is None else factor, configs=configs
    )
    [topic] = client.ask(CreateTopicsRequest([asked], _TIMEOUT_MS)).topics
    if topic.error_code == ErrorCode.TOPIC_ALREADY_EXISTS and "if-not-exists" in options:
        return
    check(topic.error_code, topic.error_message)
    print(f"Created topic {name}.")


def _alter(client: ClusterClient, options: Options, found: list[Any]) -> None:
    count = options.number("partitions")
    if count is None:
        raise ToolError('Missing required argument "[partitions]"')
    asked = [CreatePartitionsTopic(topic.name, count, None) for topic in found]
    for topic in client.ask(CreatePartitionsRequest(asked, _TIMEOUT_MS)).results:
        check(topic.error_code, topic.error_message)


def _delete(client: ClusterClient, options: Options, found: list[Any]) -> None:
    if options.one("topic") is None:
        raise ToolError('Missing required argument "[topic]"')
    names = [topic.name for topic in found]
    request = DeleteTopicsRequest([DeleteTopicState(name) for name in names], names, _TIMEOUT_MS)
    for topic in client.ask(request).responses:
        check(topic.error_code, topic.error_message)


def _describe(client: ClusterClient, options: Options, found: list[Any]) -> None:
    asked = [DescribeConfigsResource(_TOPIC, topic.name, None) for topic in found]
    configs = {each.resource_name: each for each in client.ask(DescribeConfigsRequest(asked)).results}
    replicas = _eligible(client, found)
    for topic in found:
        check(topic.error_code, None)
        check(configs[topic.name].error_code, configs[topic.name].error_message)
        set_here = {each.name: each.value for each in configs[topic.name].configs if each.config_source != _DEFAULT}
        order = java_order(set_here, hash_of_text, slots_of_map(len(configs[topic.name].configs)))
        if "topics-with-overrides" in options and not set_here:
            continue
        lines = [
            _partition_line(
                topic.name, each, replicas.get((topic.name, each.partition_index), "Elr: N/A\tLastKnownElr: N/A")
            )
            for each in topic.partitions
            if _is_wanted(each, options)
        ]
        if options.given.keys() & {"under-replicated-partitions", "unavailable-partitions"}:
            print(*lines, sep="\n", end="\n" if lines else "")
            continue
        print(
            f"Topic: {topic.name}\tTopicId: {uuid_to_text(topic.topic_id)}\tPartitionCount: {len(topic.partitions)}\t"
            f"ReplicationFactor: {len(topic.partitions[0].replica_nodes)}\t"
            f"Configs: {','.join(f'{name}={set_here[name]}' for name in order)}"
        )
        if "topics-with-overrides" not in options:
            print(*lines, sep="\n")


def _is_wanted(partition: Any, options: Options) -> bool:
    if "unavailable-partitions" in options and partition.leader_id >= 0:
        return False
    short = len(partition.isr_nodes) < len(partition.replica_nodes)
    return short or "under-replicated-partitions" not in options


def _eligible(client: ClusterClient, found: list[Any]) -> dict[tuple[str, int], str]:
    """The eligible leaders of each partition, as text; nothing of a broker that does not tell them (before 3.8)."""
    texts: dict[tuple[str, int], str] = {}
    request = DescribeTopicPartitionsRequest([TopicRequest(topic.name) for topic in found])
    while True:
        try:
            answer = client.ask(request)
        except ApiNotServed:
            return {}
        for topic in answer.topics:
            for each in topic.partitions:
                eligible, known = each.eligible_leader_replicas or [], each.last_known_elr or []
                texts[topic.name, each.partition_index] = f"Elr: {_numbers(eligible)}\tLastKnownElr: {_numbers(known)}"
        if answer.next_cursor is None:
            return texts
        request.cursor = Cursor(answer.next_cursor.topic_name, answer.next_cursor.partition_index)


def _numbers(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes))


def _partition_line(topic: str, partition: Any, eligible: str) -> str:
    leader = partition.leader_id if partition.leader_id >= 0 else "none"
    return (
        f"\tTopic: {topic}\tPartition: {partition.partition_index}\tLeader: {leader}\t"
        f"Replicas: {_numbers(partition.replica_nodes)}\tIsr: {_numbers(partition.isr_nodes)}\t{eligible}"
    )


def broker_api_versions(options: Options) -> int:
    """`kafka-broker-api-versions`. It does not wait for a broker."""
    chosen = security(options)
    with connect(options, chosen, patience_s=0) as client:
        brokers = client.ask(MetadataRequest(topics=[])).brokers
    for broker in sorted(brokers, key=lambda broker: int(broker.node_id)):
        head = f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {broker.rack or 'null'} isFenced: false) -> "
        try:
            with WireClient(broker.host, broker.port, security=chosen) as node:
                served = node.request(ApiVersionsRequest("odradek-tools", "1")).api_keys
        except WireError as error:
            print(f"{head}ERROR: {error}")
            continue
        missing = CLIENT_APIS - {api.api_key for api in served}
        lines = {api.api_key: _api_line(api) for api in served}
        lines |= {key: f"{API_BY_KEY[key].name}({key}): UNSUPPORTED" for key in missing}
        print(head + "(\n" + ",\n".join("\t" + lines[key] for key in sorted(lines)) + "\n)")
    return 0


def _api_line(api: Any) -> str:
    lowest, highest = api.min_version, api.max_version
    served = str(lowest) if lowest == highest else f"{lowest} to {highest}"
    spec = API_BY_KEY.get(api.api_key)
    if spec is None:
        return f"UNKNOWN({api.api_key}): {served} [unusable: unknown]"
    usable = min(highest, spec.max_version)
    word = "unusable: node too " + ("new" if lowest > usable else "old")
    return f"{spec.name}({api.api_key}): {served} [" + (
        f"usable: {usable}]" if max(lowest, spec.min_version) <= usable else f"{word}]"
    )
