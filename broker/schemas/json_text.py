"""JSON: data that say themselves what they are, behind the id of a schema."""

from __future__ import annotations

import json
from typing import Any

from odradek.broker.schemas.framing import Framed


class JsonText:
    """Reads JSON; ``name``: of the schema that it is of, which is not compared with the data."""

    kind = "json"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<JsonText {self.name}>"

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """The data, and None; ValueError for what is no JSON."""
        try:
            return json.loads(framed.data), None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ValueError(f"does not fit {self.name}: {reason}") from None
