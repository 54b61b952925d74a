"""Patterns, and what the library that Kafka uses for them (RE2/J) says of each.

``tests/vectors/regex_patterns.json`` keeps both. This writes it, with Kafka's jars (see `real_kafka`):

    python -m tests.scenarios.regex_patterns tests/vectors/regex_patterns.json
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conformance.real_kafka import java_command

RECORDER = Path(__file__).parent / "java" / "recorders" / "PatternRecorder.java"
TOPICS = ("t", "orders", "orders-1", "Orders-2", "a.b", "aXb", "_x", "1001", "abc", "aaa")
PATTERNS = (
    "(",
    "*",
    "a**",
    ")",
    "[a",
    "a\\",
    "(?P<n>a)",
    "(?<n>a)",
    "(?<n>a)(?<n>b)",
    "(?<1>a)",
    "(?<>a)",
    "(?P<n",
    "a{1001}",
    "a{1000}",
    "(?i)abc",
    "\\Qa.b\\E",
    "\\Qa.b",
    "(?!a)",
    "(?=a)",
    "(?<=a)",
    "(?<!a)",
    "\\pN",
    "\\p{Foo}",
    "\\p{Greek}",
    "\\p{L}",
    "[[:foo:]]",
    "[[:alpha:]]",
    "[b-a]",
    "\\8",
    "\\1",
    "a{2,1}",
    "((a{100}){100}){100}",
    "(((a{100}){100}))",
    "\\C",
    "\\z",
    "\\Z",
    "\\A",
    "\\G",
    "\\b",
    "a{,3}",
    "(?s).*",
    "(?x)a",
    "(?z)a",
    "(?i",
    "\\h",
    "\\v",
    "\\R",
    "\\uFFFF",
    "\\x41",
    "\\x{41}",
    "\\x{110000}",
    "\\x{zz}",
    "\\077",
    "\\400",
    "[]a]",
    "[^]a]",
    "[]",
    "[a-",
    "[\\d-z]",
    "a|*",
    "|",
    "||",
    "()",
    "(?:)",
    "a??",
    "a+*",
    "a*+",
    "a++",
    "(a*)*",
    "x{2}{3}",
    "^*",
    "$*",
    "\\b*",
    "(?i)(?-i)",
    "(?U)a+",
    "\\pX",
    "\\p",
    "\\Q\\E*",
    "[[:^alpha:]]",
    "\\d+",
    "[\\Q]",
    "(?P=n)",
    "(?P>n)",
    "(?#c)",
    "\\N{U}",
    "\\o{1}",
    "é",
    "[é-z]",
    "(?i:a)",
    "\\_",
    "\\-",
    "\\é",
    "\\a\\f\\n\\r\\t",
    "\\e",
    "a{0}",
    "a{0,0}",
    "{",
    "}",
    "a{",
    "a{1",
    "a{1,",
    "a{a}",
    "a{01}",
    "(?^a)",
    "t",
    "t.*",
    "orders|t",
    "orders-[0-9]+",
    "(?i)ORDERS-\\d",
    ".*",
    "[a-z]+\\.[a-z]+",
    "^t$",
    "t|",
    "(o|r|d|e)+rs-1",
    "a.b",
    "\\w+",
    "[[:upper:]].*",
    "\\p{Lu}.*",
    "(?<n>t)",
    "[^-]+",
    "(?:a*)*b",
)


def main() -> None:
    """Write the vectors."""
    done = subprocess.run(
        java_command(str(RECORDER), *TOPICS),
        input="\n".join(PATTERNS) + "\n",
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    said = done.stdout.split("\n")[: len(PATTERNS)]
    Path(sys.argv[1]).write_text(
        json.dumps(dict(zip(PATTERNS, said, strict=True)), indent=0, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    main()
