"""Log directories that somebody has prepared: whatever stands in the place of a file or a folder, a broker that opens,
uses and closes the directory leaves everything outside of it as it is, takes little memory, and ends.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.disk_metadata_log import FOLDER
from odradek.broker.controller.machine import adopt
from odradek.broker.controller.topic_control import records_of_topic
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.storage.backend import StorageError
from odradek.storage.formats.segment_files import LOG, file_name
from odradek.storage.log_directory import is_to_be_deleted
from odradek.storage.partition_log import PartitionLog
from odradek.storage.trimming import apply_retention
from tests.fakes.durable import die, durable
from tests.storage.logs import NOW, end, put

CONFIG = {"metadata.log.max.record.bytes.between.snapshots": "300", "log.segment.delete.delay.ms": "0"}
ID = "0123456789abcdef" * 2
HUGE = 20 << 30
SEGMENT = file_name(0, LOG)
SECOND = file_name(6, LOG)
_HANGS_S = 60
_MOST_BYTES = 200 << 20


@pytest.fixture(autouse=True)
def it_ends() -> Iterator[None]:
    def hangs(number: int, frame: object) -> None:
        raise AssertionError("the broker hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, _HANGS_S, _HANGS_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("prepared") / "data"
    fill_directory(directory, directory.with_name("outside"))
    return directory


def fill_directory(directory: Path, outside: Path) -> None:
    """A log directory with two topics, aborted transactions, several segments and snapshots of the metadata.

    Outside of it folders and files that look like those of a log directory, and some that do not.
    """
    cluster = durable(directory, config=CONFIG)
    cluster.open_directory()
    for name in ("t", "u"):
        cluster.create_topic(name, partitions=1)
        log = cluster.topics.by_name(name).partitions[0].log
        fill(log)
        log.roll(NOW)
        put(log)
        log.begin_epoch(2)
    cluster.close_logs()
    assert (directory / "t-0" / SECOND).exists()
    shutil.copytree(directory, outside / "other")
    shutil.copy(directory / "t-0" / SEGMENT, outside / "segment")
    shutil.copytree(directory / "t-0", outside / "folder")
    (outside / "folder" / "diary.txt").write_text("mine")


def fill(log: PartitionLog) -> None:
    for sequence in range(2):
        put(log, producer=(1, 0, 2 * sequence), transactional=True)
        put(log, producer=(1, 0, 2 * sequence + 1), transactional=True)
        end(log, 1, 0, commit=False)


@pytest.fixture
def directory(prepared: Path, tmp_path: Path) -> Path:
    return shutil.copytree(prepared, tmp_path / "data")


@pytest.fixture(scope="module")
def outside(prepared: Path) -> Iterator[Path]:
    """What is outside. It never changes."""
    outside = prepared.with_name("outside")
    before = picture(outside)
    yield outside
    assert picture(outside) == before


def picture(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Mode, time of the last change and bytes of all that is below a folder, the folder itself included."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, data)
    return found


def live_through(directory: Path) -> list[str]:
    """Open the directory, use all of it, close it, twice; returns what was refused, one line each."""
    refused = []
    for _ in range(2):
        cluster = durable(directory, config=CONFIG)
        try:
            cluster.open_directory()
        except StorageError as error:
            refused.append(error.message or "")
            continue
        assert cluster.directory is not None
        cluster.directory.open_all(cluster.topics)
        refused += cluster.directory.backend.recovered
        for name in ("t", "u"):
            refused += use(cluster, name)
        cluster.close_logs()
    return refused


def use(cluster: Cluster, name: str) -> list[str]:
    refused = []

    def tried(what: Callable[[], object]) -> None:
        try:
            what()
        except KafkaError as error:
            refused.append(error.message or "")

    if cluster.topics.get(name) is None:
        cluster.create_topic(name)
    partition = cluster.topics.by_name(name).partitions[0]
    tried(lambda: put(partition.log))
    tried(lambda: fill(partition.log))
    tried(lambda: partition.log.read(0, max_bytes=1 << 20, up_to_offset=partition.log.log_end_offset))
    tried(lambda: partition.log.roll(NOW))
    tried(lambda: put(partition.log))
    tried(lambda: partition.log.flush())
    tried(lambda: partition.delete_records(5))
    tried(lambda: apply_retention(partition.log, NOW))
    if name == "t":
        tried(lambda: cluster.delete_topic(name))
    return refused


Change = Callable[[Path, Path], None]
"""(path in the directory, folder outside) -> what stands there instead."""


def link_to(name: str) -> Change:
    return lambda path, outside: path.symlink_to(outside / name)


def sparse(path: Path, outside: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


def bound(path: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def folder_with_a_file(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / SEGMENT).write_text("mine")


def unreadable(path: Path, outside: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0)


KINDS: dict[str, Change] = {
    "a link to a segment": link_to("segment"),
    "a link to a folder": link_to("folder"),
    "a link to a log directory": link_to("other"),
    "a link to /dev/zero": lambda path, outside: path.symlink_to("/dev/zero"),
    "a link to nothing": link_to("missing"),
    "a second name of a segment": lambda path, outside: os.link(outside / "segment", path),
    "a named pipe": lambda path, outside: os.mkfifo(path),
    "a socket": bound,
    "a file of 20 GB": sparse,
    "a folder": folder_with_a_file,
}
if os.geteuid() == 0:
    KINDS["a device"] = lambda path, outside: os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 5))
else:
    KINDS["a file that may not be read"] = unreadable

PLACES = [
    "meta.properties",
    ".lock",
    ".kafka_cleanshutdown",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "meta.properties.tmp",
    "recovery-point-offset-checkpoint.tmp",
    "odradek.restore.json",
    f"v-0.{ID}-delete",
    f"t-0.{ID}-future",
    f"t-0.{ID}-stray",
    "v-0",
    "t-0",
    f"t-0/{SEGMENT}",
    f"t-0/{SECOND}",
    *(f"t-0/{SEGMENT.removesuffix('.log')}{kind}" for kind in (".index", ".timeindex", ".txnindex", ".snapshot")),
    *(f"t-0/{SEGMENT}{suffix}" for suffix in (".deleted", ".cleaned", ".swap", ".tmp")),
    f"t-0/{SECOND.removesuffix('.log')}.snapshot",
    "t-0/leader-epoch-checkpoint",
    "t-0/leader-epoch-checkpoint.tmp",
    "t-0/partition.metadata",
    FOLDER,
    f"{FOLDER}/{SEGMENT}",
    f"{FOLDER}/{SEGMENT.removesuffix('.log')}.timeindex",
    f"{FOLDER}/quorum-state",
    f"{FOLDER}/quorum-state.tmp",
    f"{FOLDER}/leader-epoch-checkpoint",
    f"{FOLDER}/00000000000000000099-0000000001.checkpoint",
    f"{FOLDER}/99999999999999999999.snapshot",
    "../data.odradek-snapshots",
]


CASES = [(kind, place) for place in PLACES for kind in KINDS]
"""All of them take half a minute; each run on a change tries some."""
SOME = [
    pytest.param(*case, marks=pytest.mark.slow if number % 9 else pytest.mark.long) for number, case in enumerate(CASES)
]


@pytest.mark.parametrize(("kind", "place"), SOME)
def test_hostile_directory_leaves_files_outside_alone(directory: Path, outside: Path, kind: str, place: str) -> None:
    """Every other case after an unclean stop."""
    path = directory / place
    if CASES.index((kind, place)) % 2:
        (directory / ".kafka_cleanshutdown").unlink()
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    KINDS[kind](path, outside)
    before, memory = picture(outside), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = live_through(directory)
    assert picture(outside) == before
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    assert grown * 1024 < _MOST_BYTES
    assert all(len(line) < 1000 and "\n" not in line for line in refused)


@pytest.mark.parametrize(
    "name", ["../outside/new", "/tmp/new", "a/../../new", "", ".", "..", "a\0b", "a" * 250, "a b", "__cluster_metadata"]
)
@pytest.mark.parametrize("where", ["log", "snapshot"])
def test_a_name_in_the_metadata_that_leads_out_is_refused(tmp_path: Path, name: str, where: str) -> None:
    directory = tmp_path / "data"
    cluster = durable(directory, config=CONFIG if where == "snapshot" else {})
    cluster.open_directory()
    cluster.controller.ask(adopt, records_of_topic(name, b"i" * 16, [[1]], {}, directory_of=lambda node: bytes(16)))
    for number in range(5):
        cluster.create_topic(f"t{number}")
    die(cluster)
    assert (len(list(directory.glob("*/*.checkpoint"))) > 1) is (where == "snapshot")
    before = [path.name for path in (*tmp_path.iterdir(), *directory.iterdir())]
    again = durable(directory)
    with pytest.raises(StorageError, match=rf"{FOLDER}.*: no topic can have the name '") as caught:
        again.open_directory()
    assert len(str(caught.value)) < 600
    assert [path.name for path in (*tmp_path.iterdir(), *directory.iterdir())] == before


@pytest.mark.parametrize("number", [-1, 2**31 - 1])
def test_a_partition_number_in_the_metadata_that_no_topic_has_is_refused(tmp_path: Path, number: int) -> None:
    directory = tmp_path / "data"
    cluster = durable(directory)
    cluster.open_directory()
    shard = cluster.controller._shard
    assert shard is not None
    records = records_of_topic("t", b"i" * 16, [[1]], {}, directory_of=lambda node: bytes(16))
    for record in records:
        if isinstance(record, PartitionRecord):
            record.partition_id = number
    shard.journal.append(records, NOW, None)
    die(cluster)
    with pytest.raises(StorageError, match=rf"{FOLDER}.*: no topic can have a partition {number}$"):
        durable(directory).open_directory()


def test_a_link_of_a_deleted_partition_goes_alone(directory: Path, outside: Path) -> None:
    link = directory / f"x-0.{ID}-delete"
    link.symlink_to(outside / "folder")
    live_through(directory)
    assert not link.is_symlink()


def test_a_folder_with_no_name_of_a_partition_is_passed_over(directory: Path) -> None:
    names = ("my-delete", "x-0-delete", "x-0.abc-delete", "lost+found")
    for name in names:
        (directory / name).mkdir()
    assert not any(name in line for line in live_through(directory) for name in names)
    assert all((directory / name).exists() for name in names)


def test_a_partition_whose_folder_is_a_link_is_offline_and_can_be_deleted(directory: Path, outside: Path) -> None:
    shutil.rmtree(directory / "t-0")
    (directory / "t-0").symlink_to(outside / "folder")
    cluster = durable(directory, config=CONFIG)
    cluster.open_directory()
    with pytest.raises(StorageError, match="t-0: is a symbolic link, and has to be a folder"):
        put(cluster.topics.by_name("t").partitions[0].log)
    put(cluster.topics.by_name("u").partitions[0].log)
    cluster.delete_topic("t")
    assert not [path.name for path in directory.iterdir() if path.name.startswith("t-0")]
    cluster.close_logs()


def test_files_that_are_not_kafkas_outlive_their_topic(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    (directory / "t-0" / "diary.txt").write_text("mine")
    (directory / "t-0" / "notes.tmp").write_text("mine")
    (directory / "t-0" / "photos").mkdir()
    live_through(directory)
    [left] = [path for path in directory.iterdir() if is_to_be_deleted(path.name)]
    assert {path.name for path in left.iterdir()} == {"diary.txt", "notes.tmp", "photos"}
    assert f"{left} stays: it holds 'diary.txt', which is not Kafka's" in caplog.text


def test_a_restore_never_renames_what_is_no_partition(directory: Path, outside: Path) -> None:
    mark = {"metadata_end": 0, "folders": {"../outside/folder": None}, "offsets": {}}
    (directory / "odradek.restore.json").write_text(json.dumps(mark))
    with pytest.raises(StorageError, match="is not a mark of a restore"):
        durable(directory).open_directory()


def test_a_link_to_a_log_directory_is_one(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(directory)
    cluster = durable(tmp_path / "link")
    cluster.open_directory()
    put(cluster.topics.by_name("t").partitions[0].log)
    cluster.close_logs()
