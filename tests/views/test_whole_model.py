"""What the picture of the whole model draws: its numbers against independent forward passes, its words, its counts."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.analysis.test_stream import MODELS, made
from tests.app import forget
from tests.model import numpy_model
from tests.pages.plain import softmax
from tests.positions import recipe
from tests.traces import read_arrays
from tfmviz import zoo
from tfmviz.constants import HEAD_ACROSS
from tfmviz.model.weights import weights_of
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.trace import Array, Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import models, whole_model
from tfmviz.views import whole_model as view
from tfmviz.views.whole_model import block, scene
from tfmviz.views.whole_model.scene import WholeModel

TEXT = "The cat sat on the mat, and the dog"
LAYER, HEAD = 2, 3
ZOOMS: tuple[Literal["model", "block", "head"], ...] = ("model", "block", "head")
LAST, ATTENTION = "decoder.1.self_attn", ("self_attn", "cross_attn")
Header = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def _fresh_caches() -> Iterator[None]:
    yield
    forget()


def drawn(name: str, zoom: str, layer: str, head: int = 0, text: str = TEXT) -> tuple[Header, dict[str, Array]]:
    return read_arrays(whole_model.payload(models.load(name), text, zoom, layer, head))  # type: ignore[arg-type]


def columns(header: Header) -> dict[str, dict[str, Any]]:
    return {column["id"]: column for lane in header["lanes"] for column in lane["columns"]}


def fours(x: Array) -> Array:
    """Means of four neighbours: 256 numbers as 64."""
    return np.stack([x[:, 4 * n : 4 * n + 4].sum(axis=1) / 4 for n in range(64)], axis=1)


def near(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, atol=2e-3, rtol=1e-4)


def test_the_whole_model_is_drawn_with_the_numbers_of_the_record() -> None:
    trace, (header, arrays) = recorded(), drawn("tiny-english", "model", "decoder.0.self_attn")
    near(arrays["decoder.embed"], fours(trace["decoder.0.resid_pre"]))
    for layer in (f"decoder.{n}" for n in range(6)):
        near(arrays[layer], fours(trace[f"{layer}.resid_post"]))
        near(arrays[f"{layer}.length"], np.linalg.norm(trace[f"{layer}.resid_post"], axis=1))
        near(arrays[f"{layer}.self_attn.mean"], trace[f"{layer}.self_attn.pattern"].mean(axis=0))
        for part in ("self_attn", "mlp"):
            near(arrays[f"{layer}.{part}.adds"], np.linalg.norm(trace[f"{layer}.{part}.out"], axis=1))
    near(arrays["decoder.norm"], fours(trace["decoder.norm"]))
    near(arrays["readout"], softmax(trace["logits"]).max(axis=1))
    near(arrays["readout.logit"], trace["logits"].max(axis=1))
    vocabulary = models.load("tiny-english").vocabulary
    assert columns(header)["readout"]["labels"] == [vocabulary[n].strip() for n in trace["logits"].argmax(axis=1)]
    assert header["lanes"][0]["oneHot"] == {"ids": list(trace.target.ids), "size": 6144}
    assert header["lanes"][0]["tokens"][:3] == ["The", "cat", "sat"]


def recorded() -> Trace:
    return models.load("tiny-english").trace(TEXT)


def test_a_block_is_drawn_with_the_numbers_of_the_record() -> None:
    trace, block, layer = recorded(), f"decoder.{LAYER}", f"decoder.{LAYER}.self_attn"
    header, arrays = drawn("tiny-english", "block", layer)
    sites = ("resid_pre", "self_attn.norm", "self_attn.out", "resid_mid", "mlp.norm", "mlp.out", "resid_post")
    for n, site in enumerate(sites):
        near(arrays[f"{block}.{n}"], fours(trace[f"{block}.{site}"]))
    titles = [columns(header)[f"{block}.{n}"]["title"] for n in range(7)]
    assert titles == ["X", "T¹", "T²", "T³", "T⁴", "T⁵", "H"]
    W_O, size = models.load("tiny-english").weights.attention(layer).W_O, len(trace.tokens)
    for head in range(8):
        near(arrays[f"{layer}.writes"][head], np.linalg.norm(trace[f"{layer}.z"][head] @ W_O[head], axis=1))
        near(arrays[f"{layer}.thumbs"][head * size : (head + 1) * size], trace[f"{layer}.pattern"][head])


def test_a_head_is_drawn_with_the_numbers_of_the_record() -> None:
    trace, layer = recorded(), f"decoder.{LAYER}.self_attn"
    header, arrays = drawn("tiny-english", "head", layer, HEAD)
    near(arrays["x"], fours(trace[f"{layer}.norm"]))
    for name in ("q", "k", "v", "z", "pattern"):
        near(arrays[name], trace[f"{layer}.{name}"][HEAD])
    W_O, length = models.load("tiny-english").weights.attention(layer).W_O, len(trace.tokens)
    near(arrays["write"], fours(trace[f"{layer}.z"][HEAD] @ W_O[HEAD]))
    near(arrays["allowed"], np.tri(length))
    shapes = {name: column["shape"] for name, column in columns(header).items()}
    assert (shapes["q"], shapes["pattern"]) == ([length, 32], [length, length])
    assert columns(header)["q"]["parameters"] == 256 * 32 + 32


def test_twins_end_in_the_words_of_an_independent_forward_pass() -> None:
    for twin in ("alibi", "t5", "shaw", "learned", "sinusoidal", "none"):
        folder = zoo.MODELS / f"twins-{twin}"
        ids = tuple(Tokenizer.load(folder / "tokenizer.json").encode(TEXT, max_len=64).ids)
        header, arrays = drawn(f"twins-{twin}", "model", "decoder.0.self_attn")
        near(arrays["readout.logit"], numpy_model.forward(folder, ids).logits.max(axis=1))
        adds = "decoder.pos_embed" in columns(header)
        assert adds == (twin in ("learned", "sinusoidal")), twin
        if adds:
            added = numpy_model.added(folder, len(ids))
            near(arrays["decoder.pos_embed"], (added[:, ::2] + added[:, 1::2]) / 2)


def test_the_boxes_of_every_shipped_model_hold_all_its_parameters() -> None:
    for name in zoo.available():
        header, _ = drawn(name, "model", models.load(name).config.layers[0], text="le chat")
        counted = sum(column.get("parameters", 0) for column in columns(header).values())
        weights = load_file(zoo.MODELS / name / "model.safetensors")
        in_notes = weights["decoder.positions.table"].size if name in ("twins-t5", "twins-shaw") else 0
        assert counted + in_notes == sum(array.size for array in weights.values()) == header["total"], name
        assert (f"({in_notes:,} parameters" in header["lanes"][0]["note"]) == bool(in_notes), name


def test_a_translators_answer_is_shifted_right_behind_the_start() -> None:
    header, arrays = drawn("french-english", "model", "decoder.0.cross_attn", text="Je suis étudiant.")
    source, answer = header["lanes"]
    assert source["tokens"][0] == "Je"
    assert answer["tokens"][0] == "<START>"
    assert "<START> (here the token <|endoftext|>)" in answer["note"]
    said = columns(header)["readout"]["labels"]
    assert said[:-1] == answer["tokens"][1:]  # what it writes at one place is what it reads at the next
    assert source["marks"]["values"] == [f"decoder.{n}.cross_attn.mean" for n in range(3)]
    for name in source["marks"]["values"]:
        assert arrays[name].shape == (len(answer["tokens"]), len(source["tokens"]))
        near(arrays[name].sum(axis=1), np.ones(len(answer["tokens"])))
    assert columns(header)["encoder.norm"]["lines"] == ["memory M"]


def test_parts_stand_as_the_model_has_them() -> None:
    def parts(name: str) -> list[str]:
        header, _ = drawn(name, "model", models.load(name).config.layers[-1], text="le chat")
        return [part["kind"] for part in columns(header)["decoder.0"]["parts"]]

    def on_stream(name: str) -> list[bool]:
        """Whether its norms stand on the stream, so that nothing goes past them."""
        header, _ = drawn(name, "model", "decoder.0.self_attn", text="le chat")
        return [part["onStream"] for part in columns(header)["decoder.0"]["parts"] if part["kind"] == "norm"]

    assert on_stream("tiny-english") == [False, False]
    assert on_stream("twins-postnorm") == [True, True]
    assert parts("tiny-english") == ["norm", "attention", "add", "norm", "mlp", "add"]
    assert parts("twins-postnorm") == ["attention", "add", "norm", "mlp", "add", "norm"]
    assert parts("induction") == ["norm", "attention", "add"]
    assert parts("french-english") == [*parts("induction"), "norm", "cross", "add", "norm", "mlp", "add"]


def test_every_kind_of_model_can_be_drawn() -> None:
    for name, zoom in itertools.product(MODELS, ZOOMS):
        subject = small(name)
        for layer in subject.trace.layers:
            header, arrays = read_arrays(view.payload(subject, zoom, layer, 1))
            for lane in header["lanes"]:
                ids = [column["id"] for column in lane["columns"]]
                for n, column in enumerate(lane["columns"]):
                    assert len(arrays[column["matrix"]]) == len(lane["tokens"]) == column["shape"][0], (name, zoom)
                    assert set(column.get("from", [])) <= set(ids[:n]), (name, zoom)
            every = columns(header).values()
            assert sum(column.get("parameters", 0) for column in every) <= header["total"], (name, zoom)
            assert all(np.isfinite(array).all() for array in arrays.values()), (name, zoom)
            if sites := view.read_at(subject, zoom, layer):
                assert set(sites.values()) <= set(subject.trace.sites), (name, zoom)
                assert {column["id"] for column in every if column.get("says")} == set(sites) - {"end"}, (name, zoom)
            else:
                assert zoom == "head" or layer.startswith("encoder"), (name, zoom)


def test_every_scheme_is_called_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the picture guessed it from what it does: any trained bias was T5's, any other one ALiBi's."""
    recipe.follow(monkeypatch)
    acts = {"embed": ("decoder.pos_embed", "{}"), "rotate": ("pattern", "q, k turned by {}")}
    acts["bias"] = acts["relate"] = ("pattern", "+ {}")
    wrong = []
    for kind, scheme in SCHEMES.items():
        monkeypatch.setitem(MODELS, kind, {"positions": kind})
        subject = small(kind, made.__wrapped__)
        shown = [read_arrays(view.payload(subject, zoom, "decoder.0.self_attn", 1))[0] for zoom in ("model", "head")]
        every = columns(shown[0]) | columns(shown[1])
        said = f"{json.dumps(shown, ensure_ascii=False)} {scene.attention_words(subject, 'decoder.0.self_attn', 3)}"
        others = [other.name for other in SCHEMES.values() if other.name not in scheme.name and other.name in said]
        note = shown[0]["lanes"][0]["note"]
        column, line = acts.get(scheme.acts or "", ("", ""))
        named = not column or line.format(scheme.name) in every[column]["lines"]
        links = dict(every[column]["links"]) if column else {}
        leads = not column or scheme.tab is None or scheme.tab[1].items() <= links[scheme.tab[0]].items()
        if others or not note.startswith(f"{scheme.name}. {scheme.idea}") or not named or not leads:
            wrong.append((kind, others, note, named, leads))
    assert "logarithmic" in SCHEMES
    assert wrong == []


