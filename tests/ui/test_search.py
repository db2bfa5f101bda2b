"""The search: everything that it names is there, and it finds what a newcomer asks for."""

import json
from dataclasses import asdict

from starlette.requests import Request

from tests.app import open_page, sent
from tests.classroom.crowd import together
from tests.node import call
from tests.pages import tabs
from tfmviz import zoo
from tfmviz.ui import lecture_steps, search
from tfmviz.ui.router import PAGES, address

ENTRIES = search.entries()

CHOICES = {page.name: tabs.addresses(page.name) for page in PAGES}


def test_every_address_opens_what_it_names() -> None:
    models = zoo.available()
    for entry in ENTRIES:
        assert tabs.is_there(entry.address), entry
        assert tabs.parts_of(entry.address)[1].get("model", "tiny-english") in models, entry
        assert entry.title
        assert entry.kind == "step" or 1 < len(entry.says.split()) <= 30, entry


def test_all_pages_tabs_models_steps_and_terms_can_be_found_once() -> None:
    found = {kind: [tabs.parts_of(one.address) for one in ENTRIES if one.kind == kind] for kind in ("page", "tab")}
    assert found["page"] == [(page.name, {}) for page in PAGES]
    assert found["tab"] == [(page, tab) for page, choices in CHOICES.items() for tab in choices if tab]
    models = [tabs.parts_of(entry.address)[1]["model"] for entry in ENTRIES if entry.kind == "model"]
    assert sorted(models) == list(zoo.available())
    said = [step.say for walk in lecture_steps.walks()[0].values() for step in walk.steps]
    assert [entry.title for entry in ENTRIES if entry.kind == "step"] == said
    terms = [entry.title for entry in ENTRIES if entry.kind == "term"]
    assert len(terms) == len(set(terms)) > 50


ASKED = {
    "√d": "√d",
    "why √d?": "Why √d?",
    "sqrt": "√d",
    "Kneser-Ney": "Kneser-Ney",
    "kneser ney": "Kneser-Ney",
    "ALiBi": "ALiBi",
    "alib": "ALiBi",
    "why is there a mask in the decoder": "Causal mask",
    "which head links two words": "Which head links two words?",
    "hide a word": "Hide a word",
    "rotary": "RoPE",
    "BERT": "Masked language model",
    "bpe": "Byte-pair encoding",
    "Mamba": "State space model",
    "layer norm": "LayerNorm",
    "KV cache": "KV cache",
    "induction": "Induction",
    "twins-none": "Twin without positions",
    "french to english": "French to English",
    "letters backwards": "Letters backwards",
}

LECTURES = {
    "counting": "language modelling; n-gram; Markov assumption; add-δ smoothing; back-off; sparsity; storage; "
    "chain rule",
    "ladder": "fixed window; RNN; sequence labelling; stacked bi-RNN; minimum number of steps",
    "bottleneck": "bottleneck; context vector; bilinear; alignment",
    "step_by_step": "fuzzy hash table; query key value; matrix form; √d; "
    "variance of the dot product; multi-head; concatenate; W_O",
    "masks": "causal; masks; renormalisation; padding; cheat; BigBird; decoder-only",
    "explorer": "BertViz; cross-attention; encoder-decoder",
    "normalisation": "post-norm; pre-norm; LayerNorm; BatchNorm; RMSNorm; min-max scaling; standardisation",
    "feed_forward": "FFN; position-wise; GLU; SwiGLU; ReLU",
    "residual_stream": "residual stream; residual norm; deletion; subspaces; contextual vectors; ELMo",
    "positions": "order-blind; append the index; binary counter; learned positions; sinusoidal; heat map; rotation; "
    "positional encoding curves",
    "positions_rope": "Shaw; dependency-based; T5 bias; ALiBi; RoPE; long-term decay; interpolation; NTK",
    "positions_compare": "cross terms; longer texts",
    "tokens": "embedding; one-hot; subwords; weight tying; tying",
    "translating": "greedy",
    "recipe": "encoder-only; pretraining; teacher forcing; shifted right; self-supervision; Adam; learning rate; "
    "warm-up; label smoothing; KL; dropout",
    "training": "few-shot; duplicates",
    "writing": "sampling",
    "complexity": "complexity; convolution; maximum path length",
    "efficient": "Linformer; Reformer; LSH; reversible; linear attention",
    "size": "Common Crawl; batch size; parameters; GPT-3; scaling laws; power law; BLEU; ROUGE; "
    "ReZero; mixture of experts; Switch Transformer; Synthesizer; Universal; architecture search; sharing",
}
"""The words of the lectures by the page that is to be found first."""

NOWHERE = ("", "   ", "?!", "zzz qqq", "<img onerror=alert(1)>", "🙂", "a" * 200)


def test_a_question_is_answered_first_and_what_is_nowhere_is_not_found() -> None:
    questions = [*ASKED, *NOWHERE]
    given = {"entries": [asdict(entry) for entry in ENTRIES], "questions": questions}
    all_of = "given.questions.map((one) => module.ranked(module.prepared(given.entries), one, 12))"
    answers = dict(zip(questions, call("find/ranking.ts", all_of, given), strict=True))
    assert {question: found[0]["title"] for question, found in answers.items() if found} == ASKED


def test_every_word_of_the_lectures_finds_its_page_in_the_index_that_is_fetched() -> None:
    pages = {word: page for page, some in LECTURES.items() for word in some.split("; ")}
    given = {"entries": [asdict(entry) for entry in ENTRIES], "questions": list(pages)}
    first = "given.questions.map((one) => module.ranked(module.prepared(given.entries), one, 1)[0]?.address ?? '')"
    found = call("find/ranking.ts", first, given)
    assert {word: tabs.parts_of(where)[0] if where else "" for word, where in zip(pages, found, strict=True)} == pages
    found = together(search._answer(Request({"type": "http"})))
    assert json.loads(bytes(found.body)) == [asdict(entry) for entry in ENTRIES]


def test_the_contents_link_to_every_page_and_tab() -> None:
    groups = json.loads(sent(open_page("contents"), "tabs")["groups"])
    entries = [entry for _, entries in groups for entry in entries]
    found = {link for entry in entries for _, links in entry["folded"] for _, link in links}
    listed = [[entry["title"], entry["address"], *entry["says"]] for entry in entries]
    pages = [page for page in PAGES if page.name not in ("home", "contents")]
    assert listed == [[page.title, address(page.name), page.answers] for page in pages]
    for page in PAGES:
        for choices in tabs.addresses(page.name):
            assert not choices or address(page.name, choices) in found, choices
