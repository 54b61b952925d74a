"""What a listener of the controllers serves: what tools ask with `--bootstrap-controller` (KIP-919).

Most of it is answered as by a broker, which forwards it to the active controller; another controller refuses it with
NOT_CONTROLLER. What brokers and controllers ask each other (Fetch, Vote, BrokerRegistration, ...) is not served: all of
them are in one process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

from odradek.broker.api.api_versions import told_versions
from odradek.broker.api.cluster import describe_controllers, describe_quorum_of_controller
from odradek.broker.api.configs import alter_configs_of_controller
from odradek.broker.api.generated.index import INDEX
from odradek.broker.api.lookups import NOT_THIS_ONE, THE_LEADER, check_leads
from odradek.broker.controller.feature_levels import UNSTABLE_APIS_ENABLE
from odradek.broker.metadata.node import Node
from odradek.broker.releases.release import Release
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import HandlerRegistry, Serve
from odradek.broker.requests.parked_request import EncodedBody
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse


def _advertised(ctx: RequestContext) -> dict[int, tuple[int, int]]:
    return controller_handlers_of(ctx.release).advertised()


def _api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse | EncodedBody:
    # Kafka's controllers have one switch for unstable APIs and features.
    return told_versions(ctx, request, "ApiVersions of controllers", _advertised, UNSTABLE_APIS_ENABLE)


def _by_the_leader(
    serve: Serve, needs: Callable[[RequestContext], Any] = lambda ctx: True, why: str | None = THE_LEADER
) -> Serve:
    """A handler of the active controller; NOT_CONTROLLER, with `why`, from another one.

    `needs`: whether the cluster has what the handler works with; without it each controller answers that.
    """

    @wraps(serve)
    def served(ctx: RequestContext, request: Any) -> Any:
        if needs(ctx):
            check_leads(ctx, why)
        return serve(ctx, request)

    return served


def _of_quorum(serve: Serve) -> Serve:
    """A handler of the quorum's leader; NOT_LEADER_OR_FOLLOWER from another controller."""

    @wraps(serve)
    def served(ctx: RequestContext, request: Any) -> Any:
        if ctx.node.id != ctx.services.controller.controller_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "")
        return serve(ctx, request)

    return served


_with_acls = partial(_by_the_leader, needs=lambda ctx: ctx.authorizer is not None)
_with_tokens = partial(_by_the_leader, needs=lambda ctx: ctx.services.config.get("delegation.token.secret.key"))
_without_words = partial(_by_the_leader, why=None)
_in_other_words = partial(_by_the_leader, why=NOT_THIS_ONE)


def _as_it_is(serve: Serve) -> Serve:
    return serve


def _instead(own: Serve) -> Callable[[Serve], Serve]:
    return lambda serve: own


def _unknown(ctx: RequestContext, request: Any) -> Any:
    """Kafka's controllers list the API and have nothing to answer."""
    raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)


_MADE: dict[int, Callable[[Serve], Serve]] = {
    17: _as_it_is,  # SaslHandshake
    18: _instead(_api_versions),
    19: _by_the_leader,  # CreateTopics
    20: _without_words,  # DeleteTopics
    29: _as_it_is,  # DescribeAcls
    30: _with_acls,  # CreateAcls
    31: _with_acls,  # DeleteAcls
    32: _as_it_is,  # DescribeConfigs
    33: _instead(alter_configs_of_controller),  # AlterConfigs
    36: _as_it_is,  # SaslAuthenticate
    37: _by_the_leader,  # CreatePartitions
    38: _with_tokens,  # CreateDelegationToken
    39: _with_tokens,  # RenewDelegationToken
    40: _with_tokens,  # ExpireDelegationToken
    41: _instead(_unknown),  # DescribeDelegationToken
    43: _by_the_leader,  # ElectLeaders
    44: _instead(alter_configs_of_controller),  # IncrementalAlterConfigs
    45: _by_the_leader,  # AlterPartitionReassignments
    46: _as_it_is,  # ListPartitionReassignments
    49: _in_other_words,  # AlterClientQuotas
    50: _instead(_unknown),  # DescribeUserScramCredentials
    51: _by_the_leader,  # AlterUserScramCredentials
    55: _instead(describe_quorum_of_controller),
    57: _by_the_leader,  # UpdateFeatures
    60: _instead(describe_controllers),
    64: _by_the_leader,  # UnregisterBroker
    80: _of_quorum,  # AddRaftVoter
    81: _of_quorum,  # RemoveRaftVoter
    94: _by_the_leader,  # UnregisterController
}
"""API key -> what makes the controller's handler of the broker's."""


_OF_CONTROLLERS = {key: row for key, row in INDEX.items() if key in _MADE}
_ALL_OF_CONTROLLERS = HandlerRegistry("odradek.broker.api", _OF_CONTROLLERS, _MADE)
SERVED_BY_CONTROLLERS = _ALL_OF_CONTROLLERS.of({key: (spec.min_version, 1 << 15) for key, spec in API_BY_KEY.items()})
"""Those of the default release."""


def handlers_of_controller(node: Node) -> HandlerRegistry:
    """The handlers of the APIs that a node serves as a controller."""
    return controller_handlers_of(node.release)


@cache
def controller_handlers_of(release: Release) -> HandlerRegistry:
    """The handlers of the controllers of a release."""
    if release.apis is None:
        return SERVED_BY_CONTROLLERS
    return (_ALL_OF_CONTROLLERS if release.has_removed_versions else SERVED_BY_CONTROLLERS).of(release.apis)
