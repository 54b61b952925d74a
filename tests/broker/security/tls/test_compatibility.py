"""Which certificates may take the place of which."""

from __future__ import annotations

import pytest

from odradek.broker.security.tls.compatibility import check_compatible
from odradek.broker.security.tls.entries import KeyEntry, Store, StoreError
from tests.fakes.certificates import Certificate, issued_by, new_authority

AUTHORITY = new_authority("Test CA")
OLD = issued_by(AUTHORITY, "broker", hosts=["a", "b"])


def _store(*certificates: Certificate) -> Store:
    return Store(tuple(KeyEntry(str(number), b"", (each.der,)) for number, each in enumerate(certificates)))


def _check(new: Store, *, dn: bool = False, san: bool = False) -> None:
    check_compatible(new, _store(OLD), allow_dn_changes=dn, allow_san_changes=san)


@pytest.mark.parametrize(
    ("name", "hosts"), [("broker", ["a", "b"]), ("BROKER", ["b", "a"]), ("broker", ["a", "b", "c"])]
)
def test_the_same_names_and_more_are_fine(name: str, hosts: list[str]) -> None:
    _check(_store(issued_by(AUTHORITY, name, hosts=hosts)))


def test_another_name_needs_leave() -> None:
    new = _store(issued_by(AUTHORITY, "other", hosts=["a", "b"]))
    with pytest.raises(
        StoreError,
        match=r"DistinguishedName does not match:  existing={alias=0, DN=CN=broker}, new={alias=0, DN=CN=other}",
    ):
        _check(new)
    _check(new, dn=True)


def test_a_lost_alternative_name_needs_leave() -> None:
    new = _store(issued_by(AUTHORITY, "broker", hosts=["a", "c"]))
    with pytest.raises(StoreError, match="Keystore SubjectAltNames do not match"):
        _check(new)
    _check(new, san=True)


def test_the_number_of_entries_stays() -> None:
    new = _store(OLD, OLD)
    with pytest.raises(StoreError, match="existing store contains 1 entries, new store contains 2 entries"):
        _check(new, dn=True)
    _check(new, dn=True, san=True)
