"""The collector rests while a serving process imports its modules; it works again afterwards."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest


@pytest.fixture(autouse=True)
def poller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of their own choose theirs: this one's lane makes no difference."""
    monkeypatch.delenv("ODRADEK_FAST", raising=False)


_BEFORE_AND_AFTER = """
import gc, json, weakref
from odradek.broker.fast.collector import YOUNG_OBJECTS, lasting_imports

class Ring:
    def __init__(self):
        self.me = self

collections = []
gc.callbacks.append(lambda phase, about: collections.append(phase))
gc.set_threshold(100)
with lasting_imports():
    collections.clear()
    kept = [[] for _ in range(1000)]
    rested = not collections
    inside = weakref.ref(Ring())
collections.clear()
outside = weakref.ref(Ring())
kept = [[] for _ in range(YOUNG_OBJECTS // 2)]
waits = not collections
kept += [[] for _ in range(YOUNG_OBJECTS)]
works = bool(collections)
gc.collect()
print(json.dumps([rested, waits, works, inside() is not None, outside() is None]))
"""


def test_the_collector_rests_while_modules_are_imported_and_leaves_them_alone_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", _BEFORE_AND_AFTER], capture_output=True, text=True, check=True)
    rested, waits, works, left_alone, collected = json.loads(done.stdout)
    assert rested
    assert waits
    assert works
    assert left_alone
    assert collected


_IN_A_HOST = """
import gc, json, weakref
from odradek.broker.fast.collector import resting

class Ring:
    def __init__(self):
        self.me = self

collections = []
gc.callbacks.append(lambda phase, about: collections.append(phase))
gc.set_threshold(1000)
with resting():
    collections.clear()
    kept = [[] for _ in range(3000)]
    circle = weakref.ref(Ring())
rested = not collections
oldest = {id(each) for each in gc.get_objects(generation=2)}
frozen = gc.get_freeze_count()
gc.collect()
gone = circle() is None
gc.freeze()
count = gc.get_freeze_count()
with resting():
    pass
print(json.dumps([rested, id(kept[-1]) in oldest, frozen, gone, gc.get_freeze_count() >= count, gc.isenabled()]))
"""


def test_what_a_host_imports_waits_for_its_next_full_collection_and_what_it_froze_stays_frozen() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_HOST], capture_output=True, text=True, check=True)
    rested, is_old, frozen, gone, kept_frozen, works = json.loads(done.stdout)
    assert rested
    assert is_old
    assert frozen == 0
    assert gone
    assert kept_frozen
    assert works


_GROWTH = """
import gc, json
from odradek.broker.fast.collector import MOST_OBJECTS, lasting_imports

class Ring:
    def __init__(self):
        self.me = self

looked_at = []

def count(phase, about):
    if phase == "start":
        looked_at.append(sum(len(gc.get_objects(generation)) for generation in range(about["generation"] + 1)))

with lasting_imports():
    pass
gc.callbacks.append(count)
kept = []
for _ in range(10 * MOST_OBJECTS):
    kept.append([])
    Ring()
print(json.dumps([max(looked_at) <= MOST_OBJECTS, len(looked_at) > 10, len(gc.get_objects()) <= MOST_OBJECTS]))
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the collector works in small parts by itself")
def test_no_collection_looks_at_everything_that_lives() -> None:
    done = subprocess.run([sys.executable, "-c", _GROWTH], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [True, True, True]


_FAILING = """
import gc
from odradek.broker.fast.collector import lasting_imports

try:
    with lasting_imports():
        import odradek.there_is_no_such_module
except ImportError:
    print(gc.isenabled())
"""


def test_the_collector_works_again_after_an_import_that_failed() -> None:
    done = subprocess.run([sys.executable, "-c", _FAILING], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_collector_that_is_off_stays_off() -> None:
    from odradek.broker.fast.collector import lasting_imports

    frozen = gc.get_freeze_count()
    gc.disable()
    try:
        with lasting_imports():
            pass
        assert not gc.isenabled()
        assert gc.get_freeze_count() == frozen
    finally:
        gc.enable()


def test_the_plain_lane_leaves_it_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from odradek.broker.fast.collector import lasting_imports

    monkeypatch.setenv("ODRADEK_FAST", "0")
    frozen = gc.get_freeze_count()
    with lasting_imports():
        assert gc.isenabled()
    assert gc.get_freeze_count() == frozen


_SERVE = """
import gc, sys

seen = []

def while_importing(phase, about):
    seen.append("trio" in sys.modules and "odradek.broker.cluster" not in sys.modules)

gc.callbacks.append(while_importing)
from odradek.__main__ import main
status = main(["serve", "--config", "listeners=NONSENSE"])
print(status, any(seen), gc.isenabled(), gc.get_freeze_count() > 10_000)
"""


def test_serve_imports_its_modules_so() -> None:
    done = subprocess.run([sys.executable, "-c", _SERVE], capture_output=True, text=True, check=True)
    assert done.stdout == "2 False True True\n", done.stderr
