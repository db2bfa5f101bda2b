"""What Python and the scripts both know is written once, in `tfmviz/constants.json`.

A second copy is found where it can be told from a coincidence:

- a text of the file, of at least six characters, stands in a literal elsewhere;
- a list or a table of the file does, or the keys or the values of a table as a list;
- a constant (a name in capitals) has a number of the file with a fraction or at least four digits that count, or a name
  of the file;
- Python and the scripts have constants of one name and one value, unless the name is one of `COINCIDENCES`.

A bare 10 or 128 in a line of code is nobody's copy; a reader has to see that.
"""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from scripts.lint import ROOT, Source, imports, sources
from tfmviz import constants

KNOWN: dict[str, Any] = json.loads((ROOT / "tfmviz" / "constants.json").read_text(encoding="utf-8"))

READERS = ("tfmviz/constants.py", "tfmviz/views/shared/constants.ts")
PYTHON = [one for one in sources().like("tfmviz/*.py") if one.name not in READERS]
SCRIPTS = [one for one in sources().like("tfmviz/views/*.ts", "tfmviz/views/*.tsx") if one.name not in READERS]
STYLES = [one for one in sources().like("tfmviz/*.css") if "dist" not in one.path.parts]

COMMENT = re.compile(r"/\*.*?\*/|(?<!\S)//[^\n]*", re.DOTALL)
BRACKETS = re.compile(r"\[[^][{}()]*\]|\{[^][{}()]*\}")
BARE_KEY = re.compile(r"([{,]\s*)(\w+)(?=\s*:)")
LAST_COMMA = re.compile(r",(?=\s*[\]}])")
IN_A_NUMBER = re.compile(r"(?<=\d)_(?=\d)")
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


def test_what_the_file_says_stands_nowhere_else() -> None:
    found = {one.name: set(copies(*parsed(one.text, one.path.suffix))) for one in (*PYTHON, *SCRIPTS, *STYLES)}
    complaints = [f"{path} repeats {', '.join(sorted(found[path]))}" for path in found if found[path]]
    assert not complaints, "\n".join([*complaints, "import it: see tfmviz/constants.py"])


def named(files: list[Source]) -> dict[tuple[str, str], str]:
    """Constants by name and value, and a file where each stands."""
    return {
        (name, json.dumps(value, sort_keys=True)): one.name
        for one in files
        for name, value in parsed(one.text, one.path.suffix)[0]
        if name and value is not None and name not in COINCIDENCES
    }


def test_no_constant_has_its_name_and_value_in_both_languages() -> None:
    python, scripts = named(PYTHON), named(SCRIPTS)
    assert min(len(python), len(scripts)) > 150, "the constants are not found any more"
    twice = [f"{name}: {python[name, value]}, {scripts[name, value]}" for name, value in python.keys() & scripts.keys()]
    assert not twice, "\n".join([*sorted(twice), "one fact: move it to tfmviz/constants.json; see CONTRIBUTING.md"])


def test_both_languages_use_each_constant_by_its_name() -> None:
    assert {name for name in vars(constants) if name.isupper() and name[0] != "_"} == KNOWN.keys()
    asked = [path.split(".") for one in PYTHON for path, _ in imports(one)]
    python = {parts[-1] for parts in asked if parts[:2] == ["tfmviz", "constants"]}
    scripts = {name for one in SCRIPTS for names in IMPORTED.findall(one.text) for name in re.findall(r"\w+", names)}
    assert not KNOWN.keys() - python, "Python does not use these: leave them to the scripts"
    assert not KNOWN.keys() - scripts, "the scripts do not use these: leave them to Python"


def test_a_second_copy_is_found_and_a_coincidence_is_none() -> None:
    written = {
        ".py": {
            'INKS = "0123456789abcdefg"': 2,
            'f"x{y}: 0123456789abcdefg"': 1,
            '"""0123456789abcdefg"""': 0,
            "LEAST = 5e-5": 1,
            "LEAST: float = 5e-5": 1,
            "SIZE, _LEAST = 128, 5e-5": 1,
            "STEPS = 1_023": 1,
            "SIZE = 128": 0,
            "x = 5e-5": 0,
            "MOST_TYPED = 3": 1,
            'order = ["repetition", "temperature", "top_k", "top_p", "min_p"]': 1,
            'SIGNS = re.compile(r" *[=+\\-@＝＋－＠\\t\\r\\n]")': 1,
        },
        ".ts": {
            'const DIGITS = "0123456789abcdefg";': 1,
            "x(); // 0123456789abcdefg": 0,
            "export const LEAST = 5e-5; // of a share": 1,
            "const SIZE = 128;": 0,
            "const [SIZE, LEAST] = [128, 5e-5];": 1,
            "const MOST_TYPED = 3;": 1,
            "const SET = { repetition: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0 };": 1,
            "const SIGNS = /^ *[=+\\-@＝＋－＠\\t\\r\\n]/u;": 1,
        },
        ".css": {"content: '0123456789abcdefg';": 1, "/* 0123456789abcdefg */": 0},
    }
    for suffix, each in written.items():
        for source, count in each.items():
            assert len(set(copies(*parsed(source, suffix)))) == count, source
    python = dict(literals_of_python(ast.parse('A = re.compile(r"[a-z]+")')))
    assert python["A"] == dict(literals_of_script("const A = /^[a-z]+$/;"))["A"] == "[a-z]+"
