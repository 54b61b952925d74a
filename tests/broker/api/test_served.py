"""What the index promises and what the handlers say of themselves are the same."""

from __future__ import annotations

from odradek.broker.api.generated.index import INDEX
from odradek.broker.api.served import ALL
from odradek.protocol.registry import API_BY_KEY


def test_every_entry_of_the_index_has_its_handler() -> None:
    handlers = ALL.all()
    assert list(handlers) == sorted(INDEX)
    for key, (_, low, high, advertised) in INDEX.items():
        handler = handlers[key]
        assert (handler.min_version, handler.max_version, handler.advertised) == (low, high, advertised)
        assert API_BY_KEY[key].min_version <= low <= high <= API_BY_KEY[key].max_version
