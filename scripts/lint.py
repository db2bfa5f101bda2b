"""The house rules beyond ruff, mypy and Biome, in seconds: `python -m scripts.lint`.

Each rule looks at one source, or at all of them, and prints `file:line: sentence` for every violation. Nothing of the
app is imported. docs/architecture.md and docs/decisions/ say why the rules are as they are.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

from scripts import draw_rooms, lint_constants

ROOT = Path(__file__).parents[1]
ROOMS = draw_rooms.read()

FOLDERS = ("assets", "bench", "deploy", "docs", "pages", "scripts", "tests", "tfmviz")
ENDINGS = (".css", ".js", ".md", ".mjs", ".py", ".toml", ".ts", ".tsx")

NOT_LESSONS = ("contents", "home", "lectures")
"""The pages that are not about a sentence."""


@dataclass(frozen=True)
class Source:
    """A file: its path from the project's root, and its text."""

    name: str
    text: str

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def calls(self) -> Iterator[ast.Call]:
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def says(self, where: int | ast.stmt | ast.expr, sentence: str) -> str:
        return f"{self.name}:{where if isinstance(where, int) else where.lineno}: {sentence}"

    def finds(self, pattern: str, sentence: str) -> Iterator[str]:
        """The sentence, at each match of the pattern."""
        for found in re.finditer(pattern, self.text, re.MULTILINE):
            yield self.says(self.text.count("\n", 0, found.start()) + 1, f"{found[0]!r}: {sentence}")


class Sources(dict[str, Source]):
    """Files by their names."""

    def like(self, *patterns: str) -> list[Source]:
        """Those whose names match one of these, where a star stands for folders, too."""
        return [one for name, one in self.items() if any(fnmatchcase(name, pattern) for pattern in patterns)]


@cache
def sources() -> Sources:
    """The project's."""
    paths = [*ROOT.glob("*.md"), ROOT / "app.py", *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    names = [path.relative_to(ROOT).as_posix() for path in sorted(paths) if path.suffix in ENDINGS]
    return Sources({name: Source(name, (ROOT / name).read_text(encoding="utf-8")) for name in names})


def imports(source: Source) -> Iterator[tuple[str, int]]:
    """Imports, inside functions too, in full (`tfmviz.ui.models`), and the line; not the standard library."""
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                paths = [alias.name for alias in names]
            case ast.ImportFrom(module=module, level=level, names=names):
                paths = [f"{'.' * level}{module or ''}.{alias.name}" for alias in names]
            case _:
                continue
        yield from ((path, node.lineno) for path in paths if path.split(".")[0] not in sys.stdlib_module_names)


def page_folders(source: Source) -> dict[str, int]:
    """The folders of `ui/`, one for each page, that it imports, with the line. The frame lies flat next to them."""
    found = ((path.split(".")[2], line) for path, line in imports(source) if path.startswith("tfmviz.ui."))
    return {name: line for name, line in found if (ROOT / "tfmviz" / "ui" / name / "__init__.py").exists()}


def folder_of(source: Source) -> str:
    """The folder of `ui/` that a page or a part of one belongs to; the frame's own name for its parts."""
    if source.path.parts[0] == "pages":
        return next(iter(page_folders(source)), source.path.stem)
    return source.path.parts[2] if len(source.path.parts) > 3 else "the frame"


def called(call: ast.Call) -> str:
    """The name in a call, without the object before it."""
    return ast.unparse(call.func).rpartition(".")[2] if isinstance(call.func, ast.Name | ast.Attribute) else ""


def imports_only_what_its_room_may(source: Source) -> Iterator[str]:
    name = source.path.parts[1].removesuffix(".py")
    if not (room := ROOMS.get(name)):
        yield source.says(1, f"docs/rooms.toml does not say what `{name}` may import")
        return
    packages = {*room.packages, *room.files.get(source.path.stem, ())}
    for path, line in imports(source):
        first, second = (*path.split("."), "")[:2]
        ours = first == "tfmviz"
        wanted = second if ours else first
        if not wanted:
            yield source.says(line, "imports are written in full, from `tfmviz` on")
        elif wanted != name and wanted not in (room.rooms if ours else packages):
            yield source.says(line, f"`{name}` may not import {wanted}: see docs/architecture.md, Rooms")


def knows_no_other_page(source: Source) -> Iterator[str]:
    own = folder_of(source)
    for folder, line in page_folders(source).items():
        if folder != own:
            yield source.says(line, f"`{own}` may not import the page `{folder}`; what two use belongs to the frame")


IN_ANY_ORDER = {"streamlit", "starlette", "uvicorn", "transformers"}
"""The server has imported the first three before a page's first line runs; the last imports its parts lazily."""


def imports_a_package_before_its_parts(source: Source) -> Iterator[str]:
    """Two pages of a cold server import concurrently. `import a.b` holds b and waits for a; `import a`, which imports b
    itself, holds a and waits for b: Python breaks the circle, and one of them sees half a package.
    """

    def look(body: Sequence[ast.stmt], known: frozenset[str]) -> Iterator[str]:
        inner: list[Sequence[ast.stmt]] = []
        for node in body:
            match node:
                case ast.Import(names=names):
                    paths = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module), level=0):
                    paths = [module]
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case _:
                    inner += [getattr(node, name, []) for name in ("body", "orelse", "handlers", "finalbody")]
                    continue
            for path in paths:
                package, dot, part = path.partition(".")
                if dot and package not in known | sys.stdlib_module_names | IN_ANY_ORDER:
                    yield source.says(node, f"write `from {package} import {part}`")
                known |= {package}
        for deeper in inner:
            yield from look(deeper, known)

    return look(source.tree.body, frozenset({"tfmviz"}))


