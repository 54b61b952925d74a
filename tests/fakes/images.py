"""Metadata images as plain values that can be compared."""

from __future__ import annotations

from typing import Any

from odradek.broker.metadata.image import MetadataImage


def picture(image: MetadataImage) -> dict[str, Any]:
    """Everything that an image says, but for where in the log it stands."""
    return {
        "topics": {
            name: (topic.topic_id, topic.internal, list(topic.partitions)) for name, topic in image.topics.items()
        },
        "ids": {topic_id: topic.name for topic_id, topic in image.topics_by_id.items()},
        "colliding": {key: set(names) for key, names in image.colliding_names.items()},
        "configs": {resource: dict(configs) for resource, configs in image.configs.items()},
        "brokers": dict(image.brokers),
        "controllers": dict(image.controllers),
        "features": dict(image.features),
        "acls": dict(image.acls),
        "scram": dict(image.scram),
        "tokens": dict(image.delegation_tokens),
        "quotas": {entity: dict(values) for entity, values in image.quotas.items()},
        "next_producer_id": image.next_producer_id,
    }
