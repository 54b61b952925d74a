"""The table of commands and how their options are read."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import odradek
from odradek.client_security.options import ClientSecurity
from odradek.tools.options import COMMANDS, Options, ToolError, connect, parse
from tests.frontdoor.tools.running import run


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_function(name: str) -> None:
    module, _, function = COMMANDS[name].function.partition(":")
    assert callable(getattr(import_module(f"odradek.tools.{module}"), function))


def test_options_are_read_as_kafkas_parser_reads_them() -> None:
    read = parse(
        "kafka-topics", ["--create", "--topic=orders", "--part", "3", "--config", "a=1", "--config", "b=2", "x"]
    )
    assert read.given == {"create": [], "topic": ["orders"], "partitions": ["3"], "config": ["a=1", "b=2"]}
    assert read.words == ["x"]
    assert read.number("partitions") == 3
    assert read.pairs("config") == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kafka-topics --nope", "nope is not a recognized option\nThis kafka-topics is odradek's. It knows --alter "),
        ("kafka-topics --topic", "Option topic requires an argument"),
        ("kafka-topics --list", "--bootstrap-server must be specified"),
        ("kafka-topics --list --bootstrap-server nowhere", "bootstrap servers: 'nowhere' is not host:port"),
        ("kafka-topics --topic x", "Command must include exactly one action: --list, --describe, --create"),
        ("kafka-console-producer --bootstrap-server a:1", 'Missing required argument "[topic]"'),
        ("kafka-console-consumer --topic a", 'Missing required argument "[bootstrap-server]"'),
        ("kafka-broker-api-versions --bootstrap-server 127.0.0.1:1", "Timed out waiting for a node assignment"),
        ("kafka-topics --list --bootstrap-server a:1 --command-config /none", "Error: /none: No such file"),
    ],
)
def test_tool_options_that_cannot_be_are_refused_by_name(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 1
    assert capsys.readouterr().err.startswith(said)


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("kafka-mirror-maker.sh")
    assert "no command kafka-mirror-maker; there are kafka-topics, " in capsys.readouterr().err


def test_version_and_help_need_no_broker(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("kafka-topics.sh --version") == 0
    assert run("kafka-topics --help") == 0
    version, *lines = capsys.readouterr().out.splitlines()
    assert version == "4.4.0"
    assert {"  --if-not-exists", "  --topic VALUE"} <= set(lines)
    assert run("nc --help") == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["  -v", "  -w VALUE", "  -z"]


def test_a_command_says_at_once_that_it_waits(capsys: pytest.CaptureFixture[str]) -> None:
    options = parse("kafka-topics", ["--list", "--bootstrap-server", "127.0.0.1:1"])
    with pytest.raises(ToolError, match="Timed out waiting for a node assignment"):
        connect(options, ClientSecurity(), patience_s=0.01)
    assert capsys.readouterr().err == "No node answers at 127.0.0.1:1 yet; waiting up to 0.01 s.\n"


def test_numbers_and_pairs_must_be_such() -> None:
    with pytest.raises(ToolError, match="Cannot parse argument 'x' of option partitions"):
        Options("kafka-topics", {"partitions": ["x"]}).number("partitions")
    with pytest.raises(ToolError, match="Invalid command line properties: x"):
        Options("kafka-topics", {"config": ["x"]}).pairs("config")


@pytest.mark.long
def test_a_command_logs_in_with_the_options_of_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule "
        'required user_alice="secret";',
    }
    file = tmp_path / "client.properties"
    with odradek.KafkaBroker(config=config) as broker:
        for password, status in (("secret", 0), ("wrong", 1)):
            file.write_text(
                "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
                "org.apache.kafka.common.security.plain.PlainLoginModule required "
                f'username="alice" password="{password}";\n'
            )
            words = f"kafka-topics --bootstrap-server {broker.bootstrap_servers} --list --command-config {file}"
            assert run(words) == status
    assert "Authentication failed" in capsys.readouterr().err
