"""What becomes of a test that relied on what a real cluster does not promise."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Self

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.strict_rules import OPT_IN, RULES, TRANSCRIPT

_MODES = ("fail", "warn")
_SWITCHES = (*(f"-{name}" for name in RULES), *(f"+{name}" for name in OPT_IN))


@dataclass(frozen=True, slots=True)
class StrictnessFinding:
    """What a test relied on. ``rule``: its name, to switch it off; ``sentence``: what was seen, and what to do."""

    rule: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.sentence} [{self.rule}]"


class StrictnessWarning(UserWarning):
    """A test relies on what a real cluster does not promise (``strict="warn"``)."""


class StrictnessError(AssertionError):
    """A test relies on what a real cluster does not promise (``strict=True``)."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """``strict``: whether findings fail a test or warn, which rules are off, and which of `OPT_IN` are on."""

    fails: bool
    ignored: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()

    @classmethod
    def of(cls, strict: bool | str) -> Self | None:
        """What ``True``, ``"warn"`` or ``"fail -auto-created +partitioner-order"`` mean; None for False and "".

        ValueError for other words, TypeError for other types.
        """
        if not isinstance(strict, bool | str):
            raise TypeError(f"strict={strict!r}: use True, 'fail' or 'warn', or text such as 'fail -auto-created'")
        words = ["fail"] if strict is True else (strict or "").split()
        if not words:
            return None
        if words[0] not in _MODES:
            raise ValueError(f"strict={strict!r}: begin with 'fail' or 'warn'")
        for word in words[1:]:
            if word not in _SWITCHES:
                raise ValueError(f"strict={strict!r}: {_no_switch(word)}")
        ignored, added = (frozenset(word[1:] for word in words[1:] if word[0] == sign) for sign in "-+")
        return cls(words[0] == "fail", ignored, added)

    @property
    def also(self) -> str:
        """The rules that are on beside the usual ones, as `strictness_since` takes them."""
        return " ".join(sorted(self.added))

    def judge(self, findings: Iterable[StrictnessFinding]) -> str:
        """Warn of what is no more than a warning; the text of the failure, empty if there is none."""
        failing: list[str] = []
        for each in findings:
            if each.rule in self.ignored:
                continue
            if self.fails and each.rule != TRANSCRIPT:
                failing.append(str(each))
            else:
                warnings.warn(str(each), StrictnessWarning, stacklevel=3)
        if not failing:
            return ""
        return "the test relies on what a real cluster does not promise:\n" + "\n".join(f"- {each}" for each in failing)

    def demand(self, findings: Iterable[StrictnessFinding]) -> None:
        """Warn, or raise StrictnessError."""
        text = self.judge(findings)
        if text:
            raise StrictnessError(text)


def _no_switch(word: str) -> str:
    """Why a word of ``strict`` means nothing."""
    if word[:1] == "-" and word[1:] in OPT_IN:
        return f"{word!r}: this rule is off unless '+{word[1:]}' switches it on"
    if word[:1] == "+" and word[1:] in RULES:
        return f"{word!r}: this rule is on unless '-{word[1:]}' switches it off"
    near = did_you_mean(word, _SWITCHES)
    return f"{word!r} switches no rule off or on{near}; -NAME, of {', '.join(RULES)}, or +NAME, of {', '.join(OPT_IN)}"


def opt_in_rules(also: str) -> frozenset[str]:
    """The names of `OPT_IN` in a text, apart by spaces; ValueError for other words, TypeError for what is no text."""
    if not isinstance(also, str):
        raise TypeError(f"also={also!r}: expected text with names of rules, such as {next(iter(OPT_IN))!r}")
    for name in (words := also.split()):
        if name not in OPT_IN:
            raise ValueError(
                f"also={also!r}: {name!r} is no rule to ask for{did_you_mean(name, OPT_IN)}; there is "
                f"{', '.join(OPT_IN)}"
            )
    return frozenset(words)


def findings_in(situation: Situation, also: Collection[str] = ()) -> list[StrictnessFinding]:
    """What each rule finds, each sentence once. `also`: which of `OPT_IN` are asked, too."""
    rules = {**RULES, **{name: rule for name, rule in OPT_IN.items() if name in also}}
    found = (StrictnessFinding(name, sentence) for name, rule in rules.items() for sentence in rule(situation))
    return list(dict.fromkeys(found))
