"""DescribeConfigs (key 32), AlterConfigs (key 33), IncrementalAlterConfigs (key 44), ListConfigResources (key 74).

DescribeConfigs versions 1 to 4: sources and synonyms from v1 on, types and documentation from v3 (KIP-569).
AlterConfigs versions 0 to 2 replaces all settings of a resource. IncrementalAlterConfigs versions 0 and 1 changes
single keys (KIP-339). ListConfigResources version 0 lists client-metrics subscriptions, v1 any kind (KIP-1142).

Resources: topics, brokers (an empty name is the cluster-wide default), broker loggers, client metrics, groups. Where
real Kafka leaves AlterConfigs without an answer, for a resource named twice, each gets the INVALID_REQUEST that
IncrementalAlterConfigs gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.api.lookups import check_leads
from odradek.broker.config.broker_config import ConfigSource
from odradek.broker.config.changes import Assignment, Change, check_change
from odradek.broker.config.definition import ConfigKey, ConfigType
from odradek.broker.config.entries import (
    ConfigEntry,
    broker_entries,
    client_metrics_entries,
    cluster_default_entries,
    group_entries,
    selected,
    topic_entries,
)
from odradek.broker.config.listeners import address_text
from odradek.broker.controller import config_control
from odradek.broker.metadata.image import ResourceType, check_topic_name
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, Whole, handles
from odradek.broker.security.acl import CLUSTER_NAME, REFUSAL_TEXTS, REFUSALS, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError, as_value, code_and_text
from odradek.protocol.generated.messages import alter_configs as alter
from odradek.protocol.generated.messages import incremental_alter_configs as incremental
from odradek.protocol.generated.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from odradek.protocol.generated.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Endpoint, Node


# Kafka's text for INVALID_REQUEST where it has nothing better to say.
_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)
_ALTERED = (ResourceType.TOPIC, ResourceType.BROKER, ResourceType.CLIENT_METRICS, ResourceType.GROUP)
_DESCRIBED = frozenset(kind for kind in ResourceType if kind is not ResourceType.UNKNOWN)
_GUARDED_BY: Mapping[int, Resource] = {ResourceType.TOPIC: Resource.TOPIC, ResourceType.GROUP: Resource.GROUP}
"""Kinds that have rights of their own."""
_TWICE = "Each resource must appear at most once."
_Outcome = tuple[ErrorCode, str | None]


def _needing(operation: Operation) -> ByItem:
    return ByItem((operation, Resource.CLUSTER), (operation, Resource.TOPIC), (operation, Resource.GROUP))


@handles(
    DescribeConfigsRequest,
    access=_needing(Operation.DESCRIBE_CONFIGS),
    in_parts=True,
    large_answers_from=0,
)
def describe_configs(ctx: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """The configs of each resource, with where they come from."""
    release = ctx.release
    described = _DESCRIBED - release.unknown_resources
    if any(resource.resource_type not in described for resource in request.resources):
        raise KafkaError(ErrorCode.INVALID_REQUEST, _MALFORMED)
    denied = [_denied(ctx, Operation.DESCRIBE_CONFIGS, r.resource_type, r.resource_name) for r in request.resources]
    described_once: dict[tuple[int, str, tuple[str, ...] | None], DescribeConfigsResult] = {}
    results = []
    for resource, kind in zip(request.resources, denied, strict=True):
        if kind is None:
            keys = resource.configuration_keys
            asked = (resource.resource_type, resource.resource_name, None if keys is None else tuple(keys))
            known = described_once.get(asked)
            if known is None:
                known = described_once[asked] = _describe(ctx, resource, request)
            results.append(known)
    return DescribeConfigsResponse(
        results=results
        + [
            DescribeConfigsResult(REFUSALS[kind], REFUSAL_TEXTS[kind], resource.resource_type, resource.resource_name)
            for resource, kind in zip(request.resources, denied, strict=True)
            if kind is not None
        ]
    )


def _denied(ctx: RequestContext, operation: Operation, kind: int, name: str) -> Resource | None:
    """The error for a missing right; None if the client may do this. Brokers, loggers and subscriptions belong to the
    cluster.
    """
    guarding, name = _GUARDED_BY.get(kind, Resource.CLUSTER), name if kind in _GUARDED_BY else CLUSTER_NAME
    return None if ctx.allows(operation, guarding, name) else guarding


def _describe(
    ctx: RequestContext, resource: DescribeConfigsResource, request: DescribeConfigsRequest
) -> DescribeConfigsResult:
    try:
        entries = _entries(ctx, resource.resource_type, resource.resource_name)
    except KafkaError as error:
        return DescribeConfigsResult(error.code, error.message or "", resource.resource_type, resource.resource_name)
    chosen = selected(entries, resource.configuration_keys)
    is_logger = resource.resource_type == ResourceType.BROKER_LOGGER
    return DescribeConfigsResult(
        ErrorCode.NONE,
        "",
        resource.resource_type,
        resource.resource_name,
        [_shown(entry, request, is_logger) for entry in chosen],
    )


def _shown(entry: ConfigEntry, request: DescribeConfigsRequest, is_logger: bool) -> DescribeConfigsResourceResult:
    documentation = entry.key.documentation if request.include_documentation else None
    return DescribeConfigsResourceResult(
        entry.name,
        entry.value,
        entry.read_only,
        False,  # in version 0, whether it is the default: no release says so
        entry.source,
        entry.is_sensitive,
        [DescribeConfigsSynonym(*synonym) for synonym in entry.synonyms] if request.include_synonyms else [],
        entry.key.type,
        "" if is_logger else documentation,
    )


def _entries(ctx: RequestContext, kind: int, name: str) -> list[ConfigEntry]:
    """All configs of a resource; KafkaError with Kafka's code and text if there is none."""
    services = ctx.services
    config = services.config.seen_by(ctx.release)
    node_id = ctx.node.id
    match kind:
        case ResourceType.TOPIC:
            check_topic_name(name)
            if name not in services.image.topics:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return topic_entries(config, services.image.configs_of(ResourceType.TOPIC, name), node_id)
        case ResourceType.BROKER:
            if name == "":
                return cluster_default_entries(config)
            _check_node(name, node_id, "Unexpected broker id, expected {} or empty string, but received {}")
            return broker_entries(
                config, node_id, own_configs(ctx.node, config.static_of(node_id), services.quorum.size)
            )
        case ResourceType.BROKER_LOGGER:
            if name == "":
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_node(name, node_id, "Unexpected broker id, expected {} but received {}")
            return [
                ConfigEntry(
                    logger, level, ConfigSource.DYNAMIC_BROKER_LOGGER, ConfigKey(logger, ConfigType.UNKNOWN, None)
                )
                for logger, level in services.log_levels().levels(node_id).items()
            ]
        case ResourceType.CLIENT_METRICS:
            if name == "":
                text = "Client metrics subscription name must not be empty"
                raise KafkaError(ErrorCode.INVALID_REQUEST, text)
            refused = ctx.release.text("client metrics", "")
            if refused:
                raise KafkaError(ErrorCode.INVALID_REQUEST, refused)
            return client_metrics_entries(services.image.configs_of(kind, name))
        case ResourceType.GROUP:
            if name == "":
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return group_entries(config, services.image.configs_of(kind, name), node_id)
        case _:
            raise AssertionError(f"resource type {kind}")


