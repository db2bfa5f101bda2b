"""What Python and the scripts both know is written once, in `tfmviz/constants.json`.

A second copy is found where it can be told from a coincidence:

- a text of the file, of at least six characters, stands in a literal elsewhere;
- a list or a table of the file does, or the keys or the values of a table as a list;
- a constant (a name in capitals) has a number of the file with a fraction or at least four digits that count, or a name
  of the file;
- Python and the scripts have constants of one name and one value, unless the name is one of `COINCIDENCES`.

A bare 10 or 128 in a line of code is nobody's copy; a reader has to see that.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scripts.lint import Source, Sources

KNOWN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "tfmviz/constants.json").read_text(encoding="utf-8"))

READERS = ("tfmviz/constants.py", "tfmviz/views/shared/constants.ts")

COMMENT = re.compile(r"/\*.*?\*/|(?<!\S)//[^\n]*", re.DOTALL)
BRACKETS = re.compile(r"\[[^][{}()]*\]|\{[^][{}()]*\}")
BARE_KEY = re.compile(r"([{,]\s*)(\w+)(?=\s*:)")
LAST_COMMA = re.compile(r",(?=\s*[\]}])")
IN_A_NUMBER = re.compile(r"(?<=\d)_(?=\d)")
IMPORTED_PYTHON = re.compile(r"from tfmviz\.constants import (\([^)]*\)|.*)")
GIVEN = re.compile(r"^([A-Z][A-Z_0-9]*)(?=: )", re.MULTILINE)
IMPORTED = re.compile(r'import \{([^}]*)\} from "[^"]*/constants\.ts"')
NAMED = re.compile(r"^(?:export )?const ([A-Z][A-Z_0-9]*)\b[^=;\n]*= (/.+/(?=[a-z]*;)|[^;]+)", re.MULTILINE)
NAMED_TOGETHER = re.compile(r"^(?:export )?const \[([A-Z][A-Z_0-9, ]*)\] = (\[[^]]*\]);", re.MULTILINE)

COINCIDENCES = {"FEW", "KEPT", "LEAST", "MOST", "SHOWN", "SIDES"}
"""Names that do not say of what: `SHOWN` are four heads here and four rows there."""


def plain(value: Any) -> Any:
    """A value as both languages would have it, to compare: lists for tuples, floats for whole numbers."""
    match value:
        case bool() | str():
            return value
        case int() | float():
            return float(value)
        case list() | tuple():
            return [plain(one) for one in value]
        case dict():
            return {str(key): plain(one) for key, one in value.items()}
    return None


def named_in_python(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names in capitals, without a mark for private ones, and what each is given; of a regular expression its text."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=False))
            case ast.Assign(targets=[name], value=value) | ast.AnnAssign(target=name, value=ast.expr() as value):
                pairs = [(name, value)]
            case _:
                continue
        for name, value in pairs:
            if isinstance(name, ast.Name) and name.id.isupper():
                yield name.id.lstrip("_"), pattern_in(value)


def pattern_in(value: ast.expr) -> ast.expr:
    """What `re.compile` gets; another value as it is."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile"), args=[pattern, *_]):
            return pattern
    return value