def test_swiglu_and_rms_norm_have_their_names_and_a_long_formula_breaks_before_its_sign() -> None:
    header, _ = read_arrays(view.payload(small("rms"), "block", "decoder.0.self_attn", 0))
    text = json.dumps(header, ensure_ascii=False)
    assert "RMSNorm(X)" in text
    assert "SiLU(T⁴ W_g)" in text
    assert "LayerNorm" not in text
    for lines in (["x W"], ["x W", "+ b"], ["a", "+ b + c"], ["(a + b)", "⊙ c"]):
        assert block.formula_lines(" ".join(lines)) == lines


def test_words_say_where_norms_stand_what_heads_read_and_what_divides_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODELS, "out", {"norm_position": "out"})
    notes = {"pre": "a pre-norm block", "post": "a post-norm block, as in 2017"}
    notes |= {"both": "a block with a norm before and after each layer", "out": "a block whose layers end with a norm"}
    notes["parallel"] = "a pre-norm block whose two layers read the same stream, X"
    for name, note in notes.items():
        subject = small(name, made.__wrapped__)
        whole, alone = (read_arrays(view.payload(subject, zoom, LAST, 0))[0] for zoom in ZOOMS[:2])
        assert alone["lanes"][0]["note"] == note
        assert ("read the same copy" in columns(whole)["decoder.1"]["words"]) == (name == "parallel"), name
        norm = "RMSNorm: x / √(" if name == "both" else "LayerNorm: (x − μ) /"
        assert scene.norm_words(subject).startswith(norm), name
    head, W_Q = read_arrays(view.payload(small("pre"), "head", LAST, 0))[0], small("pre").weights.attention(LAST).W_Q
    assert f" with {W_Q.shape[1]} × {W_Q.shape[2]} numbers of this head" in columns(head)["q"]["words"]
    divided = {"pre": f"softmax(q kᵀ / √{W_Q.shape[2]})", "ALiBi": "softmax(q kᵀ)"}
    assert all(formula in scene.attention_words(small(name), LAST, 3) for name, formula in divided.items())
    own, cross = (scene.attention_words(small("rope translator"), f"decoder.1.{part}", 3) for part in ATTENTION)
    assert (" after RoPE v, " in own, own.endswith("q, k, v from here.")) == (True, True)
    assert ("RoPE" in cross, cross.endswith("from the encoder's output.")) == (False, True)


