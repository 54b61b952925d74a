"""What mkdocs does not find in docs/: README and its neighbours, the examples, the command line, llms.txt.

Links in the sources lead from file to file of the repository, so that they work in an editor too. Here they are turned
into links between pages of the site; a link to a file that is no page becomes plain text.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
TOP = {
    "README.md": "index.md",
    "DIFFERENCES.md": "differences.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
}
"""Pages of the top level, and what they are called on the site."""
PICTURES = (".svg", ".png")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_BLOCK = re.compile(r"(```.*?```)", re.DOTALL)


def pages() -> dict[str, str]:
    """The repository's file behind each page that does not lie in docs/, by its name on the site."""
    found = {site: source for source, site in TOP.items()}
    for readme in sorted(ROOT.glob("examples/**/README.md")):
        folder = readme.parent.relative_to(ROOT / "examples").as_posix()
        name = "index" if folder == "." else folder
        found[f"examples/{name}.md"] = readme.relative_to(ROOT).as_posix()
    return found


def on_config(config: Any) -> Any:
    """List the examples in the navigation."""
    names = [name for name in pages() if name.startswith("examples/")]
    entries: list[Any] = sorted(names, key=lambda name: (name != "examples/index.md", name))
    config.nav = [{"Examples": entries} if "Examples" in entry else entry for entry in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from elsewhere, their pictures, the command line and llms.txt."""
    for site, source in pages().items():
        files.append(File.generated(config, site, content=(ROOT / source).read_text()))
    for picture in ROOT.glob("examples/**/*"):
        if picture.suffix in PICTURES:
            files.append(File.generated(config, picture.relative_to(ROOT).as_posix(), content=picture.read_bytes()))
    files.append(File.generated(config, "api.md", content=python_names()))
    files.append(File.generated(config, "cli.md", content=command_line()))
    files.append(File.generated(config, "llms.txt", content=for_machines(files)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files into links between pages, outside of code blocks."""
    by_source = {source: site for site, source in pages().items()}
    sources = {site: source for source, site in by_source.items()}
    here = page.file.src_uri
    source = sources.get(here, f"docs/{here}")

    def turned(found: re.Match[str]) -> str:
        picture, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        wanted = os.path.normpath(PurePosixPath(source).parent / target)
        if (ROOT / wanted).is_dir():
            wanted = f"{wanted}/README.md"
        on_site = by_source.get(wanted)
        if on_site is None and wanted.startswith("docs/"):
            on_site = wanted.removeprefix("docs/")
        if on_site is None and wanted.endswith(PICTURES):
            on_site = wanted
        if on_site is None:
            return text
        return f"{picture}[{text}]({os.path.relpath(on_site, PurePosixPath(here).parent)}{anchor})"

    parts = _BLOCK.split(markdown)
    parts[::2] = [_LINK.sub(turned, part) for part in parts[::2]]
    return "".join(parts)


def python_names() -> str:
    """The page of all public names: what their docstrings say."""
    sys.path.insert(0, str(ROOT / "src"))
    import odradek
    from odradek import types

    sections = [
        "# Python",
        "Every public name is an attribute of `odradek`, or of `odradek.types` if only annotations need it. "
        "`KafkaBroker` blocks. `open_broker` gives a `TrioBroker` with the same names, which are awaited.",
    ]
    first = ("KafkaBroker", "open_broker")
    others = sorted(name for name in odradek.__all__ if name not in first and not name.startswith("__"))
    for name in (*first, *others):
        value = getattr(odradek, name)
        where = f"odradek.{name}" if isinstance(value, bool) else f"{value.__module__}.{value.__qualname__}"
        sections.append(f"## {name}\n\n::: {where}")
    sections.append("## types\n\n" + (types.__doc__ or ""))
    for name, value in sorted(vars(types).items()):
        if not name.startswith("_"):
            sections.append(f"## types.{name}\n\n::: {value.__module__}.{value.__qualname__}")
    return "\n\n".join(sections) + "\n"


def command_line() -> str:
    """The page of all commands: what each one's ``--help`` prints."""
    sys.path.insert(0, str(ROOT / "src"))
    shown = help_of()
    names = re.findall(r"^    ([a-z][\w-]*)(?:\s|$)", shown, re.MULTILINE)
    assert names, "odradek --help lists no commands"
    sections = ["# Command line\n", "What each command prints for `--help`.\n", f"```text\n{shown}```\n"]
    for name in names:
        sections.append(f"## odradek {name}\n\n```text\n{help_of(name)}```\n")
    return "\n".join(sections)


def help_of(*command: str) -> str:
    """What a command prints for ``--help``, at most 100 columns wide."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "odradek", *command, "--help"],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout


def for_machines(files: Any) -> str:
    """llms.txt: what the project is, and each page with its first sentence."""
    lines = [
        "# odradek",
        "",
        "> Apache Kafka in your test process: a Kafka 4.4.0-compatible broker in Python for tests and development. It "
        "starts in milliseconds, needs no Java and no container; a test can stop its clock, look into its logs, "
        "break it and fork it. Install: pip install odradek. In pytest: the fixture kafka_broker.",
        "",
        "## Pages",
        "",
    ]
    for file in sorted(files.documentation_pages(), key=lambda file: file.src_uri):
        title, sentence = summary(file.content_string)
        lines.append(f"- [{title or file.name}]({file.url}): {sentence}")
    return "\n".join(lines) + "\n"


def summary(text: str) -> tuple[str, str]:
    """The title of a page and its first sentence."""
    title = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")
    for part in _BLOCK.split(text)[::2]:
        for paragraph in part.split("\n\n"):
            plain = " ".join(paragraph.split())
            if plain and plain[0] not in "#|<!-[:>":
                return title, re.split(r"(?<=[.:?])\s", _LINK.sub(r"\2", plain), maxsplit=1)[0].rstrip(":")
    return title, ""
