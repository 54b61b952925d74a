"""The hints are provoked in `test_hints`; here is what they leave out."""

from __future__ import annotations

from odradek.broker.facade.report.hints_of_protocols import is_wrong_protocol, unserved_versions, wrong_protocols
from odradek.broker.facade.report.situation import Situation
from odradek.broker.requests.unserved import Unserved
from odradek.broker.security.denials import Denial

WRONG_PASSWORD = Denial(
    0, "User:alice", "127.0.0.1", "LOGIN", "LISTENER", "SASL", "SaslAuthenticate", "SASL", "Invalid username"
)


def test_of_nothing_there_is_nothing_to_say() -> None:
    empty = Situation(topics={}, groups={}, denied=(WRONG_PASSWORD,))
    assert not is_wrong_protocol(WRONG_PASSWORD)
    assert [*wrong_protocols(empty), *unserved_versions(empty)] == []


def test_a_client_id_writes_no_lines_of_its_own() -> None:
    asked = Unserved(0, "a\nb", "127.0.0.1", "Fetch", 0, "4 to 18")
    (told,) = unserved_versions(Situation(topics={}, groups={}, unserved=(asked,)))
    assert "\n" not in told
    assert "a\\nb" in told