def _check_node(name: str, node_id: int, wrong: str) -> None:
    try:
        asked = int(name)
    except ValueError:
        text = f"Broker id must be an integer, but it is: {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, text) from None
    if asked != node_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, wrong.format(node_id, asked))


_Altering = alter.AlterConfigsRequest | incremental.IncrementalAlterConfigsRequest


@handles(alter.AlterConfigsRequest, access=_needing(Operation.ALTER_CONFIGS))
def alter_configs(ctx: RequestContext, request: alter.AlterConfigsRequest) -> Any:
    """Replace all settings of each resource by the given ones."""
    return _altered(ctx, request, _apply)


@handles(incremental.IncrementalAlterConfigsRequest, access=_needing(Operation.ALTER_CONFIGS))
def incremental_alter_configs(ctx: RequestContext, request: incremental.IncrementalAlterConfigsRequest) -> Any:
    """Set, delete, append or subtract single keys of each resource."""
    return _altered(ctx, request, _apply)


def alter_configs_of_controller(ctx: RequestContext, request: _Altering) -> Any:
    """A controller's answer to both: it changes the configs of any broker, and single levels of its own loggers."""
    return _altered(ctx, request, _apply_on_controller)


def _altered(
    ctx: RequestContext,
    request: _Altering,
    apply: Callable[[RequestContext, Sequence[Change], bool], list[_Outcome]],
) -> Any:
    replaces = isinstance(request, alter.AlterConfigsRequest)
    messages: Any = alter if replaces else incremental
    response = alter.AlterConfigsResponse if replaces else incremental.IncrementalAlterConfigsResponse
    changes = [
        Change(
            resource.resource_type,
            resource.resource_name,
            [
                Assignment(config.name, config.value)
                if isinstance(config, alter.AlterableConfig)
                else Assignment(config.name, config.value, config.config_operation)
                for config in resource.configs
            ],
            replaces=replaces,
        )
        for resource in request.resources
    ]
    outcomes = apply(ctx, changes, request.validate_only)
    return response(
        responses=[
            messages.AlterConfigsResourceResponse(*outcome, change.type, change.name)
            for change, outcome in zip(changes, outcomes, strict=True)
        ]
    )


