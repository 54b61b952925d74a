"""The changes of the image by one command. Publishers get it after the image has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.metadata.image import ConfigResource, MetadataImage, TopicImage
from odradek.broker.metadata.registrations import BrokerRegistration, PartitionRegistration

if TYPE_CHECKING:
    from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord


class MetadataDelta:
    """The resources that changed; the image says what they are now.

    `created`, `deleted`: topics by id. `grown`: topic id -> first new index, for topics that were there before.
    `moved`: (topic id, index) -> the registration before, for partitions that were there before. `configs`: resource ->
    its settings before. `brokers`: id -> the registration before (None: a new one). `acls`: id -> the entry before
    (None: a new one).
    """

    __slots__ = ("acls", "brokers", "configs", "created", "deleted", "features", "grown", "moved", "quotas", "security")

    def __init__(self) -> None:
        self.created: dict[bytes, TopicImage] = {}
        self.deleted: dict[bytes, TopicImage] = {}
        self.grown: dict[bytes, int] = {}
        self.moved: dict[tuple[bytes, int], PartitionRegistration] = {}
        self.configs: dict[ConfigResource, dict[str, str]] = {}
        self.brokers: dict[int, BrokerRegistration | None] = {}
        self.acls: dict[bytes, AccessControlEntryRecord | None] = {}
        self.features = False
        self.security = False
        """Whether ACLs, SCRAM credentials, delegation tokens or quotas changed."""
        self.quotas = False
        """Whether quotas did."""

    @classmethod
    def of_everything(cls, image: MetadataImage) -> MetadataDelta:
        """The delta of a start: from an empty image to `image`."""
        delta = cls()
        delta.created = dict(image.topics_by_id)
        delta.configs = {resource: {} for resource in image.configs}
        delta.brokers = dict.fromkeys(image.brokers)
        delta.acls = dict.fromkeys(image.acls)
        delta.features = delta.security = delta.quotas = True
        return delta

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that anybody could see."""
        return not (
            self.created
            or self.deleted
            or self.grown
            or self.moved
            or self.configs
            or self.brokers
            or self.features
            or self.security
        )
