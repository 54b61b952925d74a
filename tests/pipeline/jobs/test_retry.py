"""The retry pipeline on Spark, with hours passing on the broker's clock."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.__main__ import main
from odradek.broker.faults.fault import FaultContext
from odradek.client_security.options import security_options
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.jobs.state_folder import StateFolder
from tests.pipeline.test_session import PATIENCE_S

MINUTE = 60_000
POLICY = RetryPolicy()
DELAYS_MIN = [5, 5, 30, 30, 30, 60]
TOPICS = {name: {"partitions": 1, "config": {"message.timestamp.type": "LogAppendTime"}} for name in POLICY.all_topics}


class Running:
    """A retry job that runs, with what its batches reported."""

    def __init__(self, spark: Any, broker: odradek.KafkaBroker, folder: Path, handler: Any, **options: Any) -> None:
        from odradek.pipeline.jobs.retry import RetryJob

        self.reports: list[Any] = []
        self.clock = broker.clock
        self.on_batch: Callable[[Any], None] = self.reports.append
        options = {"policy": POLICY, "poll_interval": "100 milliseconds", **options}
        self.job = RetryJob(
            broker.bootstrap_servers,
            str(folder),
            handler,
            now_ms=broker.clock.now_ms,
            on_batch=lambda report: self.on_batch(report),
            **options,
        )
        self.query = self.job.start(spark)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.query.stop()

    def wait(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            if not self.query.isActive:
                raise AssertionError(f"the query ended: {self.query.exception()}")
            assert time.monotonic() < deadline, self.reports[-5:]
            time.sleep(0.02)

    def wait_batches(self, count: int) -> None:
        """Wait until that many batches have begun after now and ended."""
        until = (self.reports[-1].batch if self.reports else -1) + 1 + count
        self.wait(lambda: bool(self.reports) and self.reports[-1].batch >= until)


def send(broker: odradek.KafkaBroker, *values: str, topic: str = "main_topic", key: str | None = None) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for value in values:
        producer.produce(
            topic, key=key or f"key of {value}", value=value, headers=[("trace", b"\xff\x00"), ("null", None)]
        )
    assert producer.flush(30) == 0


def stored(broker: odradek.KafkaBroker, *topics: str) -> list[Any]:
    """What readers of committed records see."""
    return [record for topic in topics for record in broker.records(topic, isolation="read_committed")]


def text_of(record: Any, header: str) -> str | None:
    value = dict(record.headers).get(header)
    return None if value is None else value.decode()


def failing(message: Any) -> None:
    if message.value.startswith(b"bad"):
        raise ValueError(f"attempt {message.retry_number} of {message.value.decode()}")


def has_attempt(broker: odradek.KafkaBroker, topic: str, number: int) -> bool:
    """Whether the topic has a message that failed ``number`` times."""
    return any(text_of(record, "retry_number") == str(number) for record in stored(broker, topic))


def is_transactional(_: FaultContext, request: Any) -> bool:
    return request.transactional_id is not None


@pytest.mark.kafka(topics=TOPICS)
def test_the_whole_journey_of_two_hours_and_forty_minutes(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    send(kafka_broker, "bad", "good")
    began_s, began = time.monotonic(), kafka_broker.clock.now_ms()
    waited = 0
    with Running(spark, kafka_broker, tmp_path, failing) as running:
        for number, minutes in enumerate(DELAYS_MIN, 1):
            topic = POLICY.after_failure(number - 1).topic  # type: ignore[union-attr]
            running.wait(partial(has_attempt, kafka_broker, topic, number))
            waited += minutes
            running.wait_batches(1)  # it is parked now, and not processed before its time
            assert sum(sum(each.failed.values()) for each in running.reports) == number
            kafka_broker.clock.advance(minutes=minutes)
        running.wait(lambda: bool(stored(kafka_broker, "failed_topic")))
        running.wait_batches(1)
        assert sum(each.due for each in running.reports) == 8  # the good one, and seven attempts at the bad one
        reports = [each for each in running.reports if each.failed]
    assert waited == 160
    assert reports[1].errors == {"retry_5m_topic": ("main_topic/0/0", "ValueError: attempt 1 of bad")}
    assert [list(each.failed) for each in reports] == [
        ["retry_5m_topic"],
        ["retry_5m_topic"],
        ["retry_30m_topic"],
        ["retry_30m_topic"],
        ["retry_30m_topic"],
        ["retry_1h_topic"],
        ["failed_topic"],
    ]
    attempts = sorted(stored(kafka_broker, *POLICY.retry_topics), key=lambda each: text_of(each, "retry_number") or "")
    assert [text_of(each, "retry_number") for each in attempts] == ["1", "2", "3", "4", "5", "6"]
    due = [int(text_of(each, "retry_timestamp") or 0) for each in attempts]
    assert due == [each.now_ms + n * MINUTE for each, n in zip(reports, DELAYS_MIN, strict=False)]
    assert all(after.now_ms >= then for after, then in zip(reports[1:], due, strict=True))
    passed_ms = 1000 * (time.monotonic() - began_s) + 1  # by itself the clock moved no further than that
    assert 160 * MINUTE <= reports[-1].now_ms - began <= 160 * MINUTE + passed_ms
    (failed,) = stored(kafka_broker, "failed_topic")
    assert (failed.key, failed.value) == (b"key of bad", b"bad")
    assert failed.headers[:2] == (("trace", b"\xff\x00"), ("null", None))
    assert text_of(failed, "retry_error") == "ValueError: attempt 6 of bad"
    assert text_of(failed, "retry_origin") == text_of(attempts[0], "retry_origin")
    assert failed.timestamp >= due[-1]


@pytest.mark.kafka(topics=TOPICS)
def test_a_message_that_waits_holds_up_nobody(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    now = kafka_broker.clock.now_ms()
    producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers})
    for due, value in [(now + 50 * MINUTE, "bad late"), (now - 1, "bad due"), (now + 9 * MINUTE, "bad soon")]:
        headers: list[tuple[str, str | bytes | None]] = [("retry_number", b"3"), ("retry_timestamp", str(due).encode())]
        producer.produce("retry_30m_topic", value=value, headers=headers, partition=0)
    assert producer.flush(30) == 0

    def failed_values() -> list[bytes]:
        return [each.value for each in stored(kafka_broker, "retry_30m_topic") if text_of(each, "retry_number") == "4"]

    with Running(spark, kafka_broker, tmp_path, failing) as running:
        running.wait(lambda: failed_values() == [b"bad due"])
        send(kafka_broker, "bad fresh")
        running.wait(lambda: [each.value for each in stored(kafka_broker, "retry_5m_topic")] == [b"bad fresh"])
        assert failed_values() == [b"bad due"]
        kafka_broker.clock.advance(minutes=9)
        running.wait(lambda: len(failed_values()) == 2)
        assert failed_values() == [b"bad due", b"bad soon"]


@pytest.mark.kafka(topics=TOPICS)
def test_a_transaction_that_was_ended_is_written_again(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    """As by its time-out, where a test moves the clock by an hour while a batch writes."""
    ended = odradek.Fault("EndTxn", answer=odradek.ErrorCode.INVALID_PRODUCER_EPOCH, times=1)
    fenced = odradek.Fault("Produce", answer=odradek.ErrorCode.INVALID_PRODUCER_EPOCH, times=1, when=is_transactional)
    kafka_broker.set_faults(ended, fenced)
    send(kafka_broker, "bad")
    with Running(spark, kafka_broker, tmp_path, failing) as running:
        running.wait(lambda: bool(stored(kafka_broker, "retry_5m_topic")))
        running.wait_batches(1)
    assert (ended.hits, fenced.hits) == (1, 1)
    assert [each.value for each in stored(kafka_broker, "retry_5m_topic")] == [b"bad"]


class Crash(Exception):
    """Stands for a process that ends between the writes of a batch and its commit."""


@pytest.mark.kafka(topics=TOPICS)
@pytest.mark.parametrize("in_order", [False, True])
def test_a_crash_between_write_and_commit_loses_and_doubles_nothing(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, in_order: bool
) -> None:
    values = [f"bad {n}" for n in range(40)]
    send(kafka_broker, *values)

    def crash(report: Any) -> None:
        running.reports.append(report)
        if report.failed:
            raise Crash

    for _ in range(8):
        running = Running(spark, kafka_broker, tmp_path, failing, in_order=in_order)
        running.on_batch = crash
        with pytest.raises(Exception, match="FOREACH_BATCH"):
            running.query.awaitTermination(PATIENCE_S)
        running.query.stop()
        if running.reports[-1].repeated:
            break
    assert running.reports[-1].repeated
    assert sorted(each.value.decode() for each in stored(kafka_broker, "retry_5m_topic")) == sorted(values)
    with Running(spark, kafka_broker, tmp_path, failing, in_order=in_order) as running:
        running.wait_batches(1)
        kafka_broker.clock.advance(minutes=5)
        running.wait(lambda: len(stored(kafka_broker, "retry_5m_topic")) >= 80)
        running.wait_batches(1)
    second = [each for each in stored(kafka_broker, "retry_5m_topic") if text_of(each, "retry_number") == "2"]
    assert sorted(each.value.decode() for each in second) == sorted(values)
    assert len(stored(kafka_broker, *POLICY.output_topics)) == 80


@pytest.mark.kafka(topics=TOPICS)
def test_a_key_waits_for_its_predecessor(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.touch()

    def handle(message: Any) -> None:
        with calls.open("a") as file:
            file.write(f"{message.value.decode()} {message.retry_number}\n")
        if message.value == b"a1" and message.retry_number < 2:
            raise ValueError("not yet")

    def called() -> list[str]:
        return calls.read_text().splitlines()

    send(kafka_broker, "a1", "a2", key="a")
    send(kafka_broker, "b1", key="b")
    send(kafka_broker, "a3", key="a")
    with Running(spark, kafka_broker, tmp_path / "checkpoint", handle, in_order=True) as running:
        running.wait(partial(has_attempt, kafka_broker, "retry_5m_topic", 1))
        running.wait_batches(1)
        assert sorted(called()) == ["a1 0", "b1 0"]
        send(kafka_broker, "a4", key="a")
        send(kafka_broker, "b2", key="b")
        running.wait(lambda: "b2 0" in called())
        running.wait_batches(1)
        kafka_broker.clock.advance(minutes=5)
        running.wait(partial(has_attempt, kafka_broker, "retry_5m_topic", 2))
        running.wait_batches(1)
        assert [call for call in called() if call.startswith("a")] == ["a1 0", "a1 1"]
        kafka_broker.clock.advance(minutes=5)
        running.wait(lambda: "a4 0" in called())
        running.wait_batches(1)
    expected = ["a1 0", "a1 1", "a1 2", "a2 0", "a3 0", "a4 0"]
    assert [call for call in called() if call.startswith("a")] == expected


@pytest.mark.slow
@pytest.mark.kafka(topics=TOPICS)
def test_a_crash_at_any_step_keeps_the_order(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver dies before and after each step that changes something; each time with new messages on their way."""
    from odradek.pipeline.jobs import retry

    calls = tmp_path / "calls"

    def handle(message: Any) -> None:
        with calls.open("a") as file:
            file.write(f"{message.value.decode()}/{message.retry_number}\n")
        if message.value.startswith(b"bad"):
            raise ValueError("no")

    policy = RetryPolicy(delays=("5m",))
    options: dict[str, Any] = {"policy": policy, "in_order": True}
    crashes = [(step, after) for step in ("_write", "_block", "_park") for after in (False, True)]
    for number, (step, after) in enumerate(crashes):
        send(kafka_broker, f"bad {number}", f"behind {number}", key=f"key {number}")
        with monkeypatch.context() as patch:
            real = getattr(retry._Batch, step)

            def crash(*arguments: Any, real: Any = real, after: bool = after) -> None:
                if after:
                    real(*arguments)
                raise ZeroDivisionError("the driver dies")

            patch.setattr(retry._Batch, step, crash)
            running = Running(spark, kafka_broker, tmp_path / "checkpoint", handle, **options)
            with running, pytest.raises(Exception, match="the driver dies"):
                running.query.awaitTermination(PATIENCE_S)
    numbers = range(len(crashes))
    with Running(spark, kafka_broker, tmp_path / "checkpoint", handle, **options) as running:
        running.wait(lambda: len(stored(kafka_broker, "retry_5m_topic")) >= len(crashes))
        running.wait_batches(2)
        kafka_broker.clock.advance(minutes=5)
        running.wait(lambda: len(stored(kafka_broker, "failed_topic")) >= len(crashes))
        running.wait_batches(1)
        running.wait(lambda: all(f"behind {number}/0" in calls.read_text() for number in numbers))
    for topic in ("retry_5m_topic", "failed_topic"):
        assert sorted(each.value.decode() for each in stored(kafka_broker, topic)) == [
            f"bad {each}" for each in numbers
        ]
    called = calls.read_text().splitlines()
    for number in numbers:
        own = [call for call in called if call.partition("/")[0].endswith(f" {number}")]
        assert list(dict.fromkeys(own)) == [f"bad {number}/0", f"bad {number}/1", f"behind {number}/0"]
        assert own.count(f"behind {number}/0") == 1