INSIDE_A_MODULE = {"module", "get_submodule", "named_modules", "parameters", "named_parameters", "state_dict"}
"""Attributes of a torch module, and the one of a `ZooModel` that holds it."""


def does_not_reach_past_the_model(source: Source) -> Iterator[str]:
    """Classes of `model/` and torch modules are the model's own. A config is data and may be named."""
    way_out = "ask `Model.weights` or `position_effects`, see docs/decisions/model.md, Weights"
    for node in source.nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if re.match(r"tfmviz\.(model|positions)\.", module):
                classes = [alias.name for alias in names if alias.name[0].isupper() and not alias.name.isupper()]
                classes = [one for one in classes if one != "Stretching"]  # a Literal
                if classes and module != "tfmviz.model.config":
                    yield source.says(node, f"names {', '.join(classes)} of {module}; {way_out}")
            case ast.Attribute(attr=name) if name in INSIDE_A_MODULE or ast.unparse(node) in ("torch.nn", "nn.Module"):
                yield source.says(node, f"touches `{ast.unparse(node)}`; {way_out}")


def is_one_lesson(source: Source) -> Iterator[str]:
    if source.path.stem in NOT_LESSONS:
        return
    if not ast.get_docstring(source.tree):
        yield source.says(1, "a page says its lesson: give it a docstring")
    if not ast.unparse(source.tree.body[-1]).startswith("lesson.page("):
        yield source.says(1, "a page ends with `lesson.page(…)`, which sees to the router, the sentence and the turn")
    for node in source.tree.body[1:-1]:
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef):
            yield source.says(node, "only what `lesson.page` draws runs again after Enter; classes go into the folder")
    for path, line in imports(source):
        if not path.startswith("tfmviz.ui.") and path != "streamlit":
            yield source.says(line, f"a page imports Streamlit and `tfmviz.ui`, not {path}")
    if len(folders := page_folders(source)) != 1:
        yield source.says(1, f"a page imports one folder of `ui/`, not {', '.join(folders) or 'none'}")


