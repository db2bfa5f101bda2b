"""What the explorer is given: every weight arrives, in few bytes."""

from dataclasses import replace

import numpy as np
import pytest

from tests import traces
from tests.traces import ODD_TOKENS, causal, decoder, read_blob, read_payload, read_weights, translation, words
from tfmviz import views, zoo
from tfmviz.analysis.heads import head_scores
from tfmviz.analysis.rollout import rollout
from tfmviz.record.edits import AblateHead
from tfmviz.record.trace import Array, Trace
from tfmviz.views.payload import TILE, WHOLE, payload, thumbnails


def with_values(trace: Trace, layer: int = 0, **values: Array) -> Trace:
    new = {f"decoder.{layer}.self_attn.{name}": value for name, value in values.items()}
    return replace(trace, values=dict(trace.values) | new)


def test_every_weight_arrives_within_half_a_thousandth_and_no_more_goes_nowhere() -> None:
    for trace in (decoder(words(29)), translation(words(11), words(7)), decoder(words(1), heads=1)):
        _, masks, weights = read_payload(views.payload(trace))
        assert list(weights) == list(trace.layers)
        for layer in trace.layers:
            np.testing.assert_array_equal(masks[layer], trace[f"{layer}.mask"])
            assert np.abs(weights[layer] - trace[f"{layer}.pattern"]).max() < 0.0005
    for missing, is_said in ((0.003, False), (0.02, True)):
        trace = with_values(decoder(words(5), layers=1), pattern=traces.pattern(3, causal(5)) * np.float32(1 - missing))
        assert ("unused" in read_blob(payload(trace))[0]["kinds"][0]) == is_said


def test_an_even_spread_is_as_exact_as_a_peak() -> None:
    """Each row has its own scale: 512 weights of 1/512 do not all become 0."""
    for length in (3, 64, 512):
        even = (causal(length) / np.arange(1, length + 1)[:, None]).astype(np.float32)
        values = {"decoder.0.self_attn.pattern": even[None], "decoder.0.self_attn.mask": causal(length)}
        trace = Trace(target=traces.encoding(words(length)), edits=(), values=values)
        weights = read_payload(views.payload(trace))[2]["decoder.0.self_attn"][0]
        np.testing.assert_allclose(weights[-1], 1 / length, rtol=0.005)
        assert np.abs(weights - even).max() < 0.0005


def test_masks_of_heads_are_shown_where_any_may_look_and_empty_rows_stay_empty() -> None:
    mask = causal(5)
    mask[0, 0] = False
    trace = with_values(decoder(words(5), layers=1), mask=mask, pattern=traces.pattern(3, mask))
    _, masks, weights = read_payload(views.payload(trace))
    assert not masks["decoder.0.self_attn"][0].any()
    assert not weights["decoder.0.self_attn"][:, 0].any()
    mask = np.stack([causal(5), np.ones((5, 5), dtype=bool), np.eye(5, dtype=bool)])
    pattern = np.concatenate([traces.pattern(1, own) for own in mask])
    trace = with_values(decoder(words(5), layers=1), mask=mask, pattern=pattern)
    _, masks, weights = read_payload(views.payload(trace))
    assert masks["decoder.0.self_attn"].all()
    np.testing.assert_allclose(weights["decoder.0.self_attn"], pattern, atol=0.0005)
    header, _ = read_blob(views.details(trace, ["decoder.0.self_attn/rollout"]))
    assert len(header["heads"]) == 1


def test_every_layer_has_its_own_mask() -> None:
    length = 7
    near = causal(length) & ~np.tri(length, k=-3, dtype=bool)
    trace = with_values(decoder(words(length), layers=3), 1, mask=near, pattern=traces.pattern(3, near, seed=5))
    header, masks, weights = read_payload(views.payload(trace))
    assert len(header["masks"]) == 2
    for layer in trace.layers:
        np.testing.assert_array_equal(masks[layer], trace[f"{layer}.mask"])
        np.testing.assert_allclose(weights[layer], trace[f"{layer}.pattern"], atol=0.0005)
    header, data = read_blob(views.details(trace, [f"{layer}/0" for layer in trace.layers]))
    for entry, layer in zip(header["heads"], trace.layers, strict=True):
        np.testing.assert_array_equal(traces.read_mask(entry["mask"], data), trace[f"{layer}.mask"])