@pytest.mark.kafka(topics=TOPICS)
def test_a_poisonous_message_fails_alone(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    def handle(message: Any) -> None:
        if message.value == b"poison":
            os._exit(3)

    send(kafka_broker, "good", "poison", "good too")
    with Running(spark, kafka_broker, tmp_path, handle, isolated=True) as running:
        running.wait(partial(has_attempt, kafka_broker, "retry_5m_topic", 1))
        running.wait_batches(1)
    (failed,) = stored(kafka_broker, "retry_5m_topic")
    assert failed.value == b"poison"
    assert text_of(failed, "retry_error") == "the handler's process ended with status 3"


@pytest.mark.kafka(topics=TOPICS)
def test_jitter_spreads_what_failed_together(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    values = [f"bad {n}" for n in range(50)]
    send(kafka_broker, *values)
    policy = RetryPolicy(jitter=0.5)
    with Running(spark, kafka_broker, tmp_path, failing, policy=policy) as running:
        running.wait(lambda: len(stored(kafka_broker, "retry_5m_topic")) == 50)
        running.wait_batches(1)
        begun = {each.now_ms for each in running.reports if each.failed}
    due = sorted(int(text_of(each, "retry_timestamp") or 0) for each in stored(kafka_broker, "retry_5m_topic"))
    assert min(begun) + 5 * MINUTE <= due[0]
    assert due[-1] <= max(begun) + 7.5 * MINUTE
    assert len(set(due)) > 40
    assert due[-1] - due[0] > MINUTE


@pytest.mark.kafka(topics=TOPICS)
def test_retry_job_calls_a_handler_of_batches(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    send(kafka_broker, "bad a", "good", "bad b")

    def handle(messages: Any) -> list[Any]:
        return [ValueError("no") if each.value.startswith(b"bad") else None for each in messages]

    with Running(spark, kafka_broker, tmp_path, handle, by_batch=True) as running:
        running.wait(lambda: len(stored(kafka_broker, "retry_5m_topic")) == 2)
    assert {text_of(each, "retry_error") for each in stored(kafka_broker, "retry_5m_topic")} == {"ValueError: no"}


@pytest.mark.kafka(topics=TOPICS)
def test_retry_job_starts_failed_messages_again(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.retry import RetryJob

    policy = RetryPolicy(delays=())
    job = RetryJob(kafka_broker.bootstrap_servers, str(tmp_path), failing, policy=policy)
    send(kafka_broker, "bad")
    assert job.start(spark, once=True).awaitTermination(PATIENCE_S)
    (failed,) = stored(kafka_broker, "failed_topic")
    assert text_of(failed, "retry_error") == "ValueError: attempt 0 of bad"
    for _ in range(2):  # the second time there is nothing new to replay
        job.replay_failed(spark)
    first, again = stored(kafka_broker, "main_topic")
    assert (again.key, again.value, again.headers) == (first.key, first.value, first.headers)
    # As after a crash between the commit of its transactions and Spark's own: the batch is repeated.
    for file in (tmp_path / "replay" / "commits").glob("*0*"):
        file.unlink()
    send(kafka_broker, "bad too", topic="failed_topic")
    job.replay_failed(spark)
    assert [each.value for each in stored(kafka_broker, "main_topic")] == [b"bad", b"bad", b"bad too"]


@pytest.mark.kafka(topics=TOPICS)
def test_once_is_all_that_is_there_also_after_a_crash(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    def crash(report: Any) -> None:
        raise Crash

    job = partial(job_of, kafka_broker, str(tmp_path), delays=())
    send(kafka_broker, "bad")
    with pytest.raises(Exception, match="FOREACH_BATCH"):
        job(on_batch=crash).start(spark, once=True).awaitTermination(PATIENCE_S)
    send(kafka_broker, "bad too")
    assert job().start(spark, once=True).awaitTermination(PATIENCE_S)
    assert [each.value for each in stored(kafka_broker, "failed_topic")] == [b"bad", b"bad too"]


@pytest.mark.kafka(topics=TOPICS)
def test_an_error_of_spark_itself_is_told_as_it_is(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    send(kafka_broker, "good")
    running = Running(spark, kafka_broker, tmp_path, lambda _: os._exit(3))
    with running, pytest.raises(Exception, match="Python worker exited unexpectedly"):
        running.query.awaitTermination(PATIENCE_S)


@pytest.mark.kafka(topics=TOPICS)
def test_a_stop_in_the_middle_of_a_batch_is_no_error(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"

    def handle(message: Any) -> None:
        begun.touch()
        time.sleep(60)  # the stop comes while the handler works, and does not wait for it

    send(kafka_broker, "good")
    with Running(spark, kafka_broker, tmp_path / "checkpoint", handle) as running:
        running.wait(begun.exists)
        running.query.stop()
        assert running.query.exception() is None
    assert not running.reports or not running.reports[-1].arrived


def job_of(
    broker: odradek.KafkaBroker, checkpoint: str = "checkpoint", *, delays: Sequence[str] = ("1m", "2m"), **options: Any
) -> Any:
    from odradek.pipeline.jobs.retry import RetryJob

    return RetryJob(broker.bootstrap_servers, checkpoint, failing, policy=RetryPolicy(delays=delays), **options)


def partitions(broker: odradek.KafkaBroker) -> dict[str, int]:
    return {name: len(topic.partitions) for name, topic in broker.topics.items()}


@pytest.mark.kafka(topics={"main_topic": 3, "retry_1m_topic": 2})
def test_missing_topics_are_created_as_wide_as_the_main_topic(kafka_broker: odradek.KafkaBroker) -> None:
    assert job_of(kafka_broker).prepare_topics() == ["retry_2m_topic", "failed_topic"]
    expected = {"main_topic": 3, "retry_1m_topic": 2, "retry_2m_topic": 3, "failed_topic": 3}
    assert partitions(kafka_broker) == expected
    assert job_of(kafka_broker, create_topics=False).prepare_topics() == []


@pytest.mark.kafka(topics={"main_topic": 3})
def test_missing_topics_are_created_as_wide_as_is_said_or_not_at_all(kafka_broker: odradek.KafkaBroker) -> None:
    with pytest.raises(ValueError, match=r"^no topic retry_1m_topic, retry_2m_topic, failed_topic: create them"):
        job_of(kafka_broker, create_topics=False).prepare_topics()
    assert partitions(kafka_broker) == {"main_topic": 3}
    job_of(kafka_broker, partitions=5).prepare_topics()
    assert sorted(partitions(kafka_broker).values()) == [3, 5, 5, 5]


@pytest.mark.kafka(topics={"failed_topic": 1})
def test_a_main_topic_is_not_made_up(kafka_broker: odradek.KafkaBroker) -> None:
    with pytest.raises(ValueError, match=r"^no topic main_topic$"):
        job_of(kafka_broker).prepare_topics()
    with pytest.raises(ValueError, match=r"^no topic main_topic$"):
        job_of(kafka_broker).replay_failed(None)
    assert partitions(kafka_broker) == {"failed_topic": 1}


@pytest.mark.kafka(topics={"main_topic": 1})
def test_a_topic_that_may_not_be_created_is_named(kafka_broker: odradek.KafkaBroker) -> None:
    kafka_broker.set_faults(odradek.Fault("CreateTopics", answer=odradek.ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(odradek.KafkaError, match="TOPIC_AUTHORIZATION_FAILED: topic retry_1m_topic"):
        job_of(kafka_broker).prepare_topics()


@pytest.mark.kafka(topics={"main_topic": 1, "orders": 1})
def test_a_checkpoint_belongs_to_one_pipeline(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    def start(policy: RetryPolicy) -> None:
        job = RetryJob(kafka_broker.bootstrap_servers, str(tmp_path), failing, policy=policy)
        assert job.start(spark, once=True).awaitTermination(PATIENCE_S)

    from odradek.pipeline.jobs.retry import RetryJob

    start(RetryPolicy(delays=("1m", "2m")))
    start(RetryPolicy(delays=("1m", "2m", "1m", "3m")))
    there = list(kafka_broker.topics)
    with pytest.raises(ValueError, match=r"has the main topic main_topic, the job has orders$"):
        start(RetryPolicy("orders", "orders_failed", delays=("1m", "2m", "9m")))
    assert list(kafka_broker.topics) == there
    with pytest.raises(ValueError, match="has messages of retry_2m_topic, retry_3m_topic, which the job's delays no"):
        start(RetryPolicy(delays=("1m",)))
    state = StateFolder(spark, f"{tmp_path}/state")
    state.write_json("job.json", {**state.read_json("job.json"), "version": 1})
    with pytest.raises(ValueError, match="is of version 1 of the job, this one has 2"):
        start(RetryPolicy(delays=("1m", "2m", "3m")))


@pytest.mark.kafka(topics={"main_topic": 1})
def test_transactional_ids_stay_as_they_began(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    job = partial(job_of, kafka_broker, str(tmp_path), delays=())
    for value in ("bad", "bad too"):
        send(kafka_broker, value)
        assert job(kafka={"transactionalId": "of-a-team"}).start(spark, once=True).awaitTermination(PATIENCE_S)
    (name,) = kafka_broker.transactions
    assert re.fullmatch(r"of-a-team-[0-9a-f]{32}-0", name)
    send(kafka_broker, "bad again")
    assert job().start(spark, once=True).awaitTermination(PATIENCE_S)
    assert list(kafka_broker.transactions) == [name]
    with pytest.raises(
        ValueError, match=rf"has the transactional id {name[:-2]}, which does not begin with of-a: leave"
    ):
        job(kafka={"transactionalId": "of-a"}).start(spark)


RIGHTS = [
    odradek.Acl("job", "READ", topic="main_topic"),
    odradek.Acl("job", ["READ", "WRITE"], topic="failed_topic"),
    odradek.Acl("job", "WRITE", transactional_id="mine-", prefixed=True),
    odradek.Acl("groupless", ["READ", "WRITE"], topic="*"),
    odradek.Acl("groupless", "WRITE", transactional_id="*"),
    odradek.Acl("reader", "READ", topic="*"),
    odradek.Acl("*", "READ", group="mine-", prefixed=True),
]
SECURED = {
    "topics": {"main_topic": 1, "failed_topic": 1},
    "security": odradek.Security(users=dict.fromkeys(("job", "groupless", "reader"), "secret"), acls=RIGHTS),
}


@pytest.mark.kafka(**SECURED)
def test_the_rights_of_a_transactional_producer_suffice(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    log_in = {f"kafka.{name}": value for name, value in security_options(kafka_broker.client_config("job")).items()}
    job = job_of(kafka_broker, str(tmp_path), delays=(), kafka={**log_in, "transactionalId": "mine"})
    kafka_broker.produce("main_topic", "bad")
    assert job.start(spark, once=True).awaitTermination(PATIENCE_S)
    assert [each.value for each in stored(kafka_broker, "failed_topic")] == [b"bad"]
    assert kafka_broker.denied == []


@pytest.mark.kafka(**SECURED)
@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("reader", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED: InitProducerId of other-"),
        ("groupless", "GROUP_AUTHORIZATION_FAILED: OffsetFetch of other-"),
    ],
)
def test_a_right_that_is_missing_is_told_in_one_line(
    spark: Any,
    kafka_broker: odradek.KafkaBroker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    user: str,
    told: str,
) -> None:
    options = security_options(kafka_broker.client_config(user))
    config = tmp_path / "client.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in options.items()))
    app = tmp_path / "app.py"
    app.write_text("def handle(message):\n    raise ValueError\n")
    kafka_broker.produce("main_topic", "bad")
    words = ["--bootstrap-servers", kafka_broker.bootstrap_servers, "--client-config", str(config), "--delays", ""]
    words += ["--checkpoint", str(tmp_path / "checkpoint"), "--kafka", "transactionalId=other", "--once"]
    assert main(["pipeline", "retry", "--handler", f"{app}:handle", *words]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"odradek pipeline retry: {told}")
    assert line.count("\n") == 1
    assert stored(kafka_broker, "failed_topic") == []


def test_options_that_exclude_one_another() -> None:
    from odradek.pipeline.jobs.retry import RetryJob

    with pytest.raises(ValueError, match="order within a key takes one at a time"):
        RetryJob("localhost:1", "checkpoint", failing, by_batch=True, in_order=True)
    with pytest.raises(ValueError, match="only a handler that is isolated"):
        RetryJob("localhost:1", "checkpoint", failing, timeout_s=1.0)