def literals_of_python(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """The constant (or "") and the value of every literal: texts, numbers, lists and tables; docstrings are none."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    names = {id(value): name for name, value in named_in_python(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.UnaryOp) and id(node) not in said:
            with suppress(ValueError, TypeError):
                yield names.get(id(node), ""), plain(ast.literal_eval(node))


def literals_of_script(text: str) -> Iterator[tuple[str, Any]]:
    """The same of a script, as far as JSON can say it; of nested lists and tables the innermost."""
    text = COMMENT.sub("", text)
    for found in BRACKETS.finditer(text):
        yield "", read(found[0])
    for name, value in NAMED.findall(text):
        yield name, value.strip("/^$") if value.startswith("/") else read(value.removesuffix(" as const"))
    for names, values in NAMED_TOGETHER.findall(text):
        yield from zip(names.split(", "), read(values) or (), strict=False)


def read(literal: str) -> Any:
    """What a literal of JavaScript stands for; None if it is none that JSON knows."""
    quoted = LAST_COMMA.sub("", BARE_KEY.sub(r'\1"\2"', literal))
    with suppress(ValueError):
        return plain(json.loads(IN_A_NUMBER.sub("", quoted)))
    return None


@cache
def parsed(source: str, suffix: str) -> tuple[list[tuple[str, Any]], str]:
    """The literals of a source, and its texts: all that is no comment, in Python what the literals hold."""
    if suffix == ".py":
        literals = list(literals_of_python(ast.parse(source)))
        return literals, "\n".join(value for _, value in literals if isinstance(value, str))
    return [] if suffix == ".css" else list(literals_of_script(source)), COMMENT.sub("", source)


def lists_and_tables(value: Any) -> Iterator[Any]:
    """Those of at least two entries in a value of the file, and keys and values of its tables as lists."""
    if isinstance(value, dict):
        yield from (list(value), list(value.values()))
    if isinstance(value, dict | list) and len(value) > 1:
        yield value
        for one in value.values() if isinstance(value, dict) else value:
            yield from lists_and_tables(one)


def is_distinctive(number: float) -> bool:
    """Whether hardly any two constants have this number by chance."""
    return not number.is_integer() or len(f"{number:.0f}".strip("0")) > 3


TEXTS = [value for value in KNOWN.values() if isinstance(value, str) and len(value) > 5]
COMPOUNDS = [plain(one) for value in KNOWN.values() for one in lists_and_tables(value)]
NUMBERS = [float(value) for value in KNOWN.values() if isinstance(value, int | float) and is_distinctive(float(value))]


def copies(literals: list[tuple[str, Any]], texts: str) -> Iterator[str]:
    """What a file repeats of `constants.json`."""
    for text in TEXTS:
        if text in texts or json.dumps(text, ensure_ascii=False)[1:-1] in texts:
            yield repr(text)
    for name, value in literals:
        if value in COMPOUNDS:
            yield repr(value)
        if name in KNOWN:
            yield name
        elif name and value in NUMBERS:
            yield f"{name} = {value:g}"


def python(every: Sources) -> list[Source]:
    return [one for one in every.like("tfmviz/*.py") if one.name not in READERS]


def scripts(every: Sources) -> list[Source]:
    return [one for one in every.like("tfmviz/views/*.ts", "tfmviz/views/*.tsx") if one.name not in READERS]


def repeats_no_constant(every: Sources) -> Iterator[str]:
    styles = [one for one in every.like("tfmviz/*.css") if "dist" not in one.path.parts]
    for one in (*python(every), *scripts(every), *styles):
        for copy in sorted(set(copies(*parsed(one.text, one.path.suffix)))):
            yield one.says(1, f"{copy} stands in constants.json: import it, see tfmviz/constants.py.")


def named(files: list[Source]) -> dict[tuple[str, str], Source]:
    """Constants by name and value, and a file where each stands."""
    return {
        (name, json.dumps(value, sort_keys=True)): one
        for one in files
        for name, value in parsed(one.text, one.path.suffix)[0]
        if name and value is not None and name not in COINCIDENCES
    }


def writes_no_constant_in_both_languages(every: Sources) -> Iterator[str]:
    here, there = named(python(every)), named(scripts(every))
    for name, value in sorted(here.keys() & there.keys()):
        twin = there[name, value].name
        yield here[name, value].says(1, f"{name} stands in {twin} too: one fact, move it to constants.json.")


def uses_each_constant_in_both_languages(every: Sources) -> Iterator[str]:
    reader = every["tfmviz/constants.py"]
    used = {
        "Python": IMPORTED_PYTHON.findall("\n".join(one.text for one in python(every))),
        "the scripts": IMPORTED.findall("\n".join(one.text for one in scripts(every))),
        "constants.py": GIVEN.findall(reader.text),
    }
    for language, names in used.items():
        for name in sorted(KNOWN.keys() - set(re.findall(r"\w+", " ".join(names)))):
            yield reader.says(1, f"{language} does not use {name}: leave it to the others.")
    for name in sorted({*GIVEN.findall(reader.text)} - KNOWN.keys()):
        yield reader.says(1, f"{name} does not stand in constants.json.")
