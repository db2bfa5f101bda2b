"""Activation functions: what lectures and the glossary name is on the page that they lead to."""

from __future__ import annotations

import re
import tomllib

from tests.app import charts, open_page, words
from tfmviz.places import PROJECT

TAB = "Activations"


def test_functions_that_lectures_and_the_glossary_name_are_drawn_or_explained() -> None:
    """SwiGLU is no function of one number: once it was named where SiLU was drawn."""
    app = open_page("feed_forward", text="The cat sat on the mat.", layer_part=TAB)
    there = set(re.findall(r"\w+LU\b", " ".join([*charts(app)["activations"]["tables"]["rows"]["line"], words(app)])))
    entries = [*tomllib.loads((PROJECT / "assets/terms.toml").read_text(encoding="utf-8"))["terms"]]
    for lecture in (PROJECT / "assets/lectures").glob("*.toml"):
        entries += tomllib.loads(lecture.read_text(encoding="utf-8"))["steps"]
    said = [f"{entry.get('title')} {entry.get('say')}" for entry in entries if entry.get("layer_part") == TAB]
    named = set(re.findall(r"\w+LU\b", " ".join(said)))
    assert {"ReLU", "SiLU"} <= named <= there
