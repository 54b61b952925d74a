"""`--client-config`: Java's properties files for odradek's own commands."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from odradek.client_security.options import PLAIN_TEXT, SecurityOptionError
from odradek.commands import add_client_config, client_options, client_security

PROPERTIES = """\
# as for kafka-topics --command-config
bootstrap.servers=broker:9093
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-256
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
  username="alice" password="hush";
ssl.truststore.type=PEM
ssl.truststore.location=/ca.pem
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "client.properties"
    path.write_text(PROPERTIES)
    return path


def test_the_option_is_a_path() -> None:
    parser = argparse.ArgumentParser()
    add_client_config(parser)
    assert parser.parse_args(["--client-config", "a.properties"]).client_config == Path("a.properties")
    assert parser.parse_args([]).client_config is None


def test_without_a_file_nothing_is_set() -> None:
    assert client_options(None) == {}
    assert client_security(None) == PLAIN_TEXT


def test_security_options_count_and_others_are_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    security = client_security(file)
    assert security.sasl is not None
    assert dict(security.sasl.module) == {"username": "alice", "password": "hush"}
    assert "only security options count here, not bootstrap.servers" in capsys.readouterr().err


def test_client_config_files_that_are_malformed_are_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(SecurityOptionError, match="No such file"):
        client_options(tmp_path / "none")
    file.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.password=hush\n")
    with pytest.raises(SecurityOptionError, match=r"PLAIN needs sasl\.username"):
        client_options(file)
    file.write_text("sasl.password=\\u12\n")
    with pytest.raises(SecurityOptionError, match=r"client\.properties: Malformed"):
        client_options(file)
