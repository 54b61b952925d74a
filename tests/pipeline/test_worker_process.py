from __future__ import annotations

import gc

import pytest


@pytest.mark.parametrize(("in_task", "frozen"), [(True, 1), (False, 0)])
def test_a_worker_freezes_what_it_imported_once(monkeypatch: pytest.MonkeyPatch, in_task: bool, frozen: int) -> None:
    pyspark = pytest.importorskip("pyspark")
    from odradek.pipeline.worker_process import spare_imports

    calls: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(1))
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: object() if in_task else None)
    spare_imports.cache_clear()
    spare_imports()
    spare_imports()
    assert len(calls) == frozen
    spare_imports.cache_clear()