def test_numbers_that_are_not_finite_are_refused() -> None:
    subject = small("pre")
    values = dict(subject.trace.values) | {"decoder.1.resid_post": np.full_like(subject.trace["embed"], np.nan)}
    object.__setattr__(subject.trace, "values", values)
    try:
        with pytest.raises(ValueError, match=r"decoder\.1: there are numbers that are not finite"):
            view.payload(subject, "model", "decoder.0.self_attn", 0)
    finally:
        made.cache_clear()


def test_a_block_beside_another_is_drawn_as_it_is_alone_under_a_name_of_its_own() -> None:
    subject = whole_model.subject(models.load("twins-postnorm"), TEXT)
    header, arrays = read_arrays(view.payload(subject, "block", "decoder.1.self_attn", 0, beside="Post-norm"))
    alone, own = drawn("twins-postnorm", "block", "decoder.1.self_attn")
    assert [lane["title"] for lane in header["lanes"]] == ["Post-norm"]
    assert (header["beside"], alone["beside"]) == (True, False)
    assert arrays.keys() == own.keys()
    near(arrays["decoder.1.0.length"], np.linalg.norm(subject.trace["decoder.1.resid_pre"], axis=1))


def small(name: str, make: Callable[..., Any] = made) -> WholeModel:
    module, trace, _, _ = make(name)
    vocabulary = tuple(f"w{n}" for n in range(module.config.vocab_size))
    weights, scheme = weights_of(module), module.config.scheme
    return WholeModel(title=name, trace=trace, weights=weights, scheme=scheme, vocabulary=vocabulary)


