"""Names of suites and versions: Java's against what OpenSSL calls them."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.tls.ciphers import (
    TLS13_SUITES,
    check_protocol,
    check_tls13,
    ciphers_of,
    versions_of,
)


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
        ("TLS_DHE_RSA_WITH_AES_256_CBC_SHA256", "DHE-RSA-AES256-SHA256"),
        ("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"),
    ],
)
def test_suites_of_tls_1_2(java: str, openssl: str) -> None:
    assert ciphers_of([java]).tls12 == (openssl,)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl)


def test_names_are_those_of_the_openssl_program() -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the openssl program")
    listed = subprocess.run([program, "ciphers", "-stdname", "ALL"], capture_output=True, text=True, check=True).stdout
    pairs = re.findall(
        r"^(TLS_(?:ECDHE_RSA|ECDHE_ECDSA|DHE_RSA|RSA)_WITH_(?:AES_\d+_(?:GCM|CBC)|CHACHA20_POLY1305)_SHA\d*)\s+- (\S+)",
        listed,
        re.M,
    )
    assert len(pairs) > 10
    for java, openssl in pairs:
        assert ciphers_of([java]).tls12 == (openssl,)


def test_suites_of_tls_1_3_keep_their_names() -> None:
    ciphers = ciphers_of([*TLS13_SUITES, "TLS_EMPTY_RENEGOTIATION_INFO_SCSV"])
    assert ciphers == ((), TLS13_SUITES)


def test_unknown_suites_are_refused() -> None:
    with pytest.raises(ConfigError, match="Unsupported CipherSuite: TLS_FOO_WITH_BAR"):
        ciphers_of(["TLS_FOO_WITH_BAR"])


def test_the_first_choice_of_tls_1_3_must_be_allowed() -> None:
    check_tls13(TLS13_SUITES[:1])
    check_tls13(TLS13_SUITES)
    check_tls13(())
    with pytest.raises(ConfigError, match="TLS_AES_256_GCM_SHA384"):
        check_tls13(TLS13_SUITES[1:])


@pytest.mark.parametrize(
    ("enabled", "versions"),
    [
        ((), ("TLSv1.2", "TLSv1.3")),
        (("TLSv1.3", "TLSv1.2"), ("TLSv1.2", "TLSv1.3")),
        (("TLSv1.3",), ("TLSv1.3",)),
        (("TLSv1", "TLSv1.1", "TLSv1.2"), ("TLSv1.2",)),
    ],
)
def test_versions(enabled: tuple[str, ...], versions: tuple[str, ...]) -> None:
    assert versions_of(enabled) == versions


@pytest.mark.parametrize(
    ("enabled", "words"), [(("TLSv1.4",), "Unsupported protocol: TLSv1.4"), (("TLSv1.1",), "TLSv1.2 and TLSv1.3 only")]
)
def test_versions_that_are_refused(enabled: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        versions_of(enabled)


def test_the_default_protocol_must_be_one_that_java_knows() -> None:
    check_protocol("TLS")
    check_protocol("TLSv1.2")
    with pytest.raises(ConfigError, match="TLSv9 SSLContext not available"):
        check_protocol("TLSv9")
