"""A and B side by side: what stands on the page is what two runs of their own give."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, pictures, sent, series, views, words
from tests.pages.plain import ids_of, softmax
from tfmviz.constants import LEAST_SHARE
from tfmviz.record.edits import AblateHead, Edit
from tfmviz.record.trace import Array
from tfmviz.ui import compare_menu, model_names, models
from tfmviz.ui.sentences import EXAMPLES, changed

RIVER, MONEY = "We sat on the bank of the river.", "We put the money in the bank of the town."
LAYER, HEAD = "decoder.4.self_attn", 3
Edits = tuple[Edit, ...]


def page(compared: str = "", **address: str) -> AppTest:
    return open_page("explorer", **({"text": RIVER, "layer": "4", "head": "3", "with": compared} | address))


def pattern_of(
    text: str = RIVER, *, model: str = "tiny-english", layer: str = LAYER, head: int = HEAD, edits: Edits = ()
) -> Array:
    """The pattern of a head with NaN for what is masked, as the page draws it."""
    found = models.load(model).trace(text, edits)[f"{layer}.pattern"][head]
    return np.where(np.tri(len(found), dtype=bool), found, np.nan)


def place(text: str, token: str = "bank") -> int:
    return [label.strip() for label in models.load("tiny-english").encode(text).tokens].index(token)


def compare(**address: str) -> AppTest:
    return page(compared="another sentence", b=MONEY, **address)


def test_two_sentences_have_their_own_pictures_and_the_difference_is_of_the_tokens_that_both_have() -> None:
    app = compare()
    a, b = pattern_of(RIVER), pattern_of(MONEY)
    for key, pattern in (("side_a", a), ("side_b", b)):
        np.testing.assert_allclose(matrices(app)[key][0], pattern, atol=1e-3, err_msg=key)
    header, difference = pictures(app)["side_difference"]
    names, boxed = header["rows"]["names"], header["rows"]["boxed"]
    assert names == header["columns"]["names"]
    assert sorted(names[n] for n in boxed) == sorted(["sat", "on", "river", "put", "the", "money", "in", "town"])
    bank, of_a, of_b = names.index("bank"), place(RIVER), place(MONEY)
    assert difference[0, bank, bank] == pytest.approx(b[of_b, of_b] - a[of_a, of_a], abs=1e-3)
    assert np.isnan(difference[0, boxed]).all()
    assert "explorer" not in views(app)


def test_the_sentence_is_about_a_token_that_both_have_until_one_is_chosen() -> None:
    assert "on both sides" in words(page(compared="another sentence", b=f"{RIVER} It was cold.", token="4"))
    assert "B has no such token" in words(compare(token="7"))  # river
    app = compare()
    assert "has no such token" not in words(app)
    moved = matrices(app)["side_heads"][0]
    assert moved.shape == (6, 8)
    assert ((moved >= 0) & (moved <= 1)).all()
    layer, head = np.unravel_index(moved.argmax(), moved.shape)
    assert f"The head that changes most is layer {layer}, head {head}" in words(app)


def test_every_comparison_opens_with_another_sentence_and_something_to_see_but_with_itself() -> None:
    for text in (RIVER, "Nobody knows.", "We sat down and it was cold."):
        for what in ("another sentence", "another head", "a head off"):
            for layer in ("1", "4"):
                shown = matrices(page(what, text=text, layer=layer))["side_difference"]
                assert np.nanmax(np.abs(shown)) > LEAST_SHARE, (text, what, layer)
    app = page(compared="another sentence", b=RIVER)
    assert "Nothing differs" in words(app)
    assert np.nanmax(np.abs(matrices(app)["side_difference"])) == 0
    np.testing.assert_allclose(series(charts(app)["side_likeness"], by=None)[""], 1, atol=1e-5)
    for texts in EXAMPLES.values():
        assert all(changed(example.text) != example.text for example in texts)
    others = {"Man bites dog": "Man dog bites", "aa bb, cc": "cc bb, aa", "a bbb bbb cc": "a cc bbb bbb", "abc": "bca"}
    others |= {"": "", "?!": "!?", "Je suis étudiant.": "Je suis malade."}
    assert {text: changed(text) for text in others} == others


def test_a_token_before_the_first_change_leads_to_a_model_that_reads_both_ways() -> None:
    address = {"b": RIVER.replace("river", "town"), "token": "4"}
    app = page("another sentence", **address)
    app.button(key="both_ways").click().run()
    assert app.query_params["model"] == "fill-in"
    assert "Nothing differs" not in words(app)
    assert not [button for button in app.button if button.key == "both_ways"]


def test_two_models_trained_alike_share_heads_others_have_no_map_and_each_goes_by_the_name_of_the_menu() -> None:
    app = page(model="twins-sinusoidal", compared="another model", b_model="twins-rope", layer="1", head="0")
    pattern = pattern_of(model="twins-rope", layer="decoder.1.self_attn", head=0)
    np.testing.assert_allclose(matrices(app)["side_b"][0], pattern, atol=1e-3)
    assert "side_heads" in matrices(app)
    assert pictures(app)["side_b"][0]["titles"] == ["B, RoPE twin"]
    box = app.selectbox(key="b_model")
    assert box.value == "twins-rope"
    names = model_names.named(compare_menu._shapes())
    assert box.options == [one.name for one in names if one.model != "twins-sinusoidal"]
    box.set_value("fill-in").run()
    assert app.query_params["b_model"] == app.selectbox(key="b_model").value == "fill-in"
    assert pictures(app)["side_b"][0]["titles"] == ["B, Fill in"]
    sides = {"side_a", "side_b", "side_difference"}
    assert set(matrices(app)) & {*sides, "side_heads"} == sides


def test_another_head_and_a_head_that_is_off() -> None:
    shown = matrices(page(compared="another head", b_layer="1", b_head="7"))
    np.testing.assert_allclose(shown["side_b"][0], pattern_of(layer="decoder.1.self_attn", head=7), atol=1e-3)
    app = page(compared="a head off", without_layer="2", without_head="1", token="8")
    shown, edits = matrices(app), (AblateHead(layer="decoder.2.self_attn", head=1),)
    off = pattern_of(edits=edits)
    assert pictures(app)["side_b"][0]["titles"] == ["B, without head 2.1"]
    bars = [pictures(app)[key][0]["scale"]["title"] for key in ("side_a", "side_b")]
    assert bars == ["share of attention", ""], "one bar is enough"
    a, b = (models.load("tiny-english").trace(RIVER, some)["decoder.5.resid_post"][8] for some in ((), edits))
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert f"cosine 1.00 before the first layer, {cosine:.2f} after the last." in words(app)
    np.testing.assert_allclose(shown["side_b"][0], off, atol=1e-3)
    moved = shown["side_heads"][0]
    assert (moved[:3] == 0).all()  # what comes before it, and its own layer, hear nothing of it
    assert moved[3:].max() > 0


def test_odd_addresses_leave_a_as_it_is() -> None:
    sentence, model = {"with": "another sentence"}, {"with": "another model"}
    for address, note in (
        (sentence | {"b": "\u200b"}, ""),
        (sentence | {"b": "word " * 990}, "tokens at a time"),
        (sentence | {"b": "<img src=x onerror=alert(1)>"}, ""),
        (sentence | {"b": "xyzzy"}, "no token in common"),
        (model | {"b_model": "no such model"}, "no other model `` no such model `` here. B is Experts."),
        (model | {"b_model": "twins-rope"}, "RoPE twin has no head 4.3: B shows head 3.3."),
        ({"with": "another head", "b_layer": "99", "b_head": "inf"}, ""),
        ({"with": "a head off", "without_layer": "-1", "without_head": "1e400"}, ""),
        ({"with": "nonsense"}, ""),
    ):
        app = page(**address)
        assert note in words(app), address
        if "side_a" in (drawn := matrices(app)):
            np.testing.assert_allclose(drawn["side_a"][0], pattern_of(), atol=1e-3, err_msg=str(address))
        else:
            assert "explorer" in views(app), address


def test_the_whole_model_says_what_each_side_expects() -> None:
    app = open_page("whole_model", text=RIVER, b=MONEY, token="4", **{"with": "another sentence"})
    model = models.load("tiny-english")
    p = [softmax(model.trace(text)["logits"][place(text)]) for text in (RIVER, MONEY)]
    assert [model.vocabulary[int(one.argmax())] for one in p] == [".", "."]
    assert f"After “bank” both expect “\\.”: {p[0].max():.0%} in A, {p[1].max():.0%} in B." in words(app)


def test_a_tab_shows_both_runs_on_one_scale_with_their_difference() -> None:
    address = {"text": RIVER, "b": MONEY, "token": "4", "with": "another sentence"}
    app = open_page("residual_stream", **address)
    norms = {}
    for key, text in (("lengths", RIVER), ("lengths_b", MONEY)):
        trace = models.load("tiny-english").trace(text)
        sites = ["decoder.0.resid_pre", *(f"decoder.{n}.resid_{at}" for n in range(6) for at in ("mid", "post"))]
        norms[key] = np.stack([np.linalg.norm(trace[site], axis=-1) for site in sites])
        header, (shown,) = pictures(app)[key]
        np.testing.assert_allclose(shown, norms[key], rtol=2e-3, atol=2e-3, err_msg=key)
        assert header["scale"]["high"] >= max(values.max() for values in norms.values()) - 0.1
    header, (difference,) = pictures(app)["lengths_difference"]
    bank = header["columns"]["names"].index("bank")
    expected = norms["lengths_b"][:, place(MONEY)] - norms["lengths"][:, place(RIVER)]
    np.testing.assert_allclose(difference[:, bank], expected, atol=0.02)
    texts = [text.replace("−", "-").replace("·", "0") for row in header["texts"] for text in row if text]
    written = [float(text) for text in texts]
    assert max(map(abs, written)) > 1, "else these might be shares"
    np.testing.assert_allclose(sorted(written), sorted(difference[np.isfinite(difference)]), atol=0.02)
    drawn = charts(app)
    for one, other in (("growth", "growth_b"), ("growth_b", "growth")):
        reach = drawn[one]["tables"]["reach"]["y_end"]
        assert reach[1] == pytest.approx(max(norms["lengths_b" if other.endswith("b") else "lengths"].ravel()), rel=0.1)
    read = views(open_page("residual_stream", stream="Logit lens", **address))
    for key, text in (("lens", RIVER), ("lens_b", MONEY)):
        table = json.loads(read[key].json)
        assert len(table["rows"]) == len(models.load("tiny-english").encode(text))
        assert table["texts"][place(text)][0] == "bank"


def test_a_tab_that_does_not_read_what_differs_says_so() -> None:
    """What runs the model with all of its heads would be the same without one, and not because none is needed."""
    off = {"with": "a head off", "model": "french-english"}
    for page, address, reason in (
        ("normalisation", {"about": "Age and tuition", "with": "another sentence"}, "A and B are the same here"),
        ("translating", {"translation": "Beam search"} | off, "with all of its heads"),
        ("translating", {"translation": "Forced words"} | off, "with all of its heads"),
    ):
        said = [one.value for one in open_page(page, **address).caption]
        assert [text for text in said if reason in text], page
        assert "The same as in A." not in said


def test_both_sides_of_a_tab_are_about_the_chosen_token_and_at_first_about_one_that_both_have() -> None:
    address = {"part": "A fuzzy hash table", "text": RIVER, "b": MONEY, "with": "another sentence"}
    for pinned in ({"token": "4"}, {"token": "6"}, {}):
        asked = re.findall(r"For (“[^”]+”)[^.]*? a `dict`", words(open_page("step_by_step", **address, **pinned)))
        assert len(asked) == 2
        assert asked[0] == asked[1]


def test_what_only_one_side_has_has_no_difference() -> None:
    """Tiles that are not computed yet are −∞ there; a share that only one side masks counts as 0."""
    for step in ("1", "2"):
        address = {"method": "Tiles", "step_of_tiles": step, "with": "another sentence"}
        app = open_page("efficient", text=RIVER, b=MONEY, **address)
        values = matrices(app)["tiling_difference"]
        captions = [sent(app, key)["caption"] for key in ("running_softmax", "running_softmax_b")]
        assert captions == ["A: After this tile", "B: After this tile"]
        assert np.abs(values[np.isfinite(values)]).max() <= 1


def test_a_profile_measured_with_all_heads_is_shown_once_where_a_head_is_off() -> None:
    app = open_page("step_by_step", text=RIVER, part="Find a head", **{"with": "a head off"})
    assert "This tab runs the model with all of its heads." in [caption.value for caption in app.caption]
    assert [key for key in views(app) if key.startswith("heads_map")] == ["heads_map"]


def test_any_two_schemes_stand_side_by_side_on_the_readers_sentence() -> None:
    where = {"text": RIVER, "left": "alibi", "right": "none", "twin_layer": "1", "twin_head": "2"}
    where |= {"match": "same number"}
    asked = where | {"with": "another scheme"}
    for page, address in (("positions_compare", where), ("positions", asked), ("positions_rope", asked)):
        shown = matrices(open_page(page, **address))
        for key, scheme in (("side_a", "alibi"), ("side_b", "none")):
            pattern = pattern_of(model=f"twins-{scheme}", layer="decoder.1.self_attn", head=2)
            np.testing.assert_allclose(shown[key][0], pattern, atol=1e-3, err_msg=page)
        difference = shown["side_b"][0] - shown["side_a"][0]
        np.testing.assert_allclose(shown["side_difference"][0], difference, atol=2e-3)


def test_beside_a_head_stands_the_one_that_shares_most_attention_with_it() -> None:
    """Of all heads of B, by Σ_j min(a_ij, b_ij), averaged over the queries that have a choice."""
    runs = [models.load(f"twins-{scheme}").trace(RIVER) for scheme in ("sinusoidal", "rope")]
    a, b = (np.stack([run[f"{layer}.pattern"] for layer in run.layers]) for run in runs)
    common = np.minimum(a[1, 2], b).sum(axis=-1)[..., 1:].mean(axis=-1)  # (layer, head)
    layer, head = np.unravel_index(common.argmax(), common.shape)
    assert (layer, head) != (1, 2), "else the number alone would do"
    app = open_page("positions_compare", text=RIVER, twin_layer="1", twin_head="2")
    np.testing.assert_allclose(np.nan_to_num(matrices(app)["side_b"][0]), b[layer, head], atol=1e-3)
    assert (
        f"Head 1.2 of A has **{common.max():.0%}** of its attention in common with head {layer}.{head} of B"
        in words(app)
    )
    assert f"and {common[1, 2]:.0%} with the head of the same number" in words(app)
    assert f"into {len(runs[0].tokens)} tokens, `` tiny-english `` into {len(ids_of(RIVER))}." in words(app)
    assert "fewer words" not in words(open_page("positions_compare", text="The cat sat on the mat.")), "7 and 7"


def test_the_page_opens_on_a_token_that_has_changed_and_all_figures_are_about_it() -> None:
    """What stands before the first change of a decoder's text is the same."""
    tired, wide = ("The animal didn't cross the street because it was too " + end for end in ("tired.", "wide."))
    here = {"text": tired, "b": wide, "with": "another sentence"}
    lens = here | {"stream": "Logit lens"}
    said, read = (words(open_page("residual_stream", **address)) for address in (here, lens))
    assert "After “\\.” " in read
    assert "The vector of “\\.” in A and B: cosine " in said
    assert "of “it”" not in said
    said, read = (words(open_page("residual_stream", **address, token="8")) for address in (here, lens))
    assert "After “it” both expect" in read
    assert "of “it”" in said


@pytest.mark.parametrize(
    ("page", "pair"), [("positions", ["sinusoidal", "learned"]), ("positions_rope", ["rope", "alibi"])]
)
def test_a_page_on_schemes_opens_with_two_of_its_own_and_odd_ones_are_those(page: str, pair: list[str]) -> None:
    for address in ({}, {"left": "no such scheme", "right": "<b>"}, {"text": "word " * 990}, {"text": "\u200b我 😀"}):
        app = open_page(page, **({"text": RIVER, "with": "another scheme"} | address))
        assert [app.selectbox(key=key).value for key in ("left", "right")] == pair
        titles = [pictures(app)[key][0]["titles"][0] for key in ("side_a", "side_b")]
        assert [title.rsplit(" ", 1)[0] for title in titles] == [f"{a}, {b}" for a, b in zip("AB", pair, strict=True)]
        assert not app.tabs
    assert "side_a" not in matrices(open_page(page, text=RIVER, **{"with": "another head"}))
    projected = open_page(page, projector="1", **{"with": "another scheme"})
    assert "side_a" in matrices(projected)
    assert projected.selectbox(key="with").value == "another scheme"  # which C empties
