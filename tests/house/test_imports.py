"""What an import costs, and what is read before torch."""

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


LOADING = """
from tfmviz import zoo
for name in ("tiny-english", "fill-in", "twins-t5", "twins-learned", "twins-sinusoidal"):
    zoo.load(name)
zoo.load("ladder-rnn", kind=zoo.EarlierModel)
zoo.load("seq2seq-dot", kind=zoo.RecurrentTranslator)
zoo.load("label-both", kind=zoo.RecurrentLabeller)
"""


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("import tfmviz; tfmviz.available()", {"torch", "streamlit", "pandas", "transformers"}),
        ("import tfmviz.model.config, tfmviz.record.edits, tfmviz.positions.schemes", {"torch"}),
        ("import tfmviz.huggingface", {"transformers", "huggingface_hub"}),
        ("import tfmviz.__main__", {"torch", "streamlit", "pandas"}),
        ("import tests.conftest", {"torch", "streamlit", "playwright", "numpy"}),
        (LOADING, {"torch._dynamo", "transformers", "huggingface_hub"}),  # torch's compiler takes 0.9 s
    ],
    ids=["listing models", "facts", "the converter", "the command", "any test", "loading models"],
)
def test_what_needs_no_heavy_package_imports_none(program: str, unwanted: set[str]) -> None:
    heavy = loaded_by(program) & unwanted
    assert not heavy, f"`{program}` imports {', '.join(sorted(heavy))}: import it in the function that needs it"


def test_header_sentence_and_choices_are_drawn_before_torch_is_imported() -> None:
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
assert app.get("bidi_component") and app.text_area(key="text").value and app.number_input(key="head")
assert "not now" in app.error[0].value
""")


def test_the_first_picture_needs_neither_pandas_nor_transformers() -> None:
    """Under the command, too, which gives the page more to say: models to fetch, and what follows each key."""
    packages = loaded_by("""
from streamlit.testing.v1 import AppTest
from tfmviz import __main__
__main__._app()
app = AppTest.from_file("app.py", default_timeout=300).switch_page("pages/explorer.py").run()
assert not app.exception and len(app.tabs) == 3
""")
    assert "torch" in packages
    assert not packages & {"pandas", "transformers", "huggingface_hub"}
