"""UnregisterBroker (64), UnregisterController (94), AddRaftVoter (80), RemoveRaftVoter (81): who is in the cluster.

UnregisterBroker version 0 (KIP-500). A broker that is up may be unregistered, too: it goes on answering, but it is in
no list, leads nothing and gets no partitions until it starts again. AddRaftVoter 0 and 1, RemoveRaftVoter 0 (KIP-853):
the controllers of this process stop voting and vote again. No other would answer.
"""

from __future__ import annotations

from odradek.broker.controller import broker_control
from odradek.broker.controller.membership import CONTROLLER_LISTENER
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import CLUSTER_REFUSED, Whole, handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from odradek.protocol.generated.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.uuids import uuid_to_text


@handles(UnregisterBrokerRequest, access=Whole(Operation.ALTER))
def unregister_broker(ctx: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    """Take a broker out of the cluster."""
    ctx.services.controller.ask(broker_control.unregister_broker, request.broker_id)
    return UnregisterBrokerResponse()


@handles(UnregisterControllerRequest, access=Whole(Operation.ALTER))
def unregister_controller(ctx: RequestContext, request: UnregisterControllerRequest) -> UnregisterControllerResponse:
    """Take a controller out of the list of those that are registered (KIP-1312)."""
    ctx.services.controller.ask(broker_control.unregister_controller, request.controller_id)
    return UnregisterControllerResponse(error_message=None)


@handles(AddRaftVoterRequest, access=Whole(Operation.ALTER, message=CLUSTER_REFUSED))
def add_raft_voter(ctx: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    """Let a controller of the process that observes vote. No other that could be added would answer."""
    voter = _checked_voter(ctx, "Add", request.cluster_id, request.voter_id, request.voter_directory_id)
    _check_listeners(ctx, request.listeners)
    _check_reconfiguration(ctx, "adding")
    quorum = ctx.services.quorum
    if any(request.voter_id == each.id for each in quorum.voters):
        text = f"The voter id for {voter} is already part of the set of voters {_voters(ctx)}."
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, text)
    controller = next((each for each in quorum.controllers if each.id == request.voter_id and each.runs), None)
    if controller is None:
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"New voter {voter} is not ready to receive requests")
    if controller.metadata_directory != request.voter_directory_id:
        text = f"Aborted add voter operation for {voter} since it is lagging behind"
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)
    quorum.add(controller)
    return AddRaftVoterResponse(error_message=None)


@handles(RemoveRaftVoterRequest, access=Whole(Operation.ALTER, message=CLUSTER_REFUSED))
def remove_raft_voter(ctx: RequestContext, request: RemoveRaftVoterRequest) -> RemoveRaftVoterResponse:
    """Let a controller observe. The last voter stays."""
    shown = _checked_voter(ctx, "Remove", request.cluster_id, request.voter_id, request.voter_directory_id)
    _check_reconfiguration(ctx, "removing")
    quorum = ctx.services.quorum
    key = request.voter_id, request.voter_directory_id
    voter = next((each for each in quorum.voters if (each.id, each.metadata_directory) == key), None)
    if voter is None or len(quorum.voters) == 1:
        raise KafkaError(
            ErrorCode.VOTER_NOT_FOUND, f"Cannot remove voter {shown} from the set of voters {_voters(ctx)}"
        )
    if not any(other.controls for other in quorum.voters if other is not voter):
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"{shown} is the only voter that is up")
    quorum.remove(voter)
    return RemoveRaftVoterResponse(error_message=None)


def _checked_voter(ctx: RequestContext, what: str, cluster_id: str | None, voter_id: int, directory: bytes) -> str:
    """The voter as Kafka's texts show it."""
    ours = ctx.services.cluster_id
    if cluster_id is not None and cluster_id != ours:
        text = f'The given id "{cluster_id}" doesn\'t match the cluster id "{ours}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    if voter_id < 0 or directory == ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{what} voter request didn't include a valid voter")
    return _shown(voter_id, directory)


def _check_listeners(ctx: RequestContext, listeners: list[Listener]) -> None:
    services = ctx.services
    controllers = services.quorum.voters[0].controllers
    default = next(iter(controllers), CONTROLLER_LISTENER)
    if not any(listener.name.upper() == default.upper() for listener in listeners):
        by_name = {each.name.upper(): each for each in listeners}
        given = ", ".join(
            f"ListenerName({name})={by_name[name].host}/<unresolved>:{by_name[name].port}"
            for name in java_order(by_name, hash_of_text)
        )
        text = (
            f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{given}}})) for the default "
            f"listener ListenerName({default})"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)


def _check_reconfiguration(ctx: RequestContext, what: str) -> None:
    level = ctx.services.controller.kraft_version
    if level < 1:
        text = f"Cluster doesn't support {what} voter because the kraft.version feature is {level}"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


def _voters(ctx: RequestContext) -> str:
    voters = ctx.services.quorum.voters
    return f"[{', '.join(_shown(each.id, each.metadata_directory) for each in voters)}]"


def _shown(voter_id: int, directory: bytes) -> str:
    return f"ReplicaKey(id={voter_id}, directoryId={uuid_to_text(directory)})"
