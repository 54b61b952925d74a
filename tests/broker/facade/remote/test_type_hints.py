"""The types behind annotations."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping

import pytest

from odradek.broker.facade.broker import Broker
from odradek.broker.facade.generated.blocking.nodes import NodeVerbs
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import OffsetInfo, StreamsGroupInfo
from odradek.broker.facade.overview import Overview
from odradek.broker.facade.remote.type_hints import hints_of
from odradek.broker.facade.transactions import TransactionInfo


def test_arguments_and_results_are_types() -> None:
    assert hints_of(NodeVerbs.kill_node) == {"node_id": int, "return": Undo}


def test_names_for_type_checkers_alone_are_found() -> None:
    transactions = inspect.getattr_static(Broker, "transactions")
    assert hints_of(transactions.fget) == {"return": dict[str, TransactionInfo]}


def test_fields_of_base_classes_are_known_too() -> None:
    assert hints_of(StreamsGroupInfo)["offsets"] == Mapping[tuple[str, int], OffsetInfo]


def test_a_module_that_was_dropped_is_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, Overview.__module__)  # as pytester does with what a run inside of a run imported
    assert hints_of.__wrapped__(Overview)["frozen"] is bool
