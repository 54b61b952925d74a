"""Log directories of a real Kafka at every age: just formatted, killed, closed, before and after the cleaner ran.

`write_ages` makes them. What Kafka 4.3.1 wrote is recorded in tests/vectors/log_directories.tar.xz (a folder for each
age, index files preallocated as a running Kafka has them).
"""

from __future__ import annotations

import shutil
import tarfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.record_batch import Record, build_batch
from tests.fakes.archives import VECTORS, unpack
from tests.fakes.wire_client import WireClient
from tests.scenarios.log_tails import produced
from tests.scenarios.target import wait_until

if TYPE_CHECKING:
    from tests.conformance.real_kafka import RealKafka

RECORDED = VECTORS / "log_directories.tar.xz"
CONFIG = {
    "log.cleaner.backoff.ms": "50",
    "log.segment.delete.delay.ms": "3600000",
    "log.retention.ms": "-1",  # the records' timestamps are years old
}
TIME = 1_700_000_000_000
ONE, COMPACTED, DELETED = "one", "compacted", "deleted"
COMPACTED_CONFIG = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}

Content = dict[str, list[tuple[int, bytes, bytes]]]
"""Topic -> (offset, key, value) of its records."""
_ONE: Content = {ONE: [(0, b"k", b"v")]}
_CLEANED: Content = {**_ONE, COMPACTED: [(8, b"k2", b"8"), (9, b"k0", b"9"), (10, b"k1", b"10"), (11, b"k2", b"11")]}
AGES: dict[str, Content] = {
    "formatted": {},
    "killed-empty": {},
    "closed-empty": {},
    "killed": _ONE,
    "closed": _ONE,
    "killed-after-cleaner": _CLEANED,
    "closed-after-cleaner": _CLEANED,
}
"""What is in the directory at each age. The cleaner leaves the last segment alone, so one key is there twice."""


def write_ages(kafka: RealKafka, target: Path) -> None:
    """Bring a real Kafka through all ages and copy its log directory at each into a folder of `target`."""

    def keep(age: str) -> None:
        shutil.copytree(kafka.log_dir, target / age)

    kafka.prepare()
    keep("formatted")
    kafka.start().halt(kill=True)
    keep("killed-empty")
    kafka.start().halt()
    keep("closed-empty")
    with WireClient("127.0.0.1", kafka.start().port) as client:
        _create(client, ONE, {})
        _produce(client, ONE, b"k", b"v", 0)
    kafka.halt(kill=True)
    keep("killed")
    kafka.start().halt()
    keep("closed")
    with WireClient("127.0.0.1", kafka.start().port) as client:
        _create(client, COMPACTED, COMPACTED_CONFIG)
        for number in range(12):
            _produce(client, COMPACTED, b"k%d" % (number % 3), b"%d" % number, number)
        _create(client, DELETED, {})
        _produce(client, DELETED, b"k", b"v", 0)
        state = DeleteTopicState(name=DELETED)
        client.request(DeleteTopicsRequest(topics=[state], timeout_ms=60_000), 6)
        checkpoint = kafka.log_dir / "cleaner-offset-checkpoint"
        wait_until("the cleaner", lambda: f"{COMPACTED} 0 11" in checkpoint.read_text())
        wait_until("the deletion", lambda: list(kafka.log_dir.glob(f"{DELETED}-0.*-delete")))
    kafka.halt(kill=True)
    keep("killed-after-cleaner")
    kafka.start().halt()
    keep("closed-after-cleaner")


def _create(client: WireClient, name: str, config: dict[str, str]) -> None:
    configs = [CreatableTopicConfig(name=key, value=value) for key, value in config.items()]
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)
    client.request(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))


def _produce(client: WireClient, name: str, key: bytes, value: bytes, seconds: int) -> None:
    data = build_batch([Record(0, TIME + seconds * 10_000, key, value)])
    wait_until(f"a leader of {name}", partial(produced, client, name, data))


def unpack_age(age: str, target: Path) -> Path:
    """A copy of the recorded directory of an age."""
    return unpack(RECORDED.name, age, target)


def pack(folder: Path) -> None:
    """Record what `write_ages` made, without what each run has of its own."""
    with tarfile.open(RECORDED, "w:xz") as archive:
        for age in AGES:
            archive.add(folder / age, age, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
