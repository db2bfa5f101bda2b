"""Writes `docs/api.md`, the public calls of the package, from signatures and docstrings, and `docs/glossary.md` from
the terms that Find answers.

    python -m scripts.draw_api

`make format` does it too, and `tests/scripts/test_list_authors.py` fails while a document differs from its sources.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT, GLOSSARY = ROOT / "docs" / "api.md", ROOT / "docs" / "glossary.md"
TERMS = ROOT / "assets" / "terms.toml"

PARTS: dict[str, tuple[str, ...]] = {
    "tfmviz": ("show", "trace_of", "load", "available", "Trace", "Encoding", "NotCaptured"),
    "tfmviz.external": ("Page",),
    "tfmviz.views": ("html", "csv_of", "npz_of"),
    "tfmviz.huggingface": ("convert",),
    "tfmviz.record.model": ("Model",),
    "tfmviz.record.edits": ("AblateHead", "SetMask", "Scale", "Patch"),
    "tfmviz.zoo.writing": ("generate", "search"),
    "tfmviz.analysis.heads": ("head_scores", "layer_scores", "verdicts"),
    "tfmviz.analysis.rollout": ("rollout",),
}
"""The documented names, by the module from which they are imported."""

HEAD = """# The package, by name

Made from the docstrings by `python -m scripts.draw_api`. How things are done: [python.md](python.md); all sites of a
record and their shapes: [architecture.md](architecture.md#sites).
"""

SECTION = re.compile(r"(Args|Returns|Raises|Attributes):(.*)")
ENTRY = re.compile(r"(\w[\w.*, ]*): (.*)")


def document() -> str:
    """The whole page."""
    lines = [HEAD]
    for module, names in PARTS.items():
        lines += [f"## `{module}`\n", *(line for name in names for line in described(module, name))]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def described(module: str, name: str) -> Iterator[str]:
    """A heading, the call and its docstring; of a class its methods, too."""
    found = getattr(import_module(module), name)
    yield f"### {name}\n"
    yield f"```python\n{called(name, found)}\n```\n"
    yield from said(found)
    if inspect.isclass(found):
        for method, value in vars(found).items():
            function = getattr(value, "fget", getattr(value, "func", value))
            if not method.startswith("_") and inspect.isfunction(function) and function.__doc__:
                is_call = inspect.isfunction(value)
                yield f"`.{called(method, function, is_method=True) if is_call else method}`\n"
                yield from said(function)


def called(name: str, found: Any, *, is_method: bool = False) -> str:
    """The signature without types, which the sentences give. A class is called with its fields."""
    if dataclasses.is_dataclass(found):
        return f"{name}({', '.join(('*', *(field.name for field in dataclasses.fields(found) if field.init)))})"
    if inspect.isclass(found):
        return name
    kept = list(inspect.signature(found).parameters.values())[is_method:]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in kept]
    return f"{name}{inspect.Signature(plain)}"


def said(found: Any) -> Iterator[str]:
    """A docstring as Markdown: its sections become lists."""
    lines = inspect.cleandoc(inspect.getdoc(found) or "").splitlines()
    while lines:
        line = lines.pop(0)
        if not (section := SECTION.fullmatch(line)):
            yield line
            continue
        body = []
        while lines and (lines[0].startswith("    ") or not lines[0]):
            body.append(lines.pop(0))
        yield f"*{section[1]}*{section[2]}\n"
        yield from entries(dedent("\n".join(body)).splitlines())
    yield ""


def entries(lines: list[str]) -> Iterator[str]:
    """The entries of a section as a list; further lines of one stay in it."""
    for line in lines:
        found = ENTRY.fullmatch(line)
        yield f"- `{found[1]}`: {found[2]}" if found else f"  {line.strip()}" if line.startswith(" ") else line
    yield ""


def glossary() -> str:
    """Each term with the line that Find answers, alphabetically; signs come first."""
    terms = tomllib.loads(TERMS.read_text(encoding="utf-8"))["terms"]
    lines = [f"- **{term['title']}**: {term['says']}" for term in sorted(terms, key=lambda term: term["title"].lower())]
    about = "What Find answers, from `assets/terms.toml`; `python -m scripts.draw_api` writes it here."
    return "\n".join(["# Glossary", "", about, "", *lines, ""])


def main() -> None:
    DOCUMENT.write_text(document(), encoding="utf-8")
    GLOSSARY.write_text(glossary(), encoding="utf-8")


if __name__ == "__main__":
    main()
