"""The feature levels of the cluster (KIP-584), as ApiVersions shows them and UpdateFeatures changes them."""

from __future__ import annotations

from typing import Any

from odradek.protocol.errors import ErrorCode, KafkaError

METADATA_VERSION = "metadata.version"
TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
SHARE_VERSION = "share.version"
STREAMS_VERSION = "streams.version"
KRAFT_VERSION = "kraft.version"
ELR_VERSION = "eligible.leader.replicas.version"

# What Kafka 4.3.1 supports: lowest and highest level of each feature.
SUPPORTED: dict[str, tuple[int, int]] = {
    GROUP_VERSION: (0, 1),
    KRAFT_VERSION: (0, 1),
    METADATA_VERSION: (7, 30),
    SHARE_VERSION: (0, 1),
    STREAMS_VERSION: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    ELR_VERSION: (0, 1),
}

# What a newly formatted Kafka 4.3.1 cluster has finalized.
_FINALIZED: dict[str, int] = {
    GROUP_VERSION: 1,
    STREAMS_VERSION: 1,
    TRANSACTION_VERSION: 2,
    ELR_VERSION: 1,
    SHARE_VERSION: 1,
    METADATA_VERSION: 30,
}


class Features:
    """Finalized feature levels and their epoch.

    Invariants: a level lies in the supported range; level 0 means "not finalized" and is not listed; each change raises
    ``epoch``.
    """

    def __init__(self) -> None:
        self.finalized: dict[str, int] = dict(_FINALIZED)
        self.epoch = 1
        self.kept_answers: dict[int, Any] = {}
        """Encoded ApiVersions answers by version; empty after a change."""

    def level(self, name: str) -> int:
        """The finalized level of a feature; 0 if it has none."""
        return self.finalized.get(name, 0)

    @property
    def transaction_version(self) -> int:
        """0, 1 or 2 (KIP-890)."""
        return self.level(TRANSACTION_VERSION)

    def set_level(self, name: str, level: int) -> None:
        """Finalize ``name`` at ``level`` (0 removes it); KafkaError(INVALID_UPDATE_VERSION) out of range."""
        if name not in SUPPORTED:
            raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"feature {name} is not supported")
        low, high = SUPPORTED[name]
        if not low <= level <= high:
            raise KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"{name} supports levels {low} to {high}, not {level}")
        if level == self.level(name):
            return
        if level == 0:
            self.finalized.pop(name, None)
        else:
            self.finalized[name] = level
        self.epoch += 1
        self.kept_answers.clear()
