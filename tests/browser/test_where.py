"""What every figure says of where it, and a part of it, is seen."""

from tests.browser import Visit
from tests.cases import each

PARTS = {
    "a cell of a picture": ("/residual_stream", "lengths", ("it", "layer 3 MLP"), 0),
    "a row of a picture": ("/residual_stream", "lengths", ("it",), 0),
    "a cell of the explorer": ("/explorer", "explorer", ("it", "animal"), 12),
    "a row of the explorer": ("/explorer", "explorer", ("it",), 0),
    "a cell of a step": ("/step_by_step?stage=share", "steps", ("A", "it", "animal"), 12),
    "a matrix of a step": ("/step_by_step?stage=scores", "steps", ("Kᵀ",), 0),
    "a box of the whole model": ("/whole_model", "whole_model", ("logits",), 12),
    "a name beside a chart": ("/residual_stream", "growth", ("layer 3 MLP",), 12),
    "a mark of a chart": ("/residual_stream", "growth", ("“it”", "layer 3 MLP"), 0),
    "a cell of a table": ("/complexity", "table", ("self-attention",), 12),
}


@each("address, key, names, letters", PARTS)
def test_a_part_lies_in_its_figure(visit: Visit, address: str, key: str, names: tuple[str, ...], letters: int) -> None:
    page = visit.open(address, drawn=f".st-key-{key}")
    found = page.evaluate("([key, names]) => [tfmvizWhere(key), tfmvizWhere(key, ...names)]", [key, list(names)])
    whole, part = found
    assert part["letters"] >= letters
    for start, size in (("left", "width"), ("top", "height")):
        assert whole[start] - 1 <= part[start] <= part[start] + part[size] <= whole[start] + whole[size] + 1
    assert page.evaluate("key => tfmvizWhere(key, 'no such word')", key) is None
