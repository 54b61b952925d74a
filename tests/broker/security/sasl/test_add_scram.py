"""Users as kafka-storage takes them. The keys are what `kafka-storage format` of Kafka 4.3.1 wrote."""

from __future__ import annotations

import pytest

from odradek.broker.security.sasl.add_scram import scram_record


def signed(numbers: str) -> bytes:
    """Bytes as Java prints them."""
    return bytes(int(number) % 256 for number in numbers.split(", "))


def test_a_user_with_a_password() -> None:
    record = scram_record('SCRAM-SHA-256=[name=alice,salt="c2FsdA==",iterations=8192,password=pencil]')
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("alice", 1, b"salt", 8192)
    assert record.stored_key == signed(
        "-107, 69, -101, -80, -60, -95, 117, -33, 35, -69, -122, 94, -2, -71, -15, 56, 111, -84, -50, 123, 61, -35, "
        "-41, 54, -84, -57, 68, -109, 104, 89, -106, -36"
    )
    assert record.server_key == signed(
        "-34, 125, 51, -126, 102, -48, 50, 60, 108, 99, -114, -21, -64, 26, -105, -94, 2, -51, 13, -1, 55, 67, 81, "
        "-33, -100, -79, 35, 48, -35, -128, -34, -10"
    )


def test_a_user_with_a_salted_password() -> None:
    record = scram_record(' SCRAM-SHA-512=[name="b c",salt=c2FsdA==,saltedpassword=cGFzc3dvcmQ=] ')
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("b c", 2, b"salt", 4096)
    assert record.stored_key[:8] == signed("-66, -57, -118, 35, 17, 104, 78, -47")
    assert record.server_key[:8] == signed("59, 106, -72, -70, 20, 10, -27, 5")
    assert len(record.stored_key) == len(record.server_key) == 64


def test_without_a_salt_it_is_random() -> None:
    one, other = (scram_record("SCRAM-SHA-256=[name=alice,password=pencil]") for _ in range(2))
    assert one.salt != other.salt
    assert len(one.salt) == 16


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("topsecret", "no '='"),
        ("SCRAM-SHA-1=[name=a,password=topsecret]", "SCRAM-SHA-1 is not supported"),
        ("SCRAM-SHA-256=name=a,password=topsecret]", r"stands in \[ and \]"),
        ("SCRAM-SHA-256=[name=a,password=topsecret", r"stands in \[ and \]"),
        ("SCRAM-SHA-256=[", r"stands in \[ and \]"),
        ("SCRAM-SHA-256=[password=topsecret]", "needs a 'name'"),
        ("SCRAM-SHA-256=[name=a,topsecret]", "has no '='"),
        ("SCRAM-SHA-256=[name=a]", "one of 'password' and 'saltedpassword'"),
        ("SCRAM-SHA-256=[name=a,saltedpassword=dG9wc2VjcmV0]", "needs its 'salt'"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,x=y]", "unknown parts of a SCRAM user: x"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,salt=!]", "'salt' of a SCRAM user is no base64"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,iterations=many]", "are no number"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,iterations=4095]", "are 4096 to 16384"),
        ("SCRAM-SHA-512=[name=a,password=topsecret,iterations=16385]", "are 4096 to 16384"),
    ],
)
def test_what_is_refused_shows_no_secret(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as error:
        scram_record(text)
    assert "topsecret" not in str(error.value)
