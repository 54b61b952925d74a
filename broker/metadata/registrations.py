"""Registrations of partitions, brokers and controllers in the metadata log. Immutable values (KIP-631)."""

from __future__ import annotations

from typing import NamedTuple

NO_LEADER = -1
Ids = tuple[int, ...]
LOST_DIRECTORY = bytes(15) + b"\x02"
"""Stands in partition records for the log directory of a replica whose disk has failed (KIP-858)."""


class PartitionRegistration(NamedTuple):
    """A partition. `directories`: of each replica, the id of its log directory.

    `adding` and `removing` are a reassignment under way. `elr`: replicas that left the ISR below
    `min.insync.replicas` and have all that is committed (KIP-966); `last_known_elr`: who led last, while nobody
    does. `recovering`: an unclean election chose the leader.
    """

    replicas: Ids
    isr: Ids
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...]
    adding: Ids = ()
    removing: Ids = ()
    elr: Ids = ()
    last_known_elr: Ids = ()
    recovering: bool = False

    @property
    def is_reassigned(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    def is_lost(self, node_id: int) -> bool:
        """Whether the disk of a replica has failed."""
        if LOST_DIRECTORY not in self.directories:
            return False
        return self.directories[self.replicas.index(node_id)] == LOST_DIRECTORY if node_id in self.replicas else False


class Endpoint(NamedTuple):
    """A listener. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class BrokerRegistration(NamedTuple):
    """A broker. `epoch`: offset of the record that registered this `incarnation`. `features`: name -> range."""

    id: int
    epoch: int
    incarnation: bytes
    endpoints: tuple[Endpoint, ...]
    features: dict[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[bytes, ...]
    cordoned: tuple[bytes, ...] | None = None

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions."""
        return not self.fenced and not self.in_controlled_shutdown


class ControllerRegistration(NamedTuple):
    """A controller, with the features that it supports."""

    id: int
    incarnation: bytes
    endpoints: tuple[Endpoint, ...]
    features: dict[str, tuple[int, int]]
    zk_migration_ready: bool = False
