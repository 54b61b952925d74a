"""Brokers and controllers: registration, fencing, controlled shutdown (KIP-631)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from odradek.broker.controller.commands import (
    FenceBroker,
    RegisterBroker,
    RegisterController,
    ShutDownBrokers,
    UnfenceBrokers,
    UnregisterBroker,
    UnregisterController,
)
from odradek.broker.controller.feature_levels import CONTROLLERS_SINCE
from odradek.broker.metadata.image import METADATA_VERSION, MetadataImage
from odradek.broker.metadata.registrations import BrokerRegistration
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

if TYPE_CHECKING:
    from odradek.broker.controller.partition_control import PartitionControl

_FENCED, _UNFENCED = 1, -1
_SHUTTING_DOWN = 1


class BrokerControl:
    """Decides about nodes. Reads the image; changes nothing.

    `partitions()` decides what becomes of theirs. `supported`: node id -> the lowest and highest level of each feature.
    """

    def __init__(
        self,
        image: MetadataImage,
        partitions: Callable[[], PartitionControl],
        supported: Callable[[int], Mapping[str, tuple[int, int]]],
    ) -> None:
        self._image = image
        self._supported = supported
        self._partitions = partitions

    def register(self, command: RegisterBroker) -> tuple[list[MetadataRecord], int]:
        """Records of `RegisterBroker` and the broker's epoch."""
        known = self._image.brokers.get(command.node_id)
        amended = known is not None and known.incarnation == command.incarnation
        epoch = known.epoch if known is not None and amended else command.epoch
        records: list[MetadataRecord] = []
        if known is not None and not amended and command.crashed:
            records += self._partitions().after_crash(command.node_id)
        elif known is not None and not amended and known.is_active:
            records += self._after_loss(frozenset({command.node_id}))
        records.append(
            RegisterBrokerRecord(
                broker_id=command.node_id,
                incarnation_id=command.incarnation,
                broker_epoch=epoch,
                end_points=[BrokerEndpoint(*endpoint) for endpoint in command.endpoints],
                features=[BrokerFeature(name, *levels) for name, levels in self._supported(command.node_id).items()],
                rack=command.rack,
                fenced=known.fenced if known is not None and amended else True,
                in_controlled_shutdown=known.in_controlled_shutdown if known is not None and amended else False,
                log_dirs=list(command.directories),
            )
        )
        return records, epoch

    def register_controller(self, command: RegisterController) -> tuple[list[MetadataRecord], None]:
        """Records of `RegisterController`; none before `metadata.version` 3.7-IV0."""
        if 0 < self._image.feature(METADATA_VERSION) < CONTROLLERS_SINCE:
            return [], None
        record = RegisterControllerRecord(
            command.node_id,
            command.incarnation,
            end_points=[ControllerEndpoint(*endpoint) for endpoint in command.endpoints],
            features=[ControllerFeature(name, *levels) for name, levels in self._supported(command.node_id).items()],
        )
        return [record], None

    def unfence(self, command: UnfenceBrokers) -> tuple[list[MetadataRecord], None]:
        """Records of `UnfenceBrokers`; none for brokers that are not fenced."""
        fenced = [node for node in command.node_ids if self._broker(node).fenced]
        records: list[MetadataRecord] = [self._changed(node, fenced=_UNFENCED) for node in fenced]
        if fenced:
            records += self._after_return(frozenset(fenced))
        return records, None

    def fence(self, command: FenceBroker) -> tuple[list[MetadataRecord], None]:
        """Records of `FenceBroker`; none for a broker that is fenced already."""
        node = command.node_id
        if self._broker(node).fenced:
            return [], None
        return [*self._after_loss(frozenset({node})), self._changed(node, fenced=_FENCED)], None

    def unregister(self, command: UnregisterBroker) -> tuple[list[MetadataRecord], None]:
        """Records of `UnregisterBroker`."""
        node = command.node_id
        epoch = self._broker(node).epoch
        return [*self._after_loss(frozenset({node})), UnregisterBrokerRecord(node, epoch)], None

    def unregister_controller(self, command: UnregisterController, active: int) -> tuple[list[MetadataRecord], None]:
        """Records of `UnregisterController`; `active` is the controller that decides."""
        controller = command.controller_id
        if controller == active:
            text = "Controller cannot unregister itself while it is active."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        if controller not in self._image.controllers:
            text = f"Controller ID {controller} is not currently registered."
            raise KafkaError(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)
        return [UnregisterControllerRecord(controller)], None

    def shut_down(self, command: ShutDownBrokers) -> tuple[list[MetadataRecord], None]:
        """Records of `ShutDownBrokers`: controlled shutdown of each that is registered, then all are fenced."""
        registered = [node for node in command.node_ids if node in self._image.brokers]
        active = [node for node in registered if self._broker(node).is_active]
        records: list[MetadataRecord] = [self._changed(node, shutting_down=_SHUTTING_DOWN) for node in active]
        records += self._after_loss(frozenset(active))
        records += (self._changed(node, fenced=_FENCED) for node in active)
        return records, None

    def _after_loss(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        return self._partitions().after_loss(nodes) if self._image.topics else []

    def _after_return(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        return self._partitions().after_return(nodes) if self._image.topics else []

    def _broker(self, node_id: int) -> BrokerRegistration:
        broker = self._image.brokers.get(node_id)
        if broker is None:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
        return broker

    def _changed(self, node_id: int, *, fenced: int = 0, shutting_down: int = 0) -> BrokerRegistrationChangeRecord:
        return BrokerRegistrationChangeRecord(node_id, self._broker(node_id).epoch, fenced, shutting_down)
