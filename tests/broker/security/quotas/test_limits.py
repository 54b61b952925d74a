"""Which quota counts for whom, and who is counted together."""

from __future__ import annotations

import pytest

from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.security.quotas.limits import FETCH, PRODUCE, Limits

ORDER: tuple[QuotaEntity, ...] = (
    (("client-id", "app"), ("user", "alice")),
    (("client-id", None), ("user", "alice")),
    (("user", "alice"),),
    (("client-id", "app"), ("user", None)),
    (("client-id", None), ("user", None)),
    (("user", None),),
    (("client-id", "app"),),
    (("client-id", None),),
)
"""From the most special to the least."""
COUNTED = [("alice", "app"), ("alice", "app"), ("alice", ""), ("alice", "app"), ("alice", "app"), ("alice", "")]
COUNTED += [("", "app"), ("", "app")]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_most_special_counts(first: int) -> None:
    limits = Limits(PRODUCE, {entity: {PRODUCE: float(at)} for at, entity in enumerate(ORDER) if at >= first})
    tags = limits.tags("alice", "app")
    assert tags == COUNTED[first]
    assert limits.limit(tags) == first


@pytest.mark.parametrize("alone", range(len(ORDER)))
def test_each_alone(alone: int) -> None:
    limits = Limits(PRODUCE, {ORDER[alone]: {PRODUCE: 7.0}})
    assert limits
    assert limits.limit(limits.tags("alice", "app")) == 7
    named = dict(ORDER[alone])
    for user, client in (("bob", "app"), ("alice", "other")):
        hit = named.get("user", user) in (user, None) and named.get("client-id", client) in (client, None)
        assert limits.limit(limits.tags(user, client)) == (7 if hit else None)


def test_other_keys_and_addresses_do_not_count() -> None:
    quotas: dict[QuotaEntity, dict[str, float]] = {(("user", "alice"),): {FETCH: 1.0}, (("ip", None),): {PRODUCE: 1.0}}
    assert not Limits(PRODUCE, quotas)
    assert Limits(FETCH, quotas)


def test_a_client_without_an_id_has_no_quota_where_client_ids_matter() -> None:
    by_client = Limits(PRODUCE, {(("client-id", None),): {PRODUCE: 1.0}})
    assert by_client.limit(by_client.tags("alice", None)) is None
    by_user = Limits(PRODUCE, {(("user", "alice"),): {PRODUCE: 1.0}})
    assert by_user.limit(by_user.tags("alice", None)) == 1
    assert by_user.limit(by_user.tags("alice", "")) == 1
