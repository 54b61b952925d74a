"""Where the system is not POSIX (Windows) or has no epoll (macOS): what can be known of that on Linux.

A process of its own hides the modules and functions that these systems lack, imports every module of the package and
runs a broker: the plain one in memory asks for none of them.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

HIDING = """
import asyncio, builtins, importlib, logging, mmap, multiprocessing, os, pkgutil, signal, socket, ssl, subprocess, sys
import sysconfig, tempfile, types
import http.client, _pytest.pytester, h11, pytest, trio, trio.testing, wsgiref.handlers

sysconfig.get_config_vars()
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "syslog", "posix", "curses", "readline"}
LACKING = {
    os: ["memfd_create", "sendfile", "splice", "pread", "preadv", "pwrite", "pwritev", "readv", "writev", "fork",
         "sysconf", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "posix_fadvise", "posix_fallocate", "getuid", "geteuid",
         "setsid", "killpg", "fdatasync", "statvfs", "chown", "register_at_fork", "sched_getaffinity", "eventfd"],
    socket: ["SO_REUSEPORT"],
    signal: ["SIGHUP", "SIGKILL", "SIGSTOP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGALRM", "SIGPIPE", "alarm"],
    mmap: ["MADV_REMOVE", "MADV_DONTNEED", "MAP_PRIVATE", "MAP_SHARED", "PROT_READ", "PROT_WRITE"],
}

imported = builtins.__import__

def importing(name, globals=None, locals=None, fromlist=(), level=0):
    if name in MODULES and (globals or {}).get("__name__", "").startswith("odradek"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return imported(name, globals, locals, fromlist, level)

builtins.__import__ = importing
sys.platform = "win32"  # asked by our own modules; those of the standard library are loaded
for module, names in LACKING.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""

IMPORTING = """
import odradek
missing = set()
for module in pkgutil.walk_packages(odradek.__path__, "odradek."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert error.name not in MODULES, (module.name, error)
        missing.add(error.name.partition(".")[0])
missing.discard("_winapi")  # Windows has it
assert missing <= {"pyspark", "gssapi", "opentelemetry", "joserfc", "cryptography", "re2", "pandas", "pyarrow"}, missing
print("imported")
"""

RUNNING = """
import odradek
from odradek.broker.fast import fast_lane as lane
from odradek.broker.net import sending
lane.select = types.SimpleNamespace()  # trio itself needs the real one here
sending.HAS_SENDMSG = False
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient
with odradek.KafkaBroker(nodes=2, topics={"t": 1}) as broker:
    snapshot = broker.snapshot()
    broker.produce_all("t", ["x" * 10_000] * 500, transactional_id="tx")
    broker.group("g").set_offsets({("t", 0): 3})
    host, port = broker.bootstrap_servers.split(",")[0].split(":")
    with WireClient(host, int(port)) as client:
        assert client.request(MetadataRequest(topics=None), 12).topics[0].name == "t"
    assert len(list(broker.records("t"))) == 500
    broker.restore(snapshot)
    with broker.fork() as other:
        assert not list(other.records("t"))
    broker.reset()
    print(broker.report())
    assert not broker.bugs, broker.bugs[0]
with odradek.KafkaBroker(process=True, topics=["t"]) as broker:
    broker.produce("t", "x")
print("ran")
"""


def run(*parts: str) -> str:
    done = subprocess.run([sys.executable, "-c", "".join(parts)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_every_module_is_imported_without_posix() -> None:
    assert run(HIDING, IMPORTING) == "imported\n"


@pytest.mark.long
def test_a_broker_in_memory_needs_none_of_it() -> None:
    assert run(HIDING, RUNNING).endswith("ran\n")


@pytest.mark.long
def test_a_data_directory_is_refused_in_one_line_where_files_cannot_be_written_at() -> None:
    said = run(
        HIDING,
        """
import odradek
try:
    odradek.KafkaBroker(data_dir=tempfile.mkdtemp()).start()
except Exception as error:
    print(type(error).__name__, error)
""",
    )
    assert re.fullmatch(r"StorageError .*: a data directory needs Linux or macOS; brokers in memory run .*\n", said), (
        said
    )
