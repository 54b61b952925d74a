"""The table of a run: a row for each case, a column for each broker."""

from __future__ import annotations

from dataclasses import dataclass, field

ODRADEK, COMPILED, KAFKA, KFAKE = "odradek", "compiled", "Kafka", "kfake"
BROKERS = (ODRADEK, COMPILED, KAFKA, KFAKE)
"""The columns: odradek's pure and compiled form, Apache Kafka, and the fake cluster of franz-go."""

PAIRS = ((ODRADEK, KAFKA), (ODRADEK, KFAKE), (COMPILED, KAFKA), (COMPILED, KFAKE))
"""The ratios that a row tells."""

NOT_SERVED = "not served"


@dataclass(slots=True)
class Row:
    """A line of the table.

    `values` are in the row's unit, `cpu_us` is CPU time of the broker's process a unit, in microseconds; `notes` say
    why a broker has no value. All are by broker.
    """

    title: str
    unit: str
    lower_is_better: bool = False
    values: dict[str, float] = field(default_factory=dict)
    cpu_us: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def put(self, broker: str, value: float, cpu_us: float | None = None) -> None:
        self.values[broker] = value
        if cpu_us is not None:
            self.cpu_us[broker] = cpu_us

    def ratio(self, one: str, other: str) -> float | None:
        """Above 1 if `one` does better than `other`; None if one of them has no value."""
        mine, theirs = self.values.get(one), self.values.get(other)
        if not mine or not theirs:
            return None
        return theirs / mine if self.lower_is_better else mine / theirs

    def shown(self, broker: str) -> str:
        return self.notes.get(broker) or number(self.values.get(broker))

    def line(self) -> str:
        figures = "".join(f"{self.shown(broker):>11}" for broker in BROKERS)
        ratios = "".join(f"{times(self.ratio(*pair)):>7}" for pair in PAIRS)
        cpu = "".join(f"{number(self.cpu_us.get(broker)):>8}" for broker in BROKERS)
        return f"{self.title:<47}{figures} {self.unit:<11}{ratios} {cpu}"

    def as_json(self) -> dict[str, object]:
        ratios = {f"{one}:{other}": self.ratio(one, other) for one, other in PAIRS}
        return {
            "title": self.title,
            "unit": self.unit,
            "lower_is_better": self.lower_is_better,
            "values": self.values,
            "cpu_us": self.cpu_us,
            "notes": self.notes,
            "ratios": {pair: ratio for pair, ratio in ratios.items() if ratio is not None},
        }


def heading() -> str:
    """Two lines over the table. The ratios' o, c, K and k are the columns."""
    columns = "".join(f"{broker:>11}" for broker in BROKERS)
    ratios = "".join(f"{pair:>7}" for pair in ("o:K", "o:k", "c:K", "c:k"))
    cpu = "".join(f"{broker:>8}" for broker in ("o", "c", "K", "k"))
    above = f"{'':<47}{'':<44} {'':<11}{'ratios':>28} {'CPU us a unit':>32}"
    return f"{above}\n{'':<47}{columns} {'':<11}{ratios} {cpu}"


def number(value: float | None) -> str:
    """Three digits, or whole from 100 on; a dash for nothing."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"