def _apply_on_controller(ctx: RequestContext, changes: Sequence[Change], validate_only: bool) -> list[_Outcome]:
    """The results of changes that a controller is asked for. All but those of its loggers need the active one."""
    counts = Counter((change.type, change.name) for change in changes)
    outcomes: dict[int, KafkaError | None] = {}
    for place, change in enumerate(changes):
        if change.type == ResourceType.BROKER_LOGGER:
            wrong = KafkaError(ErrorCode.INVALID_REQUEST, "Unexpected resource type BROKER_LOGGER.")
            outcomes[place] = wrong if change.replaces else _alter_loggers(ctx, change, validate_only)
    decided: list[int] = []
    for place, change in enumerate(changes):
        if counts[change.type, change.name] > 1:
            outcomes[place] = KafkaError(ErrorCode.INVALID_REQUEST, _TWICE)
        elif place not in outcomes:
            if change.type not in _ALTERED:
                outcomes[place] = KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unknown resource type {change.type}.")
                continue
            refused = _denied(ctx, Operation.ALTER_CONFIGS, change.type, change.name)
            if refused is not None:
                outcomes[place] = KafkaError(REFUSALS[refused], REFUSAL_TEXTS[refused])
            else:
                decided.append(place)
    try:
        check_leads(ctx)
        asked = [changes[place] for place in decided]
        errors = ctx.services.controller.ask(config_control.alter_configs, asked, None, validate_only=validate_only)
        outcomes.update(zip(decided, errors, strict=True))
    except KafkaError as error:
        outcomes.update(dict.fromkeys(decided, as_value(error)))
    return [code_and_text(outcomes[place]) for place in range(len(changes))]


def _apply(ctx: RequestContext, changes: Sequence[Change], validate_only: bool) -> list[_Outcome]:
    """The results of the changes. The controller decides about all but loggers, which are the node's own."""
    counts = Counter((change.type, change.name) for change in changes)
    outcomes: dict[int, KafkaError | None] = {}
    for_controller: list[int] = []
    for place, change in enumerate(changes):
        if counts[change.type, change.name] > 1:
            outcomes[place] = KafkaError(ErrorCode.INVALID_REQUEST, _TWICE)
        elif change.type == ResourceType.BROKER_LOGGER and not change.replaces:
            outcomes[place] = _alter_loggers(ctx, change, validate_only)
        else:
            for_controller.append(place)
    denied = {place: _denied_change(ctx, changes[place]) for place in for_controller}
    for_controller = [place for place in for_controller if denied[place] is None]
    asked = [changes[place] for place in for_controller]
    errors = ctx.services.controller.ask(config_control.alter_configs, asked, ctx.node.id, validate_only=validate_only)
    outcomes.update(zip(for_controller, errors, strict=True))
    outcomes.update({place: error for place, error in denied.items() if error is not None})
    return [code_and_text(outcomes[place]) for place in range(len(changes))]