def test_random_repeats_confirm_verdicts_and_are_told_beside_them() -> None:
    """In this text a word is said twice, so a head that looks at its successor passes for an induction head; on random
    tokens it does not."""
    tokens = (" a", " b", " c", " a", " b", " c")
    pattern = np.zeros((2, 6, 6), dtype=np.float32)
    pattern[:, 0, 0] = pattern[:, 1, 0] = pattern[:, 2, 0] = 1
    for query in (3, 4, 5):
        pattern[:, query, query - 2] = 1  # the token after the last time this word was said
    trace = with_values(decoder(tokens, layers=1, heads=2), pattern=pattern)
    plain = read_payload(views.payload(trace))[0]["kinds"][0]
    assert plain["repeats"] == []
    assert [kind for kind, _ in plain["verdicts"][0]] == ["induction", "induction"]
    found = head_scores(pattern, trace.target, trace.target, causal(6))
    on_repeats = {"decoder.0.self_attn": {kind: np.array([score[0], 0.125]) for kind, score in found.items()}}
    told = read_payload(views.payload(trace, on_repeats=on_repeats))[0]["kinds"][0]
    assert told["scores"]["induction"][0] == pytest.approx([found["induction"][0], 0.125], abs=5e-4)
    assert told["verdicts"][0][0][0] == "induction"
    assert told["verdicts"][0][1][0] != "induction"
    assert told["repeats"][0][0] == told["verdicts"][0][0]


def test_few_bytes_for_a_weight_and_one_mask_for_layers_that_share_it() -> None:
    """At most 1.4 for 144 heads and 64 tokens, of which only the lower triangle counts."""
    trace = decoder(words(64), layers=12, heads=12)
    assert len(views.payload(trace)) <= 1.4 * 144 * 64 * 65 / 2
    for trace, n in ((decoder(words(13), layers=5), 1), (translation(words(5), words(7)), 3)):
        assert len(read_payload(views.payload(trace))[0]["masks"]) == n
    trace = decoder(words(5), layers=1)
    tiles = thumbnails(trace["decoder.0.self_attn.pattern"], trace["decoder.0.self_attn.mask"])
    assert tiles.shape == (3, 5, 5)
    assert (tiles[:, ~causal(5)] == 255).all()


def test_the_header_names_texts_kinds_and_what_each_head_does() -> None:
    trace = translation(ODD_TOKENS, words(7))
    header, _, _ = read_payload(views.payload(trace, title="some model"))
    assert header["title"] == "some model"
    assert header["texts"]["source"]["tokens"] == list(ODD_TOKENS)
    assert header["texts"]["target"]["labels"] == ["<START>", *(word.strip() for word in words(7)[1:])]
    assert header["texts"]["rows"]["labels"][1:3] == ["w1 → w2", "w2 → w3"]
    assert header["texts"]["rows"]["said"][1] == "“w1”, about to write “w2”"
    kinds = {kind["name"]: kind for kind in header["kinds"]}
    axes = [(kind["queries"], kind["keys"]) for kind in kinds.values()]
    assert axes == [("source", "source"), ("target", "target"), ("rows", "source")]
    for name, entry in kinds.items():
        layer = f"{name.replace('.', '.1.')}"
        expected = head_scores(trace[f"{layer}.pattern"], *trace.axes(layer), trace[f"{layer}.mask"])
        assert list(entry["scores"]) == list(expected)
        for kind, scores in expected.items():
            np.testing.assert_allclose(np.array(entry["scores"][kind][1], dtype=float), scores, atol=5e-4)
        assert all(name in header["words"] for row in entry["verdicts"] for name, _ in row)
    assert "alignment" in kinds["decoder.cross_attn"]["scores"]


