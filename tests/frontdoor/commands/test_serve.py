"""``odradek serve``, run as a user runs it."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.__main__ import main


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "odradek", *words]


@contextmanager
def serving(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A broker process and the line that it printed when it was ready."""
    process = subprocess.Popen(
        command("serve", "--port", "0", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_where_and_ends_cleanly(how: signal.Signals) -> None:
    assert any(serve_and_end(how) < 1.5 for _ in range(5))  # once is enough: the machine may be busy


def serve_and_end(how: signal.Signals) -> float:
    """The seconds from the signal to the end of the process."""
    with serving("--topic", "orders:3:cleanup.policy=compact,delete,retention.ms=5", "--nodes", "2") as (process, line):
        found = re.fullmatch(r"odradek ready on 127\.0\.0\.1:(\d+),127\.0\.0\.1:\d+\n", line)
        assert found, line
        client = socket.create_connection(("127.0.0.1", int(found[1])))
        begin = time.monotonic()
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - begin
        client.close()
    assert (process.returncode, out, err) == (0, "", "")
    return took


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--config", "no.such.config=1"), "no.such.config"),
        (("--config", "log.retention.ms=soon"), "log.retention.ms"),
        (("--config", "novalue"), "key=value"),
        (("--topic", "orders:many"), "NAME:PARTITIONS"),
        (("--topic", "orders:3:nonsense=1"), "nonsense"),
        (("--topic", "orders:3:retention.mss=1"), "did you mean 'retention.ms'?"),
        (("--topic", "orders:0"), "topic 'orders'"),
        (("--topic", "orders:1", "--topic", "orders:2"), "the topic orders is given twice"),
        (("--topic", "bad name:3"), "bad name"),
        (("--host", "no-such-host.invalid"), "no-such-host.invalid"),
    ],
)
def test_what_the_user_can_put_right_is_one_line_and_status_2(words: tuple[str, ...], says: str) -> None:
    done = subprocess.run(command("serve", "--port", "0", *words), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(command("serve", "--port", str(port)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == f"odradek serve: cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_a_data_dir_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "data"
    done = subprocess.run(
        command("serve", "--port", "0", "--data-dir", str(folder)), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert str(tmp_path / "file") in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--port", "70000"), "70000 is not a port"),
        (("--port", "x"), "x is not a port"),
        (("--nodes", "0"), "at least 1"),
        (("--log-level", "loud"), "loud"),
    ],
)
def test_options_are_checked(words: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert words[0] in told
    assert says in told
