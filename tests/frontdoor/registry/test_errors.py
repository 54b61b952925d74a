"""The codes of errors: their first three digits are the HTTP status."""

from __future__ import annotations

import pytest

from odradek.registry import errors
from odradek.registry.errors import RegistryError


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (errors.subject_not_found("s"), 40401, 404),
        (errors.version_not_found("s", -1), 40402, 404),
        (errors.schema_not_found("with the id 7"), 40403, 404),
        (errors.subject_soft_deleted("s"), 40404, 404),
        (errors.subject_not_soft_deleted("s"), 40405, 404),
        (errors.version_soft_deleted("s", 1), 40406, 404),
        (errors.version_not_soft_deleted("s", 1), 40407, 404),
        (errors.config_not_set("s"), 40408, 404),
        (errors.mode_not_set("s"), 40409, 404),
        (errors.incompatible("s", ["why"]), 40901, 409),
        (errors.invalid_schema("why"), 42201, 422),
        (errors.invalid_version("x"), 42202, 422),
        (errors.invalid_level("why"), 42203, 422),
        (errors.invalid_mode("x"), 42204, 422),
        (errors.not_permitted("why"), 42205, 422),
        (errors.referenced("s", 1, [2, 3]), 42206, 422),
        (errors.invalid_subject("s"), 42208, 422),
        (errors.too_large(1), 42209, 422),
        (errors.invalid_rules("why"), 42210, 422),
        (errors.store_failed("why"), 50001, 500),
        (errors.bad_request("why"), 422, 422),
    ],
)
def test_errors_of_the_registry_have_confluents_codes(error: RegistryError, code: int, status: int) -> None:
    assert (error.code, error.status) == (code, status)
    assert str(error) == error.message
    assert repr(error) == f"<RegistryError {code}: {error.message}>"


def test_the_latest_version_is_called_so() -> None:
    assert "latest" in errors.version_not_found("s", -1).message
    assert "2, 3" in errors.referenced("s", 1, [2, 3]).message
