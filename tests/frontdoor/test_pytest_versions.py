"""`kafka_versions` and `--kafka-version`, by running pytest inside pytest."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.long


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile("import pytest\n" + source)
    return pytester.runpytest("-v", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def test_a_test_runs_once_with_each_version(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka_versions("2.8", "3.6", "4.3")
@pytest.mark.kafka(topics={"orders": 1})
def test_it(kafka_broker, kafka_version):
    assert kafka_broker.cluster.config.release.name == kafka_version
    assert kafka_broker.topics
""",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_it[[]2.8[]]*", "*test_it[[]3.6[]]*", "*test_it[[]4.3[]]*"])


def test_the_option_says_it_for_all_others(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_own(kafka_broker):
    assert kafka_broker.cluster.config.release.name == "3.9"

def test_shared(kafka_broker_session):
    assert kafka_broker_session.cluster.config.release.name == "3.9"

@pytest.mark.kafka(kafka_version="3.3", zookeeper=True)
def test_marked(kafka_broker):
    assert str(kafka_broker.cluster.config.release) == "3.3 (ZooKeeper)"
""",
        "--kafka-version",
        "3.9",
    )
    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("decorated", "why"),
    [
        ("@pytest.mark.kafka_versions()\ndef test_it(kafka_broker): ...", "takes versions as texts"),
        ("@pytest.mark.kafka_versions(3.6)\ndef test_it(kafka_broker): ...", "takes versions as texts"),
        ('@pytest.mark.kafka_versions("3.6")\ndef test_it(): ...', "needs the kafka_broker fixture"),
        (
            '@pytest.mark.kafka_versions("3.6")\n@pytest.mark.kafka(kafka_version="3.9")\n'
            "def test_it(kafka_broker): ...",
            "and @pytest.mark.kafka(kafka_version=...) name different versions",
        ),
    ],
)
def test_a_wrong_marker_is_the_users_mistake(pytester: pytest.Pytester, decorated: str, why: str) -> None:
    result = run(pytester, decorated)
    assert result.ret != 0
    named = f"::test_it: @pytest.mark.kafka_versions {why}"
    assert any(named in line for line in result.outlines + result.errlines)


def test_an_unknown_version_fails_the_test_with_those_there_are(pytester: pytest.Pytester) -> None:
    result = run(pytester, '@pytest.mark.kafka_versions("1.0")\ndef test_it(kafka_broker): ...')
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*does not behave as Kafka '1.0'; it knows 2.8, 3.3,*"])
