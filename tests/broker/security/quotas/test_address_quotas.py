"""The rate of new connections from an address. Figures by hand."""

from __future__ import annotations

from math import nan

import pytest

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.quotas.address_quotas import AddressQuotas
from odradek.broker.security.quotas.rate import Window

WINDOW = Window(11, 1000)
NOW_MS = 1_700_000_000_000


def quotas_of(rates: dict[str | None, float], window: Window = WINDOW) -> AddressQuotas:
    quotas = AddressQuotas(window)
    table: dict[QuotaEntity, dict[str, float]] = {
        (("ip", name),): {"connection_creation_rate": rate} for name, rate in rates.items()
    }
    assert quotas.change(table) == bool(rates)
    return quotas


def test_more_than_the_rate_is_kept_waiting_and_does_not_count() -> None:
    quotas = quotas_of({"10.0.0.1": 2.0})
    delays = [quotas.delay_ms(1, "10.0.0.1", NOW_MS) for _ in range(22)]
    assert delays == [0] * 20 + [500, 500], "2.1 a second where 2 may be: (2.1 - 2) / 2 of ten seconds"
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS + 500) == 0, "21 in 10.5 seconds"
    assert quotas.delay_ms(2, "10.0.0.1", NOW_MS) == 0, "another node"
    assert quotas.delay_ms(1, "10.0.0.2", NOW_MS) == 0, "another address"


def test_it_is_kept_a_sample_at_most() -> None:
    quotas = quotas_of({None: 1.0}, Window(2, 1000))
    assert [quotas.delay_ms(1, "10.0.0.1", NOW_MS) for _ in range(3)] == [0, 1000, 1000]
    assert quotas.delay_ms(1, "::1", NOW_MS) == 0


@pytest.mark.parametrize("name", ["127.0.0.1", "127.1", "localhost"])
def test_an_address_has_many_names(name: str) -> None:
    quotas = quotas_of({name: nan, None: 5.0})
    assert 1000 in (quotas.delay_ms(1, "127.0.0.1", NOW_MS), quotas.delay_ms(1, "::1", NOW_MS))
    assert quotas.delay_ms(1, "::ffff:10.0.0.7", NOW_MS) == 0


def test_what_is_no_quota_of_addresses_does_not_count() -> None:
    quotas = quotas_of({})
    assert not quotas.change({(("user", "a"),): {"connection_creation_rate": 1.0}, (("ip", None),): {"other": 1.0}})
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS) == 0
    assert quotas.change({(("ip", None),): {"connection_creation_rate": 1e12}})
    assert quotas.delay_ms(1, "10.0.0.1", NOW_MS) == 0
