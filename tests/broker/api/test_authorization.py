"""The answers to clients with and without rights, against those that a real Kafka gave (tests/scenarios/authorization).

Here a client acts as whom its client id names: the log-in has tests of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.api.generated.index import INDEX
from odradek.broker.api.served import SERVED as SERVED_HANDLERS
from odradek.broker.releases.release import DEFAULT
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Access, ByItem, Serve, Whole
from odradek.broker.security.denials import Denial
from odradek.broker.security.principal import Principal
from odradek.protocol.apis import API_BY_KEY, API_BY_NAME
from tests.fakes.vectors import OTHER, vectors_of
from tests.fakes.wire_client import WireClient
from tests.scenarios import authorization
from tests.scenarios.authorization import CONFIG, Stage, differing, recorded, tell_all
from tests.scenarios.authorization_page import page

ROOT = Path(__file__).parents[3]
SERVED = {API_BY_KEY[key].name for key in INDEX}
# A client of this module's broker has not logged in, and what it asks about tokens is refused whatever its rights.
TOKENS = {"CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken"}
HELD = SERVED - TOKENS
# These ask for a right only to tell what the client may do.
BIT_FIELD = {"DescribeCluster": {("DESCRIBE", "CLUSTER")}, "Metadata": {("DESCRIBE", "CLUSTER")}}
# Where rights only filter a list nobody is told of a refusal.
FILTERED = {"ListGroups", "ListTransactions"}


def acting(guarded: Callable[[Any, Serve], Serve]) -> Callable[[Any, Serve], Serve]:
    """What takes the place of `Access.guarded`: the client is whom it says it is before its rights are looked at."""

    def chosen(access: Access, serve: Serve) -> Serve:
        checked = guarded(access, serve)

        def act(ctx: RequestContext, request: Any) -> Any:
            ctx.connection.principal = Principal("User", ctx.client_id or "nobody")
            return checked(ctx, request)

        return act

    return chosen


@pytest.fixture(params=[DEFAULT, OTHER])
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def users(release: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[KafkaBroker]:
    """A broker whose clients act as the user that their client ids name. There are no delegation tokens."""
    for kind in (Access, Whole, ByItem):
        monkeypatch.setattr(kind, "guarded", acting(kind.guarded))
    monkeypatch.setattr(Stage, "_make_token", lambda stage: None)
    config = {name: value for name, value in CONFIG.items() if not name.startswith(("sasl.", "delegation."))}
    with KafkaBroker(config={**config, "node.id": "0"}, kafka_version=release) as broker:
        yield broker


@pytest.mark.long
def test_requests_with_and_without_rights_are_answered_as_recorded(users: KafkaBroker, release: str) -> None:
    denials = users.cluster.services.denials
    denials.entries = deque()
    told = tell_all(lambda user: WireClient.at(users.bootstrap_servers, client_id=user), lambda row: row.api in HELD)
    kafkas = recorded(vectors_of("authorization", release))
    expected = {key: answers for key, answers in kafkas.items() if key.split(" ")[0] in HELD}
    assert set(told) == set(expected)
    assert differing(told, expected) == {}
    _check_told({key.split(" ")[0] for key in told}, denials.entries)


def _check_told(asked: set[str], denials: Iterable[Denial]) -> None:
    """Of each API that needs a right a refusal is told, and it names one of the rights beside the handler."""
    told: dict[str, set[tuple[str, str]]] = {}
    for denial in denials:
        told.setdefault(denial.api, set()).add((denial.operation, denial.resource_type))
        assert denial.principal.startswith("User:az")
        assert denial.resource_name or denial.resource_type in ("GROUP", "TRANSACTIONAL_ID")
    for api in asked:
        handler = SERVED_HANDLERS.find(API_BY_NAME[api].key)
        assert handler is not None
        declared = {(operation.name, resource.name) for operation, resource in handler.access.needs}
        refused = told.get(api, set()) - BIT_FIELD.get(api, set())
        assert refused <= declared, api
        assert bool(refused) == bool(declared and api not in FILTERED), api


def test_the_page_tells_what_was_recorded() -> None:
    """`make pages` writes it."""
    assert (ROOT / "docs" / "authorization.md").read_text() == page(recorded(vectors_of("authorization")))


def test_users_are_those_of_the_recording() -> None:
    assert len(authorization.users()) > 100
