"""Three first ideas for a marker of position: their numbers on the page, and what the page says of them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.app import alt, charts, open_page, series, words
from tests.pages.test_positions import IDEAS, TEXT
from tfmviz.analysis import naive_positions
from tfmviz.ui.positions import naive


def test_an_appended_index_makes_words_alike() -> None:
    vectors = np.random.default_rng(0).standard_normal((5, 7))
    found = naive_positions.alike_with_index(vectors, [0, 3, 500])
    for index, alike in zip([0, 3, 500], found, strict=True):
        wide = torch.cat((torch.tensor(vectors), torch.full((5, 1), float(index), dtype=torch.float64)), dim=1)
        cosines = F.cosine_similarity(wide[:, None], wide[None], dim=-1)
        assert alike == pytest.approx((cosines.sum().item() - 5) / 20)
    assert found[2] > 0.999
    plain = naive_positions.alikeness(vectors, np.zeros(7))
    assert plain == pytest.approx(found[0])


def test_those_who_cannot_see_the_cosines_hear_the_first_and_the_last() -> None:
    app = open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[0])
    index, waves = series(charts(app)["appended"]).values()
    said = alt(app, "appended")
    for name, line in (("index appended", index), ("sinusoid added", waves)):
        assert f"{name} at 0: {line[0]:.4g} … {name} at {len(line) - 1}: {line[-1]:.4g}" in said


def test_fractions_of_two_sentences_on_the_page() -> None:
    assert naive_positions.fractions(1).tolist() == [0]
    app = open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1], another="The cat sat.")
    first, second = series(charts(app)["fractions"], "x", by="text").values()
    assert (len(first), len(second)) == (6, 4)
    np.testing.assert_allclose(second, [0, 1 / 3, 2 / 3, 1])
    assert "1/5 = **0.200**" in words(app)
    assert "1/3 = **0.333**" in words(app)


def test_no_sentence_is_compared_with_itself_at_first() -> None:
    for text in (TEXT, "Once upon a time there was a little girl.", "The cat sat on the mat."):
        app = open_page("positions", text=text, lesson="Naive ideas", idea=IDEAS[1])
        first, second = series(charts(app)["fractions"], "x", by="text").values()
        assert len(first) != len(second), text
        assert "means different things" in words(app), text


def test_sentences_of_equal_length_are_not_called_different(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1], another="The cat sat down here.")
    assert "means different things" not in words(app)
    assert "the same number of tokens" in words(app)
    monkeypatch.setattr(naive, "OTHERS", ("The cat sat down here.",))  # each other one as long as the reader's
    assert "the same number of tokens" in words(open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1]))
