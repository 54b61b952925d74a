"""Security options, and JAAS configurations in them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest

from odradek.client_security.options import (
    PLAIN_TEXT,
    ClientSecurity,
    SaslOptions,
    SecurityOptionError,
    TlsOptions,
    parse_jaas,
    security_options,
)

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_a_module_with_quoted_and_bare_values() -> None:
    module = parse_jaas(f'{PLAIN} required username="al ice" password=\'a"b;c\' useKeyTab=true;')
    assert module.name == PLAIN
    assert module.options == {"username": "al ice", "password": 'a"b;c', "useKeyTab": "true"}


def test_escapes_line_breaks_and_comments() -> None:
    module = parse_jaas('a.B required // first\n  x="a\\"b\\\\c" /* second\n line */\n y="";')
    assert module.options == {"x": 'a"b\\c', "y": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.B required",
        'a.B required password="hush"',
        'a.B password="hush";',
        'a.B required password "hush";',
        "a.B required password=;",
        'a.B required password="hush;',
        "a.B required password=hu$sh%;",
        'a.B required password="hush"; c.D required;',
        'a.B required ="hush";',
    ],
)
def test_what_is_no_login_module_is_refused_without_its_secrets(text: str) -> None:
    with pytest.raises(SecurityOptionError, match=r"^sasl\.jaas\.config cannot be read: ") as caught:
        parse_jaas(text)
    assert "hush" not in str(caught.value)


def test_nothing_given_is_plain_text() -> None:
    assert ClientSecurity.parse({}) == PLAIN_TEXT
    assert ClientSecurity.parse({"ssl.ca.location": "/ca.pem"}) == PLAIN_TEXT


def test_librdkafkas_and_javas_names_mean_the_same() -> None:
    librdkafka = {"security.protocol": "sasl_ssl", "sasl.mechanisms": "PLAIN", "ssl.ca.location": "/ca.pem"}
    librdkafka |= {"sasl.username": "alice", "sasl.password": "hush"}
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="hush";'
    java = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "ssl.truststore.location": "/ca.pem"}
    java |= {"sasl.jaas.config": jaas, "ssl.truststore.type": "PEM"}
    expected = ClientSecurity(
        "SASL_SSL",
        TlsOptions(ca_location="/ca.pem"),
        SaslOptions("PLAIN", {"username": "alice", "password": "hush"}),
    )
    assert ClientSecurity.parse(librdkafka) == ClientSecurity.parse(java) == expected


@pytest.mark.parametrize("text", ["none", "", " None "])
def test_host_names_need_not_count(text: str) -> None:
    options = {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": text}
    assert ClientSecurity.parse(options).tls == TlsOptions(check_hostname=False)
    unverified = {"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"}
    assert ClientSecurity.parse(unverified).tls == TlsOptions(verify=False, check_hostname=False)


def test_secrets_are_in_no_repr_and_survive_a_pickle() -> None:
    options = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "alice",
        "sasl.password": "hush-1",
        "ssl.key.password": "hush-2",
        "ssl.key.pem": "hush-3",
        "ssl.certificate.pem": "a certificate",
        "ssl.keystore.password": "hush-4",
        "ssl.truststore.password": "hush-5",
        "sasl.oauthbearer.token": "hush-6",
    }
    security = ClientSecurity.parse(options)
    assert "hush" not in repr(security)
    assert pickle.loads(pickle.dumps(security)) == security


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"security.protocol": "TLS"}, "security.protocol: 'TLS' is not one of PLAINTEXT, SSL"),
        ({"sasl.pasword": "hush"}, "unknown security option sasl.pasword"),
        ({"ssl.endpoint.identification.algorithm": "ldap"}, "neither https nor none"),
        ({"ssl.enabled.protocols": "TLSv1.2,SSLv3"}, "'SSLv3' is not one of"),
        ({"ssl.truststore.type": "BKS"}, "'BKS' is not one of JKS, PKCS12, PEM"),
        ({"ssl.certificate.location": "/c.pem"}, "needs its key"),
        ({"ssl.ca.location": "/a", "ssl.truststore.location": "/b"}, "mean the same"),
        ({"enable.ssl.certificate.verification": "maybe"}, "true or false"),
    ],
)
def test_client_tls_options_that_are_wrong_are_refused(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(SecurityOptionError, match=message) as caught:
        ClientSecurity.parse({"security.protocol": "SSL"} | dict(options))
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sasl.mechanism": "CRAM-MD5"}, "'CRAM-MD5' is not one of"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "alice"}, "PLAIN needs sasl.password"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "a\0b", "sasl.password": "hush"}, "NUL"),
        ({"sasl.mechanism": "PLAIN", "sasl.jaas.config": 'x.ScramLoginModule required a="hush";'}, "does not log in"),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.login.callback.handler.class": "a.B"}, "a.B is a class of Java's"),
    ],
)
def test_client_sasl_options_that_are_wrong_are_refused(options: Mapping[str, str], message: str) -> None:
    with pytest.raises(SecurityOptionError, match=message) as caught:
        ClientSecurity.parse({"security.protocol": "SASL_PLAINTEXT"} | dict(options))
    assert "hush" not in str(caught.value)


def test_security_options_are_found_among_others() -> None:
    given = {"kafka.security.protocol": "SSL", "kafka.bootstrap.servers": "a:1", "kafka.ssl.ca.location": "/ca"}
    assert security_options(given, "kafka.") == {"security.protocol": "SSL", "ssl.ca.location": "/ca"}
    assert security_options({"sasl.username": "a", "acks": "all"}) == {"sasl.username": "a"}
