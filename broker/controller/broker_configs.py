"""The dynamic configs of brokers: from the metadata image into the configuration in force."""

from __future__ import annotations

import logging

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.metadata.delta import MetadataDelta
from odradek.broker.metadata.image import MetadataImage, ResourceType

_log = logging.getLogger("odradek.broker.controller")


class BrokerConfigPublisher:
    """Keeps the dynamic layers of a `BrokerConfig` as the image has them. Owner: the cluster.

    It may have unknown names, for example of plugins: they are kept as they are.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for kind, name in delta.configs:
            if kind == ResourceType.BROKER:
                values = self._known(image, name)
                self._config.set_dynamic(int(name) if name else None, values)
                if name:
                    for each in self._config.reconfigurables:
                        each.apply(int(name))

    def _known(self, image: MetadataImage, resource: str) -> dict[str, str]:
        known: dict[str, str] = {}
        for name, text in image.configs_of(ResourceType.BROKER, resource).items():
            key = self._config.keys.find(name)
            try:
                known[name] = text if key is None else key.normal(text)
            except ConfigError as error:
                _log.warning("broker config %s in the metadata log is passed over: %s", name, error)
        return known
