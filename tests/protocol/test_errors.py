from __future__ import annotations

from odradek.protocol.errors import ErrorCode, KafkaError, as_value, code_and_text


def test_error_codes_have_kafkas_numbers() -> None:
    assert len(ErrorCode) == 138
    assert int(ErrorCode.NONE) == 0
    assert int(ErrorCode.UNKNOWN_SERVER_ERROR) == -1
    assert ErrorCode(3) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_retriable_errors_are_kafkas() -> None:
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.refreshes_metadata
    assert ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.retriable
    assert not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.refreshes_metadata
    assert not ErrorCode.NONE.retriable
    assert not ErrorCode.INVALID_TOPIC_EXCEPTION.retriable


def test_kafka_error_has_code_message_and_text() -> None:
    error = KafkaError(ErrorCode.INVALID_REQUEST, "why")
    assert (error.code, error.message, str(error)) == (ErrorCode.INVALID_REQUEST, "why", "INVALID_REQUEST: why")
    assert str(KafkaError(ErrorCode.INVALID_REQUEST)) == "INVALID_REQUEST"


def test_an_element_that_was_served_has_no_error_and_no_text() -> None:
    assert code_and_text(None) == (ErrorCode.NONE, None)
    assert code_and_text(KafkaError(ErrorCode.INVALID_CONFIG, "why")) == (ErrorCode.INVALID_CONFIG, "why")


def test_a_kept_error_refers_to_no_frame() -> None:
    try:
        try:
            int("x")
        except ValueError as cause:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "why") from cause
    except KafkaError as error:
        kept = as_value(error)
    assert (kept.message, kept.__traceback__, kept.__cause__, kept.__context__) == ("why", None, None, None)
