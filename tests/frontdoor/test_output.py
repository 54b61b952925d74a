"""Output to readers that are slow, stuck or gone."""

from __future__ import annotations

import os
import re
import sys

import pytest

from odradek.output import LooseStream, loose_output

LINE = "x" * 99 + "\n"


def test_output_of_many_threads_arrives_in_order() -> None:
    read, write = os.pipe()
    stream = LooseStream(write)
    for number in range(100):
        print(number, "\ud800", file=stream, flush=True)
    stream.drain(60)
    os.close(write)
    with open(read) as file:
        assert file.read().split("\n")[:-1] == [f"{number} \\ud800" for number in range(100)]


def test_a_reader_that_is_stuck_loses_lines_and_is_told() -> None:
    read, write = os.pipe()
    stream = LooseStream(write)
    for _ in range(20_000):  # 2 MB
        stream.write(LINE)
    stream.drain(0.01)
    seen = lost = 0
    with open(read) as file:
        for number, line in enumerate(iter(file.readline, "more\n")):
            if number == 5_000:
                stream.write("more\n")
            told = re.fullmatch(r"odradek: (\d+) lines are lost, nobody has read them\n", line)
            assert told or line == LINE
            lost += int(told[1]) if told else 0
            seen += not told
    assert seen + lost == 20_000
    assert 5_000 < lost < 15_000
    stream.drain(60)
    os.close(write)


def test_a_reader_that_is_gone_disturbs_nobody() -> None:
    read, write = os.pipe()
    os.close(read)
    stream = LooseStream(write)
    for _ in range(3):
        stream.write(LINE)
        stream.drain(60)
    os.close(write)


def test_streams_without_a_descriptor_stay(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with loose_output():
        assert sys.stdout is before
        print("seen")
    assert capsys.readouterr().out == "seen\n"
