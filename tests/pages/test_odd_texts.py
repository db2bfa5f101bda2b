"""Texts and models for which no page was made: none breaks a tab, and what cannot be read or is unknown is said."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app import captions, charts, matrices, open_page, spaces, views, words
from tests.pages import plain
from tests.pages.tabs import addresses, is_there
from tests.pages.test_hidden_choices import OPENS_WITH
from tests.pages.test_useless_weights import without_number
from tests.text.panics import TEXT, panic
from tfmviz.model.config import ModelConfig
from tfmviz.text import tokenizer
from tfmviz.ui import icons, router

ODD = ("a", "<img src=x onerror=alert(1)> $x$ **b** 👩‍👩‍👧 says 😀 老王 <|endoftext|>", "word " * 1000)


ONE = re.compile(r"(?<![\d.,])(?<!of )(?<!the )(?<!− )1 ([a-z]+s)\b|\b1 of (?:the )?\d+ [a-z]+s are\b")
"""“1 tokens”, “1 of the 8 heads are”."""

OTHERS = {"is", "was", "has", "does", "times", "less", "plus", "minus", "nats", "ms", "replaces"}
"""Words after a 1 that are no plurals of what is counted."""

ONES = dict.fromkeys(("prefix", "w", "size", "global", "random", "topk"), "1")


@pytest.mark.parametrize("page", [page.name for page in router.PAGES if page.group])
def test_an_odd_text_breaks_no_tab(page: str) -> None:
    complaints = []
    for n, tab in enumerate(addresses(page)):
        for text in ODD:
            app = open_page(page, text=text, **tab, **(ONES if text == ODD[0] else {}))
            said = [one.value for one in app.error] + ["<img"] * ("<img" in words(app))
            said += ["another text"] * (app.text_area(key="text").value != text)
            said += [one for one in without_number(app) if not one.endswith(": nan")]  # of a bar that is not drawn
            links = re.findall(r"\]\((?=[.?])\.?/?([^)]*)\)", words(app))
            said += [link for link in links if not is_there(f"./{page if link.startswith('?') else ''}{link}")]
            if text == ODD[0]:
                found = ONE.finditer(f"{words(app)}\n{captions(app)}")
                said += [match[0] for match in found if match[1] not in OTHERS]
            if n == 0:
                said += [one.value for one in app.warning]
                cut = any(note.icon == icons.CUT for note in app.info)
                said += ["cut"] * (text != ODD[1] and cut != (text == ODD[2]))  # some models cut the second as well
            complaints += [(tab, text[:9], one) for one in said]
    assert not complaints
    assert ["Type a sentence" in warning.value for warning in open_page(page, text="").warning] == [True]


def test_every_page_says_that_a_text_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One on which the library of tokenizers gives up. Pages that read no text show what they always show."""
    parts_of = tokenizer.parts_of
    monkeypatch.setattr(tokenizer, "parts_of", lambda text, *rest: panic() if text == TEXT else parts_of(text, *rest))
    app, silent = open_page("explorer", text=TEXT), []
    for page in (page.name for page in router.PAGES):
        app.switch_page(f"pages/{page}.py").run()
        if not any("Change the text, or choose another model" in one.value for one in app.warning):
            silent.append(page)
    assert set(silent) == {"contents", "lectures"}


def test_twins_that_learned_english_do_not_judge_another_language_without_saying_so() -> None:
    places: tuple[tuple[str, dict[str, str]], ...] = (
        ("why", {"why": "The first token"}),
        ("feed_forward", {"layer_part": "Without it", "without_it": "Trained without"}),
        ("masks", {"effect": "Loss", "start": "full"}),
        ("efficient", {"method": "Trained with it"}),
        ("efficient", {"method": "Running sums", "sums": "Trained state space"}),
        ("positions_compare", {"experiment": "Longer texts"}),
    )
    wrong = []
    for name, at in places:
        for text, model, other in (
            ("The cat sat on the mat.", "tiny-english", False),
            ("J'ai une voiture rouge.", "french-english", True),
            ("猫在河边睡觉。", "tiny-english", True),
        ):
            if name == "masks" and model == "french-english":
                continue  # no twin of a translator
            said = words(open_page(name, text=text, model=model, **at))
            if not re.search("nats|urprise", said) or ("learned English alone" in said) is not other:
                wrong.append((name, at, text))
    assert wrong == []


def test_a_missing_model_is_named_and_the_rest_goes_on(own_zoo: Path) -> None:
    shutil.copytree(plain.MODEL, own_zoo / "tiny-english")
    for page, address, name in (
        ("positions", {}, "twins-none"),
        ("positions", {"lesson": "Learned"}, "twins-learned"),
        ("positions", {"lesson": "Sinusoidal", "wave": "On real words"}, "twins-sinusoidal"),
        ("positions_rope", {"scheme": "ALiBi"}, "twins-alibi"),
        ("positions_compare", {}, "twins-none"),
        ("residual_stream", {"stream": "Two designs"}, "twins-rope"),
        ("ladder", {}, "ladder-window"),
    ):
        app = open_page(page, **address)
        assert f"needs the model `` {name} ``" in words(app), (page, address)
        assert not app.error
    assert matrices(open_page("positions", lesson="Sinusoidal", wave="Heat map"))


SHAPES: dict[str, dict[str, Any]] = {
    "one-head": {"n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "feed_forward": "none", "norm_position": "post"},
    "shared-keys": {"n_kv_heads": 1, "feed_forward": "swiglu", "norm": "rms", "norm_position": "both"},
    "encoder": {"architecture": "encoder-only", "positions": "sinusoidal", "norm": "rms", "feed_forward": "relu"},
    "translator": {"architecture": "encoder-decoder", "positions": "none", "norm_position": "post"},
}


@pytest.mark.parametrize("page", [page for page, choices in OPENS_WITH.items() if "model" in choices])
def test_every_tab_is_drawn(page: str, put_random_model: Callable[..., ModelConfig]) -> None:
    wrong = []
    for name, shape in SHAPES.items():
        put_random_model(name, **shape)
        for kind in ("encoder", "cross-attention", "decoder") if name == "translator" else ("",):
            for tab in addresses(page):
                app = open_page(page, model=name, text="the cat sat", **tab | ({"kind": kind} if kind else {}))
                wrong += [(name, kind, tab, error.value) for error in app.error]
                if not (views(app) or charts(app) or spaces(app) or app.table or app.info or words(app)):
                    wrong.append((name, kind, tab, "nothing is drawn"))
    assert not wrong