LONG = 283
HEADS = -(-WHOLE // (2 * LONG * (LONG + 1) // 2))  # per layer, so many that not all weights travel


@pytest.fixture(scope="module")
def long() -> Trace:
    return decoder(words(LONG), layers=2, heads=HEADS)


def test_of_a_long_text_pictures_of_all_heads_travel_and_no_weights(long: Trace) -> None:
    assert not views.travels_whole(long)
    blob = views.payload(long)
    assert len(blob) < 2 * HEADS * TILE * TILE * 1.4
    header, data = read_blob(blob)
    layer = header["kinds"][0]["layers"][1]
    assert "heads" not in layer
    tiles = np.frombuffer(data, np.uint8, HEADS * TILE * TILE, layer["thumbnails"]).reshape(HEADS, TILE, TILE)
    pattern, mask = long[f"{layer['name']}.pattern"], long[f"{layer['name']}.mask"]
    cell = np.arange(LONG) * TILE // LONG  # where a position lies in the picture
    for y, x in [(0, 0), (5, 3), (40, 17), (63, 0), (63, 63), (3, 60)]:
        rows, columns = np.ix_(cell == y, cell == x)
        largest = np.where(mask, pattern, -1)[:, rows, columns].max(axis=(1, 2))
        expected = np.where(largest < 0, 255, np.rint(254 * np.sqrt(largest.clip(0))))
        np.testing.assert_array_equal(tiles[:, y, x], expected)
    _, _, weights = read_payload(views.payload(long, whole=True))
    assert set(weights) == set(long.layers)


def test_details_bring_what_was_asked_for_and_nothing_else(long: Trace) -> None:
    layer = "decoder.1.self_attn"
    keys = [f"{layer}/2", f"{layer}/mean", f"{layer}/all", f"{layer}/rollout"]
    nonsense = [f"{layer}/999", "decoder.7.self_attn/0", f"{layer}/", f"{layer}/-1", "../../etc/passwd", f"{layer}/2"]
    header, data = read_blob(views.details(long, [*keys, *nonsense]))
    assert [entry["key"] for entry in header["heads"]] == keys
    assert header["id"] == read_blob(views.payload(long))[0]["id"]
    patterns = [long[f"{name}.pattern"] for name in long.layers]
    expected = [
        patterns[1][2],
        patterns[1].mean(axis=0),
        np.mean([p.mean(axis=0) for p in patterns], axis=0),
        rollout(patterns, [causal(LONG)] * 2)[0],
    ]
    for entry, weights in zip(header["heads"], expected, strict=True):
        mask = traces.read_mask(entry["mask"], data)
        np.testing.assert_array_equal(mask, causal(LONG))
        assert np.abs(read_weights(entry["at"], mask, data) - weights).max() < 0.0005
    cross, _ = read_blob(views.details(translation(words(5), words(7)), ["decoder.0.cross_attn/rollout"]))
    assert cross["heads"] == []


def test_other_texts_have_another_identity_and_what_is_no_share_is_named() -> None:
    trace = decoder(words(5))
    edited = replace(trace, edits=(AblateHead(layer="decoder.0.self_attn", head=1),))
    blobs = [views.payload(one) for one in (trace, decoder(words(6)), edited)]
    assert len({read_blob(blob)[0]["id"] for blob in (*blobs, views.payload(trace, title="another"))}) == 4
    for value in (np.nan, np.inf, -0.1, 1.5):
        broken = trace["decoder.1.self_attn.pattern"].copy()
        broken[2, 4, 1] = value
        with pytest.raises(ValueError, match=r"decoder\.1\.self_attn\.pattern holds"):
            views.payload(with_values(trace, 1, pattern=broken))
    with pytest.raises(ValueError, match="no attention pattern"):
        views.payload(replace(trace, values={"logits": np.zeros((3, 5))}))


def test_what_goes_to_a_sink_travels() -> None:
    trace = zoo.load("twins-sink").trace("The cat sat on the mat.")
    for layer, unused in zip(trace.layers, read_blob(payload(trace))[0]["kinds"][0]["unused"], strict=True):
        np.testing.assert_allclose(unused, 1 - trace[f"{layer}.pattern"].sum(axis=-1), atol=6e-4)
