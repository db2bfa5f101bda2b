"""The normalisation page: the norms against torch's own, and what the page says against other computations."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import nn

from tests.app import charts, matrices, open_page, pictures, series, words
from tests.pages import plain
from tests.pages.claims import told
from tfmviz.analysis import normalisation as norms
from tfmviz.constants import NORM_EPS
from tfmviz.model.config import ModelConfig
from tfmviz.model.gradients import gradients_at_start
from tfmviz.ui.normalisation import facts

PAGE, TEXT = "normalisation", "The cat sat on the mat."
TABS = ("Which numbers share a mean?", "Add another sentence", "Age and tuition", "γ and β", "Norm before or after?")
N_DIM = 11


def some(*lengths: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.normal(2, 5, (length, N_DIM)) for length in lengths]


def test_norms_are_torchs_and_a_batch_norm_in_use_takes_stored_averages() -> None:
    x, present = norms.padded(some(7, 3, 5))
    tensor = torch.tensor(x)
    layer = nn.LayerNorm(N_DIM, eps=NORM_EPS, dtype=torch.float64)
    rms = nn.RMSNorm(N_DIM, eps=NORM_EPS, dtype=torch.float64)
    np.testing.assert_allclose(norms.layer_norm(x), layer(tensor).detach(), atol=1e-12)
    np.testing.assert_allclose(norms.rms_norm(x), rms(tensor).detach(), atol=1e-12)
    batch = nn.BatchNorm1d(N_DIM, eps=NORM_EPS, dtype=torch.float64).train()
    tokens_only = batch(tensor[torch.tensor(present)]).detach()  # (token, dim)
    np.testing.assert_allclose(in_training(x, present)[present], tokens_only, atol=1e-12)
    with_padding = batch(tensor.mT).mT.detach()  # torch's axes: (sentence, dim, token)
    np.testing.assert_allclose(in_training(x, np.ones_like(present)), with_padding, atol=1e-12)
    assert not np.allclose(with_padding[present], tokens_only, atol=0.1)
    (x, present), (y, _) = norms.padded(some(7, 3)), norms.padded(some(4))
    mean, variance = norms.batch_statistics(x, present)
    batch = nn.BatchNorm1d(N_DIM, eps=NORM_EPS, dtype=torch.float64).train(False)
    batch.running_mean, batch.running_var = torch.tensor(mean), torch.tensor(variance)
    np.testing.assert_allclose(norms.batch_norm(y, mean, variance)[0], batch(torch.tensor(y[0])).detach(), atol=1e-12)


def in_training(x: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """BatchNorm with the statistics of the batch itself."""
    return norms.batch_norm(x, *norms.batch_statistics(x, counted))


def test_padding_fills_up_shorter_sentences_and_another_one_moves_batch_norm_alone() -> None:
    sentences = some(2, 5)
    x, present = norms.padded(sentences)
    assert present.tolist() == [[True, True, False, False, False], [True] * 5]
    np.testing.assert_array_equal(x[0, :2], sentences[0])
    assert (x[0, 2:] == 0).all()
    small, large = some(4, 3), some(4, 3, 9)
    (x, present), (y, more) = norms.padded(small), norms.padded(large)
    for norm in (norms.layer_norm, norms.rms_norm):
        assert (norms.change(norm(x)[0, :4], norm(y)[0, :4]) == 0).all()
    assert (norms.change(in_training(x, present)[0, :4], in_training(y, more)[0, :4]) > 0.01).all()


def test_scales_of_a_column_are_as_defined() -> None:
    column = np.array([18.0, 19, 45, 22])
    found = norms.standardised(column)
    assert (found.mean(), found.std()) == pytest.approx((0, 1))
    np.testing.assert_allclose(norms.min_max(column), [0, 1 / 27, 1, 4 / 27])
    for scale in (norms.standardised, norms.min_max):
        assert scale(np.full(3, 7.0)).tolist() == [0, 0, 0]


def streams(text: str, layer: int) -> np.ndarray:
    return plain.forward(text)[1][layer]


def test_the_picture_holds_the_vectors_of_an_independent_forward_pass() -> None:
    app = open_page(PAGE, text=TEXT, layer="2", batch="My dog ran.\n\na", row="4", column="7")
    first, second, third = streams(TEXT, 2), streams("My dog ran.", 2), streams("a", 2)
    shown = matrices(app)["groups"].reshape(3, 7, 24)
    for found, expected in zip(shown, (first, second, third), strict=True):
        np.testing.assert_allclose(found[: len(expected)], expected[:7, :24], atol=1e-3)
        assert np.isnan(found[len(expected) :]).all()
    column = np.concatenate((first, second, third))[:, 7]
    said = words(app)
    assert re.search(rf"of “the”: mean.*?standard deviation \*\*{first[4].std():.3f}\*\*", said)
    assert f"mean **{column.mean():.3f}**, standard deviation **{column.std():.3f}**" in said.replace("−", "-")


def test_each_norm_brings_its_own_frame_to_one_scale_and_rmsnorm_keeps_the_mean() -> None:
    column = r"”: mean \*\*(\S+)\*\*, standard deviation .*?root mean square \*\*(\S+)\*\*"
    mean, size = told(open_page(PAGE, text=TEXT, norm="none"), column)
    for norm, said in (
        ("LayerNorm", r"Row.*?mean \*\*0\.000\*\*, standard deviation \*\*1\.000"),
        ("RMSNorm", r"Row.*?root mean square \*\*1\.000"),
        ("BatchNorm", r"Column.*?mean \*\*0\.000\*\*, standard deviation \*\*1\.000"),
    ):
        app = open_page(PAGE, text=TEXT, norm=norm)
        assert re.search(said, words(app)), norm
        (frame,) = (one for one in pictures(app)["groups"][0]["frames"] if one["top"] != one["bottom"])
        assert (frame["right"] - frame["left"] == 1) is (norm == "BatchNorm")
        if norm == "RMSNorm":
            assert told(app, column)[0] == pytest.approx(mean / size, abs=2e-3)
            assert told(app, column)[0] != pytest.approx(mean, abs=2e-3)


def test_the_change_on_the_page_is_measured_on_the_models_own_vectors() -> None:
    company = {"layer": "1", "batch": "My dog ran.", "joining": "Why?", "about": TABS[1]}
    app = open_page(PAGE, text=TEXT, **company)
    layers, batches = series(charts(app)["company"], "value", by="series").values()
    assert (layers == 0).all()
    texts = [streams(text, 1) for text in (TEXT, "My dog ran.", "Why?")]
    before, after = (in_training(*norms.padded(rows))[0, : len(texts[0])] for rows in (texts[:2], texts))
    expected = norms.change(before, after)
    np.testing.assert_allclose(batches, expected, rtol=1e-3)
    assert f"change by **{expected.mean():.1%}**" in words(app)
    assert "by 0% with LayerNorm and 0% with RMSNorm" in words(app)
    app = open_page(PAGE, text=TEXT, phase="in use", **company)
    assert (series(charts(app)["company"], "value", by="series").popitem()[1] == 0).all()
    assert "change by **0.0%** of their norm" in words(app)


def test_the_page_says_when_norms_act_and_that_lines_beyond_the_fifth_are_left_out() -> None:
    for model, said in (("twins-rope", "Before every layer"), ("twins-postnorm", "After every")):
        assert said in words(open_page(PAGE, text=TEXT, model=model))
    for lines, cut in (("bcdefgh", True), ("bcdef", False)):
        app = open_page(PAGE, text="a", batch="\n".join(lines))
        assert any("first 5 of your 7 lines" in note.value for note in app.info) == cut
    rows = pictures(app)["groups"][0]["rows"]
    assert (rows["names"][1], rows["spoken"][1]) == ("2 b", "sentence 2, token 0 “b”")


def test_the_nearest_student_depends_on_the_scale_and_what_is_said_holds_for_any_numbers() -> None:
    app = open_page(PAGE, about=TABS[2])
    assert "as they are: student 3; standardised: student 2; min–max: student 2" in words(app)
    alike = "One year counts as much as one unit of money"
    for scale, counts in (("as they are", True), ("standardised", False)):
        assert (alike in words(open_page(PAGE, about=TABS[2], scale=scale))) == counts, scale
    app = open_page(PAGE, about=TABS[2], ages="1,2,3", fees="10,40,20", scale="min–max")
    data = charts(app)["points"]["tables"]["rows"]
    assert (data["x"], data["y"]) == ([0, 0.5, 1], [0, 1, pytest.approx(1 / 3)])
    for ages, fees, said in (
        ("20, 21, 30", "5, 6, 9", "**student 2**. Tuition accounts for 14% of the squared distances from student 1."),
        ("20, 21, 19, 40", "5, 5, 5, 5", "**students 2 and 3**. Tuition accounts for"),
        ("20, 21, 19, 40", "5, 5, 5, 5", "as they are: students 2 and 3; standardised: students 2 and 3"),
        ("20, 20", "5, 5", "Where all have the same age or tuition both are 0/0"),
        ("20, 20", "5, 5", "**student 2**: all have the same age and the same tuition."),
        ("20, 21, 19, 40", "5, 5, 5, 5", "Where all have the same tuition both are 0/0"),
        ("20, 20", "5, 6", "Where all have the same age both are 0/0"),
    ):
        shown = words(open_page(PAGE, about=TABS[2], ages=ages, fees=fees))
        assert said in shown, (ages, fees)
        assert ("accounts for 0.00%" in shown) == (fees == "5, 5, 5, 5")
    assert "100% of the squared" in words(open_page(PAGE, about=TABS[2]))  # without a common scale


def test_numbers_that_cannot_be_used_are_told_why() -> None:
    for ages, fees, said in (
        ("18, old", "1, 2", "“old” is not a number"),
        ("18, 19", "5000", "2 ages but 1 fee\\."),
        ("18", "5000, 7000", "You typed 1 age but 2 fees"),
        ("18", "5000", "One student alone"),
        ("", "", "One student alone"),
        ("18, 1e999", "1, 2", "“1e999” is not a number"),
    ):
        with pytest.raises(ValueError, match=said):
            facts.table(ages, fees)


def test_gains_and_biases_are_those_of_the_weights() -> None:
    app, weights = open_page(PAGE, text=TEXT, about=TABS[3]), plain.weights()
    gain, bias = (charts(app)[key]["tables"]["rows"] for key in ("spread_gain", "spread_bias"))
    assert gain["norm"][:3] == ["0000 0 attention", "0001 0 MLP", "0002 1 attention"]
    last = weights["decoder.norm.weight"]
    assert (gain["low"][-1], gain["median"][-1]) == pytest.approx((last.min(), np.median(last)), abs=1e-6)
    assert bias["high"][7] == pytest.approx(weights["decoder.blocks.3.mlp_residual.norm.bias"].max(), abs=1e-6)
    spread = dict(zip(gain["norm"], zip(gain["low"], gain["high"], strict=True), strict=True))
    widest = max(spread, key=lambda name: np.ptp(spread[name]))
    said = told(app, rf"γ of “{widest.split(' ', 1)[1]}” vary most: \*\*(\S+)\*\* to \*\*(\S+)\*\*")
    assert said == pytest.approx(spread[widest], abs=6e-4)
    assert told(app, r"own values to within \*\*(\S+)\*\*")[0] < 1e-5


def test_gradients_before_training_follow_the_theory_and_leave_torch_s_random_numbers_as_they_were() -> None:
    """Xiong et al. 2020, theorem 1: the last layer's gradient is √layers times as large in post-norm, or so."""

    def ratio(n_layers: int) -> float:
        post, pre = (gradients_at_start(n_layers=n_layers, norm_position=p, seed=1)[-1] for p in ("post", "pre"))
        return post / pre

    assert ratio(16) / ratio(2) == pytest.approx(math.sqrt(16 / 2), rel=0.4)
    post, pre = (gradients_at_start(n_layers=3, norm_position=p, seed=0)[-1] for p in ("post", "pre"))
    said = f"**{post / pre:.1f} times** as large with post-norm ({post:.2f} against {pre:.2f})"
    assert said in words(open_page(PAGE, about=TABS[4], untrained_layers="3"))
    before = torch.random.get_rng_state()
    gradients_at_start(n_layers=1, norm_position="pre", seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_gradient_is_what_a_small_step_changes() -> None:
    from tfmviz.model import gradients
    from tfmviz.model.transformer import DecoderOnly

    (size, *_) = gradients_at_start(n_layers=2, norm_position="post", seed=4)
    model = DecoderOnly(gradients.config(n_layers=2, norm_position="post"))
    generator = torch.Generator().manual_seed(4)
    gradients.draw(model, generator)
    ids = torch.randint(gradients.VOCAB, (gradients.BATCH, gradients.LENGTH + 1), generator=generator)

    def loss() -> torch.Tensor:
        return nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

    weight = model.get_parameter("decoder.blocks.0.mlp.W_out.weight")
    before = loss()
    (gradient,) = torch.autograd.grad(before, [weight])
    with torch.no_grad():
        weight.sub_(0.01 * gradient / size)
        assert float(before - loss()) == pytest.approx(0.01 * size, rel=0.05)


def test_one_token_alone_shares_no_mean_and_a_change_from_zeros_is_no_percentage() -> None:
    """BatchNorm makes zeros of equal vectors: of one token alone, and of the same one in every sentence."""
    for batch in (" ", "Hi", "Hi\nHi"):
        said = words(app := open_page(PAGE, text="Hi", batch=batch, about=TABS[1]))
        assert "0.0%" not in said
        assert "was 0. Now they are not" in said
        assert not charts(app)
    said = words(open_page(PAGE, text="Hi", batch="Hi", joining="Hi", about=TABS[1]))
    assert "so they still are" in said
    assert "by **0.0%**" in words(open_page(PAGE, text="Hi", batch=" ", about=TABS[1], phase="in use"))
    app = open_page(PAGE, text="a", batch=" ", norm="BatchNorm")
    assert any("nothing to average" in note.value for note in app.info)
    assert (matrices(app)["groups"] == 0).all()


def test_all_norms_of_a_model_are_there(own_zoo: Path, put_random_model: Callable[..., ModelConfig]) -> None:
    for norm in ("layer", "rms"):
        put_random_model(norm, norm=norm, norm_position="both", embedding_norm="present", qk_norm="present")
        app = open_page(PAGE, model=norm, text="the cat sat", about=TABS[3])
        names = [name.split(" ", 1)[1] for name in charts(app)["spread_gain"]["tables"]["rows"]["norm"]]
        there = [name for name in load_file(own_zoo / norm / "model.safetensors") if name.endswith("norm.weight")]
        assert len(names) == len(set(names)) == len(there) == 2 * 6 + 2
        attention = [f"0 attention{part}" for part in ("", ", q", ", k", ", written")]
        assert names[:6] == ["embedding", *attention, "0 MLP"]
        assert ("adds β" in words(app)) == ("spread_bias" in charts(app)) == (norm == "layer")
        if norm == "layer":
            assert not any(" q" in name for name in charts(app)["spread_bias"]["tables"]["rows"]["norm"])
