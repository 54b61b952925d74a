"""What a fault's options may be, and what is said of those that may not."""

from __future__ import annotations

from odradek.broker.config.suggestion import did_you_mean
from odradek.protocol.errors import ErrorCode
from odradek.protocol.registry import API_BY_KEY, API_BY_NAME


def api_key(api: str | int | None) -> int | None:
    """The key of an API that is given by name or key; ValueError if there is none."""
    if isinstance(api, str):
        spec = API_BY_NAME.get(api)
        if spec is None:
            near = did_you_mean(api, API_BY_NAME)
            raise ValueError(f"no API is called {api!r}{near}; names are as in `odradek coverage`")
        return spec.key
    if api is not None and api not in API_BY_KEY:
        raise ValueError(f"no API has the key {api}")
    return api


def error_code(answer: ErrorCode | str | None) -> ErrorCode | None:
    """An error by itself or its name. ValueError for an unknown name and NONE, TypeError for anything else."""
    if answer is None:
        return None
    if isinstance(answer, str):
        if answer not in ErrorCode.__members__:
            raise ValueError(f"no error is called {answer!r}{did_you_mean(answer, ErrorCode.__members__)}")
        answer = ErrorCode[answer]
    if not isinstance(answer, ErrorCode):
        raise TypeError(f"answer={answer!r}: expected an odradek.ErrorCode or its name")
    if answer is ErrorCode.NONE:
        raise ValueError("answer=NONE is no error")
    return answer


def check_counts(times: int | None, skip: int, delay_ms: int) -> None:
    """ValueError unless a fault acts at least once, after no less than no request and no time."""
    if times is not None and times < 1:
        raise ValueError(f"times={times}: a fault acts at least once; None = until it is removed")
    if skip < 0:
        raise ValueError(f"skip={skip}: the number of requests to let pass is not negative")
    if delay_ms < 0:
        raise ValueError(f"delay_ms={delay_ms}: a delay is not negative")


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """ValueError unless it is one of these words."""
    if value not in known:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(known)}{did_you_mean(str(value), known)}")