def does_no_arithmetic(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and not any(
            isinstance(part, ast.JoinedStr) or isinstance(getattr(part, "value", None), str) for part in ast.walk(node)
        ):
            yield source.says(node, "arithmetic belongs to `analysis`, see docs/architecture.md, Rooms")


DRAWS = re.compile(r"(plotly|altair|vega_lite|line|bar|area|scatter|graphviz|pydeck)_chart|pyplot|image")
"""Streamlit's methods that show a picture; functions of `plots` with such a name make one."""


def says_in_words_what_figures_show(source: Source) -> Iterator[str]:
    for call in source.calls:
        name = called(call)
        if isinstance(call.func, ast.Attribute) and DRAWS.fullmatch(name) and source.name != "tfmviz/ui/figures.py":
            yield source.says(call, f"`{name}` says nothing to who cannot see it; use `ui.figures.show`")


def asks_for_numbers_in_one_place(source: Source) -> Iterator[str]:
    for call in source.calls:
        bound = called(call) == "number_input" and "bind" in {keyword.arg for keyword in call.keywords}
        if bound and source.name != "tfmviz/ui/inputs.py":
            yield source.says(call, "ask by `inputs.number_box`: Streamlit fails at a whole number of inf")


def leaves_the_address_to_one_module(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "query_params" and source.name != "tfmviz/ui/url.py":
            yield source.says(node, "ask `tfmviz.ui.url`, which checks what the address holds and bounds its length")


def writes_per_cent_without_a_space(source: Source) -> Iterator[str]:
    """A formatted number ends where the next part of an f-string begins."""
    if source.name.endswith(".py"):
        for node in source.nodes:
            if isinstance(node, ast.Constant) and re.search(r"(^|\d|\)) %", str(node.value)):
                yield source.says(node, "write 33%, as `words.numbers.per_cent` does")
    else:
        yield from source.finds(r"\} %|\d %[`\"]|\" %", "write 33%, as shared/numbers.ts does")


def holds_no_marks_of_a_merge(source: Source) -> Iterator[str]:
    return source.finds(r"^(<{7}|>{7}) ", "two versions stand beside each other")


def reads_as_a_textbook(source: Source) -> Iterator[str]:
    tells = r"\bbeside\b(?![.`])|trained alike|\bWhoever\b|\bhardly tell\b|loss it buys|\bput there\b|when drawn"
    return source.finds(tells, "no textbook would print this")


def teaches_as_a_textbook(source: Source) -> Iterator[str]:
    tells = r"Point at a|trained alike|when drawn|words and signs|learned numbers|is looked at →"
    return source.finds(tells, "no textbook would print this")


def never_turns_text_into_markup(source: Source) -> Iterator[str]:
    forbidden = (
        r"innerHTML|outerHTML|dangerouslySet|insertAdjacentHTML|document\.write|http(?!://www\.w3\.org/2000/svg)"
    )
    return source.finds(forbidden, "a reader's text becomes `textContent`, and nothing is loaded from elsewhere")


def does_not_ask_the_whole_page_what_it_holds(source: Source) -> Iterator[str]:
    whole = r"(?:\bbody|\bhtml|:root|\.stApp)[^\s,{]*:has\(.*"
    return source.finds(whole, "Chromium would match all elements anew whenever one comes or goes")


READS = {"all_inner_texts", "all_text_contents", "count", "get_attribute", "inner_text", "input_value", "text_content"}
READS |= {"is_checked", "is_disabled", "is_enabled", "is_hidden", "is_visible"}
"""Methods that say what a browser shows at this moment."""


def waits_for_what_it_asks(source: Source) -> Iterator[str]:
    """`expect` retries until its condition holds. A page may still change, and an `assert` looks once."""
    for node in (part for one in source.nodes if isinstance(one, ast.Assert) for part in ast.walk(one.test)):
        match node:
            case ast.Attribute(attr="url") | ast.Call(func=ast.Attribute(attr=str()), args=[]):
                name = node.attr if isinstance(node, ast.Attribute) else called(node)
                if name in READS | {"url"}:
                    yield source.says(node, f"`{name}` of a page that may still change: ask by `expect`")


def rooms_are_as_they_are_drawn(every: Sources) -> Iterator[str]:
    there = {PurePosixPath(name).parts[1].removesuffix(".py") for name in every if fnmatchcase(name, "tfmviz/*.py")}
    yield from (f"docs/rooms.toml:1: `{gone}` is gone" for gone in sorted(ROOMS.keys() - there))
    text = every["docs/architecture.md"].text
    if draw_rooms.document(text, ROOMS) != text:
        yield "docs/architecture.md:1: it shows other rooms than docs/rooms.toml: run `make format`"


def each_folder_is_that_of_one_page(every: Sources) -> Iterator[str]:
    owned = Counter(folder for source in every.like("pages/*.py") for folder in page_folders(source))
    folders = {source.path.parts[2] for source in every.like("tfmviz/ui/*/__init__.py")}
    for folder in sorted(folders):
        if owned[folder] != 1:
            yield f"tfmviz/ui/{folder}/__init__.py:1: used by {owned[folder]} pages; what two use belongs to the frame"


def the_docs_list_every_page_once(every: Sources) -> Iterator[str]:
    listed = Counter(re.findall(r"^\| .*\(`/(\w*)`\) \|", every["docs/pages.md"].text, re.MULTILINE))
    pages = Counter("" if source.path.stem == "home" else source.path.stem for source in every.like("pages/*.py"))
    for page in sorted({*listed, *pages}):
        if listed[page] != pages[page]:
            yield f"docs/pages.md:1: the table has `/{page}` {listed[page]} times, not {pages[page]}"


def keys(call: ast.Call) -> Iterator[tuple[str, bool]]:
    """The constant keys of a call, and whether they are those of a choice; else they name a figure or a container."""
    name, has_key = called(call), any(keyword.arg == "key" for keyword in call.keywords)
    match name, call.args:
        case (("tabs" | "parts"), [ast.Constant(value=key), *_]):
            yield str(key), True
        case str(name), [ast.Constant(value=key), *_] if name.startswith("show") and not has_key:
            yield str(key), False
    for keyword in call.keywords:
        if keyword.arg == "key" and isinstance(keyword.value, ast.Constant):
            yield str(keyword.value.value), not name.startswith(("show", "container", "expander"))


OF_WALKS = ("lecture", "step", "guess")
"""Parameters of a lecture step's address besides the choices."""


def every_choice_has_a_key_of_its_own(every: Sources) -> Iterator[str]:
    """Streamlit keeps the values of choices from page to page by their keys. With one key for a slider here and a text
    box there, a reader who went from page to page saw an error in place of a figure.
    """
    owners: dict[str, dict[str, str]] = {}
    choices: set[str] = set()
    for source in every.like("pages/*.py", "tfmviz/ui/*.py"):
        for call in source.calls:
            for key, is_choice in keys(call):
                owners.setdefault(key, {})[folder_of(source)] = source.says(call, f"the key `{key}`")
                choices |= {key} if is_choice else set()
    for key in sorted(choices):
        if len(owners[key]) > 1 or key in OF_WALKS:
            yield f"{[*owners[key].values()][-1]} is not that of one page alone, but of {', '.join(owners[key])}"


def every_key_that_is_styled_is_given(every: Sources) -> Iterator[str]:
    """Composed keys count by their beginnings; a tuple `KEYS` holds some, too."""
    given: set[str] = set()
    for source in every.like("pages/*.py", "tfmviz/ui/*.py"):
        for node in source.nodes:
            match node:
                case ast.Call(
                    func=ast.Name(id=name), args=[ast.JoinedStr(values=[ast.Constant(value=str(first)), *_]), *_]
                ) if name.startswith("show"):
                    given.add(first)
                case ast.Call(func=ast.Attribute(attr="key"), args=[ast.Constant(value=str(key))]):
                    given.add(key)
                case (
                    ast.keyword(arg="key", value=ast.JoinedStr(values=[ast.Constant(value=str(first)), *_]))
                    | ast.Call(
                        func=ast.Attribute(attr="key"),
                        args=[ast.JoinedStr(values=[ast.Constant(value=str(first)), *_])],
                    )
                ):
                    given.add(first)
                case ast.Call():
                    given |= {key for key, _ in keys(node)}
                case ast.Assign(targets=[ast.Name(id="KEYS"), *_], value=ast.Tuple(elts=names)):
                    given |= {str(ast.literal_eval(one)) for one in names}
    for source in every.like("tfmviz/*.css", "tfmviz/*.ts", "tfmviz/*.tsx"):
        for key in re.findall(r"st-key-([\w-]+)", source.text):
            if not key.startswith((*given,)):
                yield source.says(1, f"nothing is given the key `{key}`")


def settings_are_safe(_: Sources) -> Iterator[str]:
    """No usage statistics, no details of errors on the page, and no service beyond this machine."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    wanted = {"browser.gatherUsageStats": False, "client.showErrorDetails": "none", "runner.magicEnabled": False}
    for name, value in {**wanted, "server.address": "127.0.0.1", "server.maxUploadSize": 0}.items():
        section, key = name.split(".")
        if config[section].get(key) != value:
            yield f".streamlit/config.toml:1: {name} is {config[section].get(key)}, not {value}"


OF_ONE: Mapping[Callable[[Source], Iterator[str]], Sequence[str]] = {
    imports_only_what_its_room_may: ["tfmviz/*.py"],
    knows_no_other_page: ["tfmviz/ui/*.py"],
    imports_a_package_before_its_parts: ["tfmviz/*.py", "pages/*.py"],
    does_not_reach_past_the_model: ["tfmviz/ui/*.py", "pages/*.py"],
    is_one_lesson: ["pages/*.py"],
    does_no_arithmetic: ["pages/*.py"],
    says_in_words_what_figures_show: ["tfmviz/ui/*.py", "pages/*.py"],
    asks_for_numbers_in_one_place: ["tfmviz/*.py", "pages/*.py"],
    leaves_the_address_to_one_module: ["tfmviz/*.py", "pages/*.py", "app.py"],
    writes_per_cent_without_a_space: [*(f"tfmviz/{room}/*.py" for room in ("ui", "plots", "views")), "pages/*.py"],
    holds_no_marks_of_a_merge: ["*"],
    reads_as_a_textbook: ["docs/*.md", "CONTRIBUTING.md", "README.md"],
    teaches_as_a_textbook: ["pages/*.py", "tfmviz/ui/*.py", "tfmviz/views/*.ts", "tfmviz/views/*.tsx", "assets/*.toml"],
    never_turns_text_into_markup: ["tfmviz/*.ts", "tfmviz/*.tsx"],
    does_not_ask_the_whole_page_what_it_holds: ["tfmviz/*.css"],
    waits_for_what_it_asks: ["tests/browser/*.py", "tests/site/*.py"],
}
"""Each rule for single sources, and the sources it applies to."""

OF_ALL: Sequence[Callable[[Sources], Iterator[str]]] = (
    rooms_are_as_they_are_drawn,
    each_folder_is_that_of_one_page,
    the_docs_list_every_page_once,
    every_choice_has_a_key_of_its_own,
    every_key_that_is_styled_is_given,
    settings_are_safe,
    lint_constants.repeats_no_constant,
    lint_constants.writes_no_constant_in_both_languages,
    lint_constants.uses_each_constant_in_both_languages,
)


def findings(every: Sources) -> list[str]:
    of_one = [said for rule, names in OF_ONE.items() for source in every.like(*names) for said in rule(source)]
    return [*of_one, *(said for rule in OF_ALL for said in rule(every))]


def main() -> None:
    sys.exit("\n".join(findings(sources())) or 0)


if __name__ == "__main__":
    main()
