"""APIs whose old versions need no code of their own."""

from __future__ import annotations

import pytest

from tests.fakes.message_formats import RELEASES, check_as_recorded


@pytest.mark.parametrize("release", RELEASES)
def test_other_older_requests_are_answered_as_recorded(release: str) -> None:
    check_as_recorded("others", release)
