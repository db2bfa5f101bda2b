"""The shipped readers of digits: what the page says of them, measured again."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.zoo import ModelUnavailable, pictures


def test_the_digits_are_the_1797_of_the_set_and_damaged_files_are_refused(tmp_path: Path) -> None:
    digits = pictures.digits()
    assert digits.pictures.shape == (1797, 8, 8)
    assert digits.pictures.max() == pictures.GREYS
    assert np.bincount(digits.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # as scikit-learn
    assert [len(labels) for _, labels in (digits.train, digits.held_out)] == [1438, 359]
    with pytest.raises(ModelUnavailable, match="digits cannot be read"):
        pictures.digits(tmp_path)
    shutil.copyfile(pictures.FOLDER / "measured.json", tmp_path / "learned.safetensors")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        pictures.load("learned", tmp_path)


@each("positions", pictures.POSITIONS)
def test_the_measured_shares_are_those_of_these_weights(positions: str) -> None:
    measured = json.loads((pictures.FOLDER / "measured.json").read_text(encoding="utf-8"))[positions]
    assert measured["weights"] == pictures.weights_hash(positions)
    model, (read, labels) = pictures.load(positions), pictures.digits().held_out
    right = [
        pictures.read_picture(model, one)["logits"].argmax() == label for one, label in zip(read, labels, strict=True)
    ]
    assert np.mean(right) == pytest.approx(measured["in order"], abs=0.003)  # one digit in 359


def test_positions_are_what_tells_a_picture_from_its_patches() -> None:
    """With them a shuffled digit is hardly ever read; without them it is read as well as before."""
    digits = pictures.digits()
    learned, none = (pictures.measure(pictures.load(kind), digits) for kind in pictures.POSITIONS)
    assert learned["in order"] > 0.95
    assert learned["shuffled"] < 0.4
    assert none["in order"] == pytest.approx(none["shuffled"], abs=0.003)
    assert none["in order"] < learned["in order"]


def test_a_shuffled_picture_is_read_as_the_picture_with_its_patches_moved() -> None:
    model, (read, _) = pictures.load("learned"), pictures.digits().held_out
    order, picture = np.random.default_rng(3).permutation(pictures.N_PATCHES), read[0]
    found, size = np.zeros_like(picture), pictures.PATCH
    for place, patch in enumerate(order.tolist()):
        (row, column), (y, x) = (np.multiply(size, divmod(n, pictures.ACROSS)) for n in (place, patch))
        found[row : row + size, column : column + size] = picture[y : y + size, x : x + size]
    shuffled, moved = (pictures.read_picture(model, *how)["logits"] for how in ((picture, order), (found,)))
    np.testing.assert_allclose(shuffled, moved, atol=1e-5)
