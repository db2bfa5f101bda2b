"""The pages that are made from the code and from the terms."""

import pydoc
import re
from importlib import import_module

import tfmviz
from scripts import draw_api


def test_the_pages_say_what_they_are_made_from() -> None:
    assert draw_api.GLOSSARY.read_text(encoding="utf-8") == draw_api.glossary(), "run `python -m scripts.draw_api`"
    assert draw_api.DOCUMENT.read_text(encoding="utf-8") == draw_api.document(), "run `python -m scripts.draw_api`"


def test_help_names_what_the_package_has_and_all_of_it_is_there() -> None:
    said = pydoc.plain(pydoc.render_doc(tfmviz))
    assert all(name in said for name in tfmviz.__all__)
    named = re.findall(r"^ +(tfmviz(?:\.\w+)+)  ", tfmviz.__doc__ or "", re.MULTILINE)
    assert len(named) == 4
    for name in named:
        module, _, part = name.rpartition(".")
        assert hasattr(import_module(module), part) or import_module(name), name
