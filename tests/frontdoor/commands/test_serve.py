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
from odradek.commands import CommandParser, serve
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.describe_client_quotas import DescribeClientQuotasRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.fakes.wire_client import WireClient
from tests.frontdoor.control.conftest import ask

pytestmark = pytest.mark.long  # each test starts a broker as users do

HANG_UP = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
"""Under `nohup` a process and its children ignore it."""


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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, *HANG_UP])
def test_serve_says_where_and_ends_cleanly(how: signal.Signals) -> None:
    assert any(serve_and_end(how) < 1.5 for _ in range(5))  # once is enough: the machine may be busy


@pytest.mark.parametrize("how", [signal.SIGTERM, *HANG_UP])
def test_a_data_directory_has_the_mark_of_a_clean_stop(tmp_path: Path, how: signal.Signals) -> None:
    with serving("--data-dir", str(tmp_path), "--topic", "t:1") as (process, _):
        process.send_signal(how)
        assert process.wait(60) == 0
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_started_by_nohup_it_outlives_its_terminal() -> None:
    ignored = f"import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv({sys.executable!r}, "
    words = [sys.executable, "-c", f"{ignored}{command('serve', '--port', '0')!r})"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("odradek ready on ")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)  # ends it in the usual way, unless the other has killed it
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_serve_goes_on_when_nobody_reads_its_log() -> None:
    """A pipe takes 64 KiB, and five hundred connections log twice as much."""
    with serving("--log-level", "debug") as (process, line):
        port = int(line.rpartition(":")[2])
        for _ in range(500):
            with WireClient("127.0.0.1", port) as client:
                client.request(ApiVersionsRequest("x" * 200, "1"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_serve_goes_on_when_a_client_hangs_up() -> None:
    """As `odradek serve | head -1` does."""
    with serving("--registry-port", "0", "--log-level", "debug") as (process, line):
        assert process.stdout is not None
        assert process.stderr is not None
        assert line.startswith("odradek schema registry on")
        process.stderr.close()
        port = int(process.stdout.readline().rpartition(":")[2])
        process.stdout.close()
        with WireClient("127.0.0.1", port) as client:
            client.request(ApiVersionsRequest("x", "1"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def produced(client: WireClient, index: int) -> int:
    """The error code of a batch for a partition of `t`."""
    batch = build_batch([Record(0, int(time.time() * 1000), None, b"v")])
    topics = [TopicProduceData("t", partition_data=[PartitionProduceData(index, batch)])]
    answer = client.request(ProduceRequest(acks=-1, timeout_ms=9000, topic_data=topics), version=9)
    return int(answer.responses[0].partition_responses[0].error_code)


def test_out_of_descriptors_it_says_so_once_and_goes_on(tmp_path: Path) -> None:
    """Partitions whose files cannot be opened answer KAFKA_STORAGE_ERROR. Connections wait."""
    limit = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"
    limited = f"import os, resource, sys; {limit}; os.execv(sys.argv[1], sys.argv[1:])"
    stored = ("--data-dir", str(tmp_path), "--config", "odradek.flush=always", "--topic", "t:64")
    words = [sys.executable, "-c", limited, *command("serve", "--port", "0", *stored)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        with WireClient("127.0.0.1", port) as client:
            codes = [produced(client, index) for index in range(64)]
            assert set(codes) == {0, 56}
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
            assert produced(client, 0) == 0
            assert client.request(DescribeClientQuotasRequest(components=[], strict=False)).entries == []
            for each in idle:
                each.close()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert len(said.splitlines()) == 1
    assert "out of file descriptors: raise the limit (ulimit -n)" in said
    with serving(*stored) as (_, line), WireClient.at(line.split()[-1]) as client:
        assert produced(client, codes.index(56)) == 0


def test_a_start_imports_only_what_it_needs() -> None:
    """Not what interprets declarations, compresses or encodes names of hosts: those are for who first needs them."""
    measured = [sys.executable, "-X", "importtime", "-m", "odradek", "serve", "--port", "0"]
    with subprocess.Popen(measured, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("odradek ready on ")
        process.terminate()
        _, imported = process.communicate(timeout=60)
    found = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    assert "odradek.broker.cluster" in found
    later = {"construct", "cramjam", "encodings.idna", "odradek.broker.facade.topics", "odradek.storage.compaction"}
    assert not found & later


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
        (("--release-version", "9.9"), "Unknown metadata.version '9.9'. Supported metadata.version are: 3.3-IV3, "),
        (("--release-version", "3.9", "--feature", "group.version=7"), "No feature:group.version with feature level 7"),
        (("--cluster-id", ""), "You must specify the cluster id."),
        (("--host", "no-such-host.invalid"), "no-such-host.invalid"),
    ],
)
def test_serve_tells_a_users_mistake_in_one_line(words: tuple[str, ...], says: str) -> None:
    done = subprocess.run(command("serve", "--port", "0", *words), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr


def cluster_id(line: str) -> str:
    """The id of a cluster that has said that it is ready."""
    port = int(line.strip().rpartition(":")[2])
    with WireClient("127.0.0.1", port) as client:
        found: str = client.request(DescribeClusterRequest(), 1).cluster_id
        return found


def test_a_new_cluster_has_the_id_that_it_is_given(tmp_path: Path) -> None:
    for where in ((), ("--data-dir", str(tmp_path)), ("--data-dir", str(tmp_path))):
        with serving("--cluster-id", "b2RyYWRlay10ZXN0cy0wMQ", *where) as (process, line):
            assert cluster_id(line) == "b2RyYWRlay10ZXN0cy0wMQ"
            process.terminate()
            process.wait(timeout=60)
    words = ("serve", "--port", "0", "--cluster-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--data-dir", str(tmp_path))
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=120)
    says = f"Invalid cluster.id in: {tmp_path / 'meta.properties'}. Expected AAAAAAAAAAAAAAAAAAAAAQ, but read b2RyYW"
    assert (done.returncode, says in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr
    with serving("--data-dir", str(tmp_path)) as (_, line):
        assert cluster_id(line) == "b2RyYWRlay10ZXN0cy0wMQ"


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(command("serve", "--port", str(port)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"odradek serve: cannot listen on 127.0.0.1:{port}: Address already in use; --port 0 takes any free one\n"
    )


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
def test_serve_options_that_are_wrong_are_refused(
    words: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *words])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert words[0] in told
    assert says in told


def test_a_config_file_says_where_to_listen(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(
        "listeners=A://127.0.0.1:0,B://127.0.0.1:0\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\n"
        "inter.broker.listener.name=A\njmx.port=9101\n"
    )
    process = subprocess.Popen(
        command("serve", "--config-file", str(file), "--config", "inter.broker.listener.name=B"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert re.fullmatch(r"odradek ready on B://127\.0\.0\.1:\d+,A://127\.0\.0\.1:\d+\n", line)
    assert "config 'jmx.port' is unknown and has no effect" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("listeners=A://:0", "No security protocol defined for listener A"),
        ("listeners=PLAINTEXT://:0", "listeners says where to listen: give no --host and --port beside it"),
        ("num.partitions=x", "Not a number of type INT"),
        (None, "server.properties: No such file or directory"),
    ],
)
def test_a_config_file_that_does_not_fit(tmp_path: Path, text: str | None, says: str) -> None:
    file = tmp_path / "server.properties"
    if text is not None:
        file.write_text(text)
    words = command("serve", "--port", "0", "--config-file", str(file))
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr


def test_a_node_has_configs_of_its_own() -> None:
    with serving("--nodes", "2", "--node-config", "2:broker.rack=b") as (_, line):
        with WireClient.at(line.split()[-1]) as client:
            told = client.request(DescribeClusterRequest())
        assert [node.rack for node in told.brokers] == [None, "b"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("broker.rack=b", "--node-config broker.rack=b: expected NODE:KEY=VALUE"),
        ("2:broker.rack=b", "node 2 has a configuration, but the nodes are 1"),
    ],
)
def test_a_config_of_a_node_that_does_not_fit(text: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--node-config", text]) == 2
    assert says in capsys.readouterr().err


def test_help_names_what_people_look_for() -> None:
    done = subprocess.run(command("serve", "--help"), capture_output=True, text=True, timeout=120)
    for word in ("advertised.listeners", "node.id", "--config-file"):
        assert word in done.stdout


def test_the_control_api_is_served_where_it_is_asked_for() -> None:
    with serving("--topic", "orders:3", "--control-port", "0", "--control-token", "t") as (process, line):
        found = re.fullmatch(r"odradek control on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, line
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready.startswith("odradek ready on ")
        assert ask(found[1], "GET", "/v1/groups")[0] == 401
        topics = ask(found[1], "GET", "/v1/topics", Authorization="Bearer t")[1]
        assert len(topics["orders"]["partitions"]) == 3
        ask(found[1], "POST", "/v1/clock/freeze", Authorization="Bearer t")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert (out, err) == ("", "")


@pytest.mark.parametrize(("words", "kept"), [((), True), (("--no-transcript",), False)])
def test_the_transcript_can_be_switched_off(words: tuple[str, ...], kept: bool) -> None:
    with serving("--control-port", "0", *words) as (process, line):
        assert process.stdout is not None
        with WireClient.at(process.stdout.readline().removeprefix("odradek ready on ")) as client:
            client.request(ApiVersionsRequest("test", "1"), 3)
        (asked,) = ask(line.split()[-1], "GET", "/v1/requests")[1]
    assert (asked.get("request") is not None) is kept, asked


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--control-host", "0.0.0.0"), "others can reach 0.0.0.0: a control API that is not local needs a token"),
        (("--control-token", ""), "a token is printable ASCII text, and not empty"),
    ],
)
def test_a_control_api_that_cannot_be_is_refused(words: tuple[str, ...], says: str) -> None:
    done = subprocess.run(
        command("serve", "--port", "0", "--control-port", "0", *words), capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"odradek serve: {says}\n"


def test_a_schema_registry_beside_the_broker() -> None:
    with serving("--registry-port", "0") as (process, line):
        found = re.fullmatch(r"odradek schema registry on (http://127\.0\.0\.1:\d+)\n", line)
        assert found, line
        assert process.stdout is not None
        assert process.stdout.readline().startswith("odradek ready on ")
        assert ask(found[1], "POST", "/subjects/s/versions", {"schema": '"int"'}) == (200, {"id": 1})
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_registry_for_others_needs_a_token() -> None:
    done = subprocess.run(
        command("serve", "--registry-port", "0", "--registry-host", "0.0.0.0"), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "others can reach 0.0.0.0: a schema registry that is not local needs a token" in done.stderr


def test_the_environment_publishes_registry_and_control_api_with_a_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ODRADEK_REGISTRY_PORT", "8081")
    monkeypatch.setenv("ODRADEK_CONTROL_PORT", "9090")
    monkeypatch.setenv("ODRADEK_CONTROL_TOKEN", "given")
    parser = CommandParser()
    serve.add_arguments(parser)
    arguments = parser.parse_args(["--from-env"])
    assert serve._environment(arguments) is not None
    assert (arguments.control_host, arguments.control_port, arguments.control_token) == ("0.0.0.0", 9090, "given")
    assert (arguments.registry_host, arguments.registry_port) == ("0.0.0.0", 8081)
    [token] = re.findall(r"^odradek registry token (\S{20,})$", capsys.readouterr().out, re.MULTILINE)
    assert arguments.registry_token == token
