"""What the index promises and what the handlers say of themselves are the same."""

from __future__ import annotations

from odradek.broker.api.generated.index import INDEX
from odradek.broker.api.served import ALL, handlers_of
from odradek.broker.releases.release import release_of
from odradek.protocol.apis import API_BY_KEY


def test_every_entry_of_the_index_has_its_handler() -> None:
    handlers = ALL.all()
    assert list(handlers) == sorted(INDEX)
    for key, (_, low, high) in INDEX.items():
        handler = handlers[key]
        assert (handler.min_version, handler.max_version) == (low, high)
        assert API_BY_KEY[key].request.MIN_VERSION <= low <= high <= API_BY_KEY[key].request.MAX_VERSION


def test_unstable_versions_are_served_where_they_are_asked_for() -> None:
    init_producer_id = 22
    assert handlers_of(release_of()).advertised()[init_producer_id] == (0, 5)
    unstable = handlers_of(release_of(), unstable=True).advertised()
    assert unstable.pop(init_producer_id) == (0, 6)
    stable = handlers_of(release_of()).advertised()
    del stable[init_producer_id]
    assert unstable == stable
