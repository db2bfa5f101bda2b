"""What an import costs, and what is read before torch."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.browser import ROOT
from tests.house.sources import MODULES, PAGES, name_of, tree_of


def loaded_by(program: str) -> set[str]:
    """The packages that a fresh Python has in memory after running this in the project's folder, with their parts."""
    program += "\nimport sys, json; print(json.dumps([name for name in sys.modules if name.count('.') < 2]))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        pytest.param("import tfmviz; tfmviz.available()", {"torch", "streamlit", "pandas"}, id="listing models"),
        pytest.param("import tfmviz.__main__", {"torch", "streamlit", "pandas"}, id="the command"),
        pytest.param("import tests.conftest", {"torch", "streamlit", "playwright", "numpy"}, id="any test"),
        pytest.param(
            "from tfmviz import zoo; zoo.load('tiny-english'); zoo.load('twins-t5'); zoo.load('twins-learned')\n"
            "zoo.load('twins-sinusoidal'); zoo.load('ladder-rnn', kind=zoo.EarlierModel)\n"
            "zoo.load('seq2seq-dot', kind=zoo.RecurrentTranslator); zoo.load('label-both', kind=zoo.RecurrentLabeller)",
            {"torch._dynamo", "transformers"},  # torch's compiler takes 0.9 s
            id="loading models",
        ),
    ],
)
def test_what_needs_no_heavy_package_imports_none(program: str, unwanted: set[str]) -> None:
    heavy = loaded_by(program) & unwanted
    assert not heavy, f"`{program}` imports {', '.join(sorted(heavy))}: import it in the function that needs it"


def test_title_sentence_and_sidebar_are_drawn_before_torch_is_imported() -> None:
    loaded_by("""
import sys
from collections.abc import Sequence
from streamlit.testing.v1 import AppTest
from tfmviz import zoo
from tfmviz.ui import models
torch_before_loading = []
def refuse(*what):
    torch_before_loading.append("torch" in sys.modules)
    raise zoo.ModelUnavailable("not now")
models._load = refuse
app = AppTest.from_file("app.py", default_timeout=300).switch_page("pages/explorer.py").run()
assert torch_before_loading == [False], f"torch was imported before the page stood: {torch_before_loading}"
assert app.title and app.text_area(key="text").value and app.slider(key="head")
assert "not now" in app.error[0].value
""")


def test_the_first_picture_needs_no_pandas() -> None:
    packages = loaded_by("""
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=300).switch_page("pages/explorer.py").run()
assert not app.exception and len(app.tabs) == 3
""")
    assert "torch" in packages
    assert "pandas" not in packages


IN_ANY_ORDER = {"streamlit", "starlette", "uvicorn", "transformers"}
"""The server has imported the first three before a page's first line runs; the last asks for its parts when they are
used, so that it waits for none of them.
"""


def parts_before_their_package(tree: ast.Module) -> list[str]:
    """The imports of a part (`tokenizers.models`) that come before any import of the package itself."""
    found: list[str] = []

    def look(body: Sequence[ast.stmt], known: frozenset[str]) -> None:
        inner: list[Sequence[ast.stmt]] = []
        for node in body:
            match node:
                case ast.Import(names=names):
                    paths = [alias.name for alias in names]
                case ast.ImportFrom(module=str(module)):
                    paths = [module]
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case _:
                    inner += [getattr(node, name, []) for name in ("body", "orelse", "handlers", "finalbody")]
                    continue
            for path in paths:
                package, dot, _ = path.partition(".")
                if dot and package not in known | sys.stdlib_module_names | IN_ANY_ORDER:
                    found.append(path)
                known |= {package}
        for part in inner:
            look(part, known)

    look(tree.body, frozenset({"tfmviz"}))
    return found


def test_a_package_is_imported_before_its_parts() -> None:
    """Two pages of a cold server import at the same time. `import a.b` holds b and waits for a; `import a`, which
    imports its own b, holds a and waits for b: Python breaks the circle, and one of them sees half a package.
    """
    found = {name_of(path): parts_before_their_package(tree_of(path)) for path in (*MODULES, *PAGES)}
    assert {path: parts for path, parts in found.items() if parts} == {}, "write `from package import part`"


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("from a.b import c", ["a.b"]),
        ("import a\nfrom a.b import c", []),
        ("from a import b\nfrom a.b import c", []),
        ("if TYPE_CHECKING:\n    import a\ndef f():\n    from a.b import c", ["a.b"]),
        ("def f():\n    import a.b\nimport a", []),
        ("try:\n    pass\nexcept E:\n    import a.b", ["a.b"]),
        ("import json.decoder", []),
    ],
)
def test_the_test_finds_such_an_import(program: str, found: list[str]) -> None:
    assert parts_before_their_package(ast.parse(program)) == found
