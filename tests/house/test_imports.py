"""What an import costs, and what is read before torch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.browser import ROOT


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