def test_linear_attention_has_its_formula_and_a_block_with_experts_its_router_and_all_parameters() -> None:
    data = json.dumps(drawn("twins-linear", "block", "decoder.1.self_attn")[0], ensure_ascii=False)
    assert "φ(q) φ(k)ᵀ / Σ" in data
    assert "softmax(q" not in data
    for name in ("twins-sink", "twins-rope"):
        text = json.dumps(drawn(name, "head", "decoder.1.self_attn")[0])
        assert ("s]" in text) == (name == "twins-sink"), "only a sink stands beside the scores"
    header, arrays = drawn("experts", "block", "decoder.1.self_attn")
    weights = load_file(zoo.MODELS / "experts" / "model.safetensors")
    counted = sum(column.get("parameters", 0) for column in columns(header).values())
    assert counted == sum(array.size for name, array in weights.items() if name.startswith("decoder.blocks.1."))
    near(arrays["decoder.1.mlp.router"].sum(axis=1), np.ones(len(arrays["decoder.1.mlp.router"])))


def test_a_thumbnails_cell_is_the_largest_that_it_stands_for() -> None:
    for length in (5, 37, 101):
        pattern = np.random.default_rng(length).random((2, length, length))
        size = min(HEAD_ACROSS, length)
        ends = [n * length // size for n in range(size + 1)]
        for head, small in enumerate(scene.thumbnails(pattern).reshape(2, size, size)):
            for row, column in np.ndindex(size, size):
                part = pattern[head, ends[row] : ends[row + 1], ends[column] : ends[column + 1]]
                assert small[row, column] == part.max()
