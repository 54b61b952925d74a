"""`kafka_chaos`, the report of schedules and the search for the faults that matter, by running pytest inside pytest."""

from __future__ import annotations

import pytest

# Imported here, as pytester forgets what is imported in its runs: the schedules that ran would be in another module.
import odradek.broker.facade.chaos.chaos

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.long

PRELUDE = """
import pytest
import odradek

NODES = pytest.mark.kafka(nodes=3, topics={"orders": {"partitions": 2, "replication_factor": 3}})

def through(chaos, broker):
    for _ in range(61):
        chaos.step(broker)
"""


assert odradek.Chaos is odradek.broker.facade.chaos.chaos.Chaos


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(PRELUDE + source)
    return pytester.runpytest("-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def test_the_fixture_is_made_as_the_marker_says(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@NODES
@pytest.mark.kafka_chaos(seed=7, kinds=["kill_node"], faults=3)
def test_marked(kafka_broker, kafka_chaos):
    through(kafka_chaos, kafka_broker)
    assert kafka_chaos.seed == 7
    assert {fault.verb for fault in kafka_chaos.schedule} == {"kill_node"}

def test_unmarked(kafka_chaos):
    assert kafka_chaos.seed == 0
""",
    )
    result.assert_outcomes(passed=2)


SEEDS = """
@pytest.mark.kafka_chaos(seeds={seeds})
def test_seeds(kafka_chaos):
    print("seed", kafka_chaos.seed, "runs")
"""


@pytest.mark.parametrize(
    ("seeds", "arguments", "expected"),
    [
        ("3", (), ["0", "1", "2"]),
        ("[5, 9]", (), ["5", "9"]),
        ("3", ("--kafka-chaos-seed", "17"), ["17"]),
    ],
)
def test_a_test_runs_with_each_of_its_seeds_or_the_one_of_the_command_line(
    pytester: pytest.Pytester, seeds: str, arguments: tuple[str, ...], expected: list[str]
) -> None:
    result = run(pytester, SEEDS.format(seeds=seeds), "-s", *arguments)

    result.assert_outcomes(passed=len(expected))
    assert [line.split()[1].lstrip(".") for line in result.outlines if " runs" in line] == expected


def test_the_id_of_a_test_shows_its_seed(pytester: pytest.Pytester) -> None:
    run(pytester, SEEDS.format(seeds="2"), "-vv").stdout.fnmatch_lines(["*test_seeds?seed0?*", "*test_seeds?seed1?*"])


def test_a_marker_without_names_is_refused(pytester: pytest.Pytester) -> None:
    source = "@pytest.mark.kafka_chaos(7)\ndef test_it(kafka_chaos): pass\n"
    assert "takes keyword arguments only" in run(pytester, source).stderr.str()


FAILING = """
DONE = []

def boom(broker):
    # Fails when node 2 is down while the link between 1 and 3 is cut.
    up = [node.id for node in broker.cluster.up_nodes()]
    return 2 not in up and frozenset((1, 3)) in broker.cluster.replicator.cuts

@NODES
@pytest.mark.kafka_chaos(seed=7)
def test_fails(kafka_broker):
    first = odradek.Chaos.replay([
        "1 kill_node(3) for 2", "4 kill_node(2) for 9", "5 pause_replication('orders', 0, 1) for 1", "6 advance(2.0)",
        "7 cut(1, 2) for 2",
    ])
    second = odradek.Chaos.replay(["2 cut(2, 3) for 1", "6 cut(1, 3) for 3", "9 delay('Fetch', 5) for 2"])
    for _ in range(12):
        first.step(kafka_broker)
        second.step(kafka_broker)
        assert not boom(kafka_broker)
"""


def test_a_failure_shows_the_schedules_that_ran(pytester: pytest.Pytester) -> None:
    result = run(pytester, FAILING)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*chaos schedule*",
            "a given schedule",
            "#1 *1.000 kill_node(3) for 2.000",
            "#2 *4.000 kill_node(2) for 9.000",
            "done until the test failed:",
            "*1.000 kill_node(3)",
            "*chaos schedule*",
            "#2 *6.000 cut(1, 3) for 3.000",
        ]
    )
    assert "the chaos that matters" not in result.stdout.str()


def test_the_faults_that_matter_are_found_and_can_be_repeated(pytester: pytest.Pytester) -> None:
    result = run(pytester, FAILING, "--kafka-chaos-shrink")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the chaos that matters*", "2 of 8 faults, found in * runs; to repeat them:"])
    shown = result.stdout.str().partition("to repeat them:")[2]
    assert '"#2      4.000 kill_node(2) for 9.000",' in shown
    assert '"#2      6.000 cut(1, 3) for 3.000",' in shown
    assert "advance" not in shown
    assert "pause" not in shown


def test_faults_of_a_seed_are_found_too(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@NODES
@pytest.mark.kafka_chaos(seed=3)
def test_fails(kafka_broker, kafka_chaos):
    with kafka_chaos.run(kafka_broker):
        kafka_broker.clock.freeze()
        for _ in range(61):
            kafka_broker.clock.advance(1)
            assert 3 in [node.id for node in kafka_broker.cluster.up_nodes()]
""",
        "--kafka-chaos-shrink",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 of * faults, found in *", "# seed 3", '*"#* *_node(3) for *",'])


def test_a_test_that_fails_without_faults_too_is_told(pytester: pytest.Pytester) -> None:
    source = """
@NODES
def test_fails(kafka_broker, kafka_chaos):
    through(kafka_chaos, kafka_broker)
    assert False

@NODES
def test_passes(kafka_broker, kafka_chaos):
    through(kafka_chaos, kafka_broker)

def test_has_none():
    assert False
"""
    result = run(pytester, source, "--kafka-chaos-shrink")
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["none: the test fails with AssertionError without any fault too (1 runs)"])
    assert result.stdout.str().count("the chaos that matters") == 1