def _denied_change(ctx: RequestContext, change: Change) -> KafkaError | None:
    """Why the client may not make a change; None if it may, or if Kafka looks for another fault first."""
    if change.type not in _ALTERED:
        return None
    kind = _denied(ctx, Operation.ALTER_CONFIGS, change.type, change.name)
    if kind is None:
        return None
    if change.type == ResourceType.BROKER:
        # The broker that is asked checks a change of brokers before the controller asks for rights.
        (error,) = ctx.services.controller.ask(config_control.alter_configs, [change], ctx.node.id, validate_only=True)
        if error is not None and error.code is not ErrorCode.INVALID_CONFIG:  # that is the controller's own check
            return error
    try:
        check_change(change, fails_at_nulls=ctx.release.fails_at_null_configs)
    except KafkaError as error:
        return as_value(error)
    if change.type == ResourceType.BROKER and not ctx.release.tells_refused_brokers:
        return KafkaError(REFUSALS[kind])
    return KafkaError(REFUSALS[kind], REFUSAL_TEXTS[kind])


def _alter_loggers(ctx: RequestContext, change: Change, validate_only: bool) -> KafkaError | None:
    if not ctx.allows(Operation.ALTER_CONFIGS, Resource.CLUSTER, CLUSTER_NAME):
        return KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    try:
        ctx.services.log_levels().apply(change, ctx.node.id, validate_only=validate_only)
    except KafkaError as error:
        return as_value(error)
    return None


@handles(ListConfigResourcesRequest, access=Whole(Operation.DESCRIBE_CONFIGS))
def list_config_resources(ctx: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    """The names of configured things, of the asked kinds; v0 and kinds not known answer as Kafka does."""
    services = ctx.services
    image = services.image
    nodes = [str(node.id) for node in services.up_nodes()]
    names = {
        ResourceType.GROUP: image.names_with_configs(ResourceType.GROUP),
        ResourceType.CLIENT_METRICS: image.names_with_configs(ResourceType.CLIENT_METRICS),
        ResourceType.BROKER_LOGGER: nodes,
        ResourceType.BROKER: nodes,
        ResourceType.TOPIC: list(image.topics),
    }
    if ctx.api_version == 0:
        asked = {int(ResourceType.CLIENT_METRICS)}
    else:
        asked = set(request.resource_types) or {int(kind) for kind in names}
    if not asked <= {int(kind) for kind in names}:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(name, kind) for kind, listed in names.items() if kind in asked for name in listed
        ]
    )


# -- The broker configs that a node has from its place in the cluster rather than from a setting.


_NOTHING: Mapping[str, str] = {}
_OF_THE_NODE = frozenset({"broker.id", "log.dirs", "node.id"})
_OF_EACH_NODE = _OF_THE_NODE | {"advertised.listeners", "broker.rack", "listeners", "process.roles"}


def own_configs(node: Node, given: Mapping[str, str] = _NOTHING, nodes: int = 1) -> dict[str, str]:
    """Names and values that DescribeConfigs shows as set at the start, as on a real KRaft node.

    `given`: what was set for the whole process. It shows as it is, but where it says something of several nodes.
    """
    endpoints = [each for each in node.endpoints.values() if not each.live]
    told = [each for each in endpoints if each.told and each.advertised is not None]
    configs = {
        "broker.id": str(node.id),
        "controller.listener.names": "CONTROLLER",
        "listeners": _listed([*endpoints, *node.controllers.values()]),
        "node.id": str(node.id),
        "process.roles": _roles(node),
    }
    if told:
        configs["advertised.listeners"] = ",".join(
            f"{each.listener.name}://{address_text(*each.address_for(None))}" for each in told
        )
    if node.rack is not None:
        configs["broker.rack"] = node.rack
    if node.log_dirs:
        configs["log.dirs"] = ",".join(map(str, node.log_dirs))
    same = given.keys() - (_OF_THE_NODE if nodes == 1 else _OF_EACH_NODE)
    return {name: text for name, text in configs.items() if name not in same}


def _roles(node: Node) -> str:
    return ",".join(name for name, has in (("broker", node.is_broker), ("controller", node.is_controller)) if has)


def _listed(endpoints: Collection[Endpoint]) -> str:
    return ",".join(f"{each.listener.name}://{address_text(each.host, each.port)}" for each in endpoints)
