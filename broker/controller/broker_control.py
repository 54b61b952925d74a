"""Brokers and controllers: registration, fencing, controlled shutdown (KIP-631)."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.controller.feature_levels import CONTROLLERS_SINCE
from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import METADATA_VERSION, BrokerRegistration, Endpoint
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.broker_registration_change_record import BrokerRegistrationChangeRecord
from odradek.protocol.generated.metadata_records.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from odradek.protocol.generated.metadata_records.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from odradek.protocol.generated.metadata_records.unregister_broker_record import UnregisterBrokerRecord
from odradek.protocol.generated.metadata_records.unregister_controller_record import UnregisterControllerRecord
from odradek.protocol.message import MetadataRecord

_FENCED, _UNFENCED = 1, -1
_SHUTTING_DOWN = 1


def register_broker(
    state: MetadataState,
    node_id: int,
    incarnation: bytes,
    end_of_log: int,
    endpoints: Sequence[Endpoint],
    rack: str | None,
    directories: Sequence[bytes],
    *,
    crashed: bool = False,
) -> Decision[int]:
    """A broker has started; it is fenced until `unfence_brokers`. Replies its epoch: the end of the log.

    An `incarnation` that is registered already keeps its epoch and its state, and only has other endpoints. `crashed`:
    the incarnation before did not stop in order.
    """
    known = state.image.brokers.get(node_id)
    amended = known is not None and known.incarnation == incarnation
    epoch = known.epoch if known is not None and amended else end_of_log
    records: list[MetadataRecord] = []
    if known is not None and not amended and (crashed or known.is_active):
        records += _after_loss(state, frozenset({node_id}), crashed=crashed)
    records.append(
        RegisterBrokerRecord(
            broker_id=node_id,
            incarnation_id=incarnation,
            broker_epoch=epoch,
            end_points=[BrokerEndpoint(*endpoint) for endpoint in endpoints],
            features=[BrokerFeature(name, *levels) for name, levels in state.supported(node_id).items()],
            rack=rack,
            fenced=known.fenced if known is not None and amended else True,
            in_controlled_shutdown=known.in_controlled_shutdown if known is not None and amended else False,
            log_dirs=list(directories),
        )
    )
    return records, epoch


def register_controller(
    state: MetadataState, node_id: int, incarnation: bytes, endpoints: Sequence[Endpoint]
) -> Decision[None]:
    """A controller has started; no records before `metadata.version` 3.7-IV0."""
    if 0 < state.image.feature(METADATA_VERSION) < CONTROLLERS_SINCE:
        return [], None
    record = RegisterControllerRecord(
        node_id,
        incarnation,
        end_points=[ControllerEndpoint(*endpoint) for endpoint in endpoints],
        features=[ControllerFeature(name, *levels) for name, levels in state.supported(node_id).items()],
    )
    return [record], None


def unfence_brokers(state: MetadataState, node_ids: Sequence[int]) -> Decision[None]:
    """Brokers are up: they may lead partitions without a leader, and their replicas are in sync again."""
    fenced = [node for node in node_ids if _broker(state, node).fenced]
    records: list[MetadataRecord] = [_changed(state, node, fenced=_UNFENCED) for node in fenced]
    if fenced:
        records += _after_return(state, frozenset(fenced))
    return records, None


def fence_broker(state: MetadataState, node_id: int) -> Decision[None]:
    """A broker is gone: other replicas lead its partitions where they can."""
    if _broker(state, node_id).fenced:
        return [], None
    return [*_after_loss(state, frozenset({node_id})), _changed(state, node_id, fenced=_FENCED)], None


def unregister_broker(state: MetadataState, node_id: int) -> Decision[None]:
    """Forget a broker, up or not; BROKER_ID_NOT_REGISTERED. One that is up leads nothing any more."""
    epoch = _broker(state, node_id).epoch
    return [*_after_loss(state, frozenset({node_id})), UnregisterBrokerRecord(node_id, epoch)], None


def unregister_controller(state: MetadataState, controller: int) -> Decision[None]:
    """Forget a controller that is not the active one (KIP-1312)."""
    if controller == state.controller_id:
        text = "Controller cannot unregister itself while it is active."
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    if controller not in state.image.controllers:
        text = f"Controller ID {controller} is not currently registered."
        raise KafkaError(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)
    return [UnregisterControllerRecord(controller)], None


def shut_down_brokers(state: MetadataState, node_ids: Sequence[int]) -> Decision[None]:
    """Brokers stop in order, all of them at once: they lead nothing any more and are fenced."""
    registered = [node for node in node_ids if node in state.image.brokers]
    active = [node for node in registered if _broker(state, node).is_active]
    records: list[MetadataRecord] = [_changed(state, node, shutting_down=_SHUTTING_DOWN) for node in active]
    records += _after_loss(state, frozenset(active))
    records += (_changed(state, node, fenced=_FENCED) for node in active)
    return records, None


# -- What becomes of the partitions: imported where there are some, as a start would pay for it.


def _after_loss(state: MetadataState, nodes: frozenset[int], *, crashed: bool = False) -> Sequence[MetadataRecord]:
    if not state.image.topics:
        return ()
    from odradek.broker.controller.partition_control import after_loss

    return after_loss(state, nodes, crashed=crashed)


def _after_return(state: MetadataState, nodes: frozenset[int]) -> Sequence[MetadataRecord]:
    if not state.image.topics:
        return ()
    from odradek.broker.controller.partition_control import after_return

    return after_return(state, nodes)


def _broker(state: MetadataState, node_id: int) -> BrokerRegistration:
    broker = state.image.brokers.get(node_id)
    if broker is None:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
    return broker


def _changed(
    state: MetadataState, node_id: int, *, fenced: int = 0, shutting_down: int = 0
) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(node_id, _broker(state, node_id).epoch, fenced, shutting_down)
