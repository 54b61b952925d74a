"""librdkafka's options as the Java client takes them; tests/pipeline runs Spark's connector with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.client_security import ClientSecurity, SecurityOptionError
from odradek.client_security.java_options import as_java


def test_javas_own_options_stay_as_they_are() -> None:
    java = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": 'a.PlainLoginModule required username="a" password="b";',
        "ssl.truststore.location": "/trust.p12",
        "ssl.truststore.password": "hush",
    }
    assert as_java(java) == java


def test_name_and_password_become_a_login_module() -> None:
    options = {"security.protocol": "sasl_plaintext", "sasl.username": "al", "sasl.password": 'a"b\\c'}
    for mechanism in ("PLAIN", "SCRAM-SHA-512"):
        java = as_java(options | {"sasl.mechanisms": mechanism})
        assert set(java) == {"security.protocol", "sasl.mechanism", "sasl.jaas.config"}
        assert java["security.protocol"] == "SASL_PLAINTEXT"
        assert ClientSecurity.parse(java) == ClientSecurity.parse(options | {"sasl.mechanism": mechanism})


def test_pem_files_become_pem_stores(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("the key")
    certificate = tmp_path / "certificate.pem"
    certificate.write_text("the certificate")
    options = {"security.protocol": "SSL", "ssl.ca.location": "/ca.pem", "ssl.key.location": str(key)}
    java = as_java(
        options | {"ssl.certificate.location": str(certificate), "ssl.endpoint.identification.algorithm": "none"}
    )
    assert java == {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "the certificate",
        "ssl.keystore.key": "the key",
        "ssl.endpoint.identification.algorithm": "",
    }


def test_a_keytab_becomes_a_login_module() -> None:
    options = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": "kafka"}
    jaas = as_java(options | {"sasl.kerberos.keytab": "/a.keytab", "sasl.kerberos.principal": "a@B"})[
        "sasl.jaas.config"
    ]
    assert jaas.startswith("com.sun.security.auth.module.Krb5LoginModule required ")
    for part in ('useKeyTab="true"', 'keyTab="/a.keytab"', 'principal="a@B"'):
        assert part in jaas
    assert 'useTicketCache="true"' in as_java(options)["sasl.jaas.config"]


def test_what_java_cannot_do_is_refused() -> None:
    with pytest.raises(SecurityOptionError, match=r"sasl\.oauthbearer\.token is not an option of the Java client"):
        as_java({"security.protocol": "PLAINTEXT", "sasl.oauthbearer.token": "x"})
    with pytest.raises(SecurityOptionError, match="No such file"):
        as_java({"security.protocol": "PLAINTEXT", "ssl.certificate.location": "/none.pem"})
