"""Greedy writing and beam search: token by token what transformers writes, and the laws of the tree."""

from contextlib import ExitStack
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GenerationMixin, MarianConfig, MarianMTModel

from tests.cases import each
from tests.model.helpers import blocks_of, config, lively, lively_model, token_ids
from tests.model.sizes import D_FF, D_MODEL, MAX_LEN, N_HEADS, N_LAYERS, SCHEMES, VOCAB
from tests.model.test_transformer import gpt2_of
from tfmviz.model.beam import beam_steps
from tfmviz.model.block import Block, Stack
from tfmviz.model.cache import Cache
from tfmviz.model.generate import reader_of, steps
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, Transformer
from tfmviz.record.decoding import BeamStep, Hypothesis, way_to
from tfmviz.record.tap import NO_TAP

MARK = 0
"""Begins and ends every target."""


def marian_of(model: EncoderDecoder) -> GenerationMixin:
    """Marian with the weights of a post-norm translator with sinusoidal positions, ReLU and untied embeddings."""
    sizes = {"layers": N_LAYERS, "attention_heads": N_HEADS, "ffn_dim": D_FF}
    reference = MarianMTModel(
        MarianConfig(
            **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in sizes.items()},
            **{"vocab_size": VOCAB, "max_position_embeddings": MAX_LEN, "d_model": D_MODEL},
            **{"activation_function": "relu", "scale_embedding": False, "tie_word_embeddings": False},
            **{"decoder_start_token_id": MARK, "eos_token_id": MARK, "forced_eos_token_id": None},
            pad_token_id=VOCAB - 1,
        )
    )
    weights = {"model.shared.weight": model.embedding.W_E, "final_logits_bias": torch.zeros(1, VOCAB)}
    for side in ("encoder", "decoder"):
        stack = model.get_submodule(side)
        assert isinstance(stack, Stack)
        weights[f"model.{side}.embed_tokens.weight"] = model.embedding.W_E
        nothing = torch.zeros(1, MAX_LEN, D_MODEL)
        weights[f"model.{side}.embed_positions.weight"] = stack.positions.embed(nothing, NO_TAP)[0]
        for index, block in enumerate(blocks_of(stack)):
            weights |= {f"model.{side}.layers.{index}.{name}": w for name, w in _layer(block).items()}
    assert model.embedding.W_U is not None
    weights["lm_head.weight"] = model.embedding.W_U
    reference.load_state_dict(weights)
    reference.train(False)
    return reference


def _layer(block: Block) -> dict[str, Tensor]:
    attention = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}
    names = {f"self_attn.{ours}": f"self_attn.{theirs}" for ours, theirs in attention.items()}
    names |= {f"cross_attn.{ours}": f"encoder_attn.{theirs}" for ours, theirs in attention.items()}
    names |= {"self_attn_residual.norm": "self_attn_layer_norm", "cross_attn_residual.norm": "encoder_attn_layer_norm"}
    names |= {"mlp.W_in": "fc1", "mlp.W_out": "fc2", "mlp_residual.norm": "final_layer_norm"}
    parts = (name.rpartition(".") for name, _ in block.named_parameters())
    return {f"{names[part]}.{kind}": block.get_parameter(f"{part}.{kind}") for part, _, kind in parts}


TEXTS = tuple(token_ids(4, batch=5, seed=11).tolist())
ENDS = (2, 3, 4, 10, 23)
"""Marks that end texts. The random models below write them sooner or later, so texts differ in length."""


@pytest.fixture(scope="module")
def writer() -> DecoderOnly:
    """Its matrices are so large that a greedy text does not repeat one token."""
    model = lively(DecoderOnly(config(positions="learned")))
    generator = torch.Generator().manual_seed(2)
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data.normal_(std=0.4, generator=generator)
    return model


@pytest.fixture(scope="module")
def translator() -> EncoderDecoder:
    shape = {"positions": "sinusoidal", "norm_position": "post", "feed_forward": "relu", "embeddings": "untied"}
    return lively(EncoderDecoder(config(architecture="encoder-decoder", **shape)), seed=2)


def search(model: Transformer, text: list[int], **how: Any) -> list[BeamStep]:
    reader, start = reader_of(model, text, begin=[MARK], tap=NO_TAP)
    return list(beam_steps(reader, start, **how))


def greedy(model: Transformer, text: list[int], **how: Any) -> list[int]:
    reader, start = reader_of(model, text, begin=[MARK], tap=NO_TAP)
    return [step.token for step in steps(reader, start, **how)]


def their_texts(model: GenerationMixin, text: list[int], prompt: int, **how: Any) -> tuple[list[list[int]], Any]:
    """What transformers writes after the prompt, each text up to its mark, and the scores of a beam search."""
    how |= {"do_sample": False, "return_dict_in_generate": True, "output_scores": True, "pad_token_id": VOCAB - 1}
    ids = torch.tensor([text])
    found: Any = model.generate(ids, attention_mask=torch.ones_like(ids), **how)
    texts = []
    for row in found.sequences[:, prompt:].tolist():
        ends = [n for n, token in enumerate(row, start=1) if token in how["eos_token_id"]]
        texts.append(row[: ends[0]] if ends else row)
    return texts, found.get("sequences_scores")


@pytest.fixture(scope="module", params=["writer", "translator"])
def pair(request: pytest.FixtureRequest) -> tuple[Transformer, GenerationMixin, int, int]:
    """A model, the one of transformers with its weights, the length of its prompt and how many tokens it may write."""
    model = request.getfixturevalue(request.param)
    return (model, gpt2_of(model), 4, 9) if request.param == "writer" else (model, marian_of(model), 1, 11)


Pair = tuple[Transformer, GenerationMixin, int, int]


def test_greedy_texts_are_those_of_transformers(pair: Pair) -> None:
    model, reference, prompt, most = pair
    for text in TEXTS:
        (expected,), _ = their_texts(reference, text, prompt, max_new_tokens=most, eos_token_id=list(ENDS))
        assert greedy(model, text, ends=ENDS, max_new_tokens=most) == expected


def assert_same_texts(found: BeamStep, expected: list[list[int]], scores: Tensor) -> None:
    assert [list(one.ids) for one in found.complete] == expected
    torch.testing.assert_close(torch.tensor([one.normalised for one in found.complete]), scores, rtol=1e-4, atol=1e-4)


PENALTIES = (-1.0, 0.0, 0.6, 1.0, 2.0)


@each("width", [2, 3, 4, 5])
def test_all_texts_of_a_beam_search_are_those_of_transformers(pair: Pair, width: int) -> None:
    model, reference, prompt, most = pair
    lengths = set()
    for text, length_penalty in product(TEXTS, PENALTIES):
        how = {"max_new_tokens": most, "length_penalty": length_penalty}
        theirs = {"num_beams": width, "num_return_sequences": width, "eos_token_id": list(ENDS)}
        expected, scores = their_texts(reference, text, prompt, **theirs, **how)
        assert_same_texts(search(model, text, width=width, ends=ENDS, **how)[-1], expected, scores)
        lengths |= {len(one) for one in expected}
    assert len(lengths) > 3


def test_banned_tokens_are_left_out_as_transformers_leaves_them_out(writer: DecoderOnly) -> None:
    gpt2, how = gpt2_of(writer), {"width": 3, "ends": ENDS, "max_new_tokens": 9}
    for text in TEXTS:
        banned = search(writer, text, **how)[-1].complete[0].ids[:2]
        theirs = {"num_beams": 3, "num_return_sequences": 3, "eos_token_id": list(ENDS), "suppress_tokens": banned}
        expected, scores = their_texts(gpt2, text, 4, max_new_tokens=9, **theirs)
        found = search(writer, text, banned=banned, **how)[-1]
        assert_same_texts(found, expected, scores)
        assert not set(banned) & {token for one in found.complete for token in one.ids}


@each("scheme", SCHEMES)
@each("architecture", ["decoder-only", "encoder-decoder"])
def test_one_beam_writes_what_greedy_writes(architecture: str, scheme: str) -> None:
    model = lively_model(architecture=architecture, positions=scheme)
    for text in TEXTS:
        how = {"ends": ENDS, "max_new_tokens": 8}
        (found,) = search(model, text, width=1, length_penalty=0.8, **how)[-1].complete
        assert list(found.ids) == greedy(model, text, **how)


def score_of(model: Transformer, text: list[int], found: Hypothesis) -> float:
    """The log-probability of a text, from one forward pass without a cache."""
    new = list(found.ids)
    if isinstance(model, DecoderOnly):
        logits = model(torch.tensor([text + new]))[0, len(text) - 1 : -1]
    else:
        logits = model(torch.tensor([text]), torch.tensor([[MARK, *new]]))[0, :-1]
    return float(logits.log_softmax(dim=-1)[torch.arange(len(new)), torch.tensor(new)].sum())


@each("scheme", SCHEMES)
@each("architecture", ["decoder-only", "encoder-decoder"])
@torch.inference_mode()
def test_every_score_is_that_of_its_text_read_in_one_pass(architecture: str, scheme: str) -> None:
    model = lively_model(architecture=architecture, positions=scheme)
    for text in TEXTS[:2]:
        found = search(model, text, width=3, length_penalty=0.7, ends=ENDS, max_new_tokens=8)
        for step in found:
            for one in (*step.running, *step.complete):
                assert one.score == pytest.approx(score_of(model, text, one), abs=1e-4)
                assert one.normalised == pytest.approx(one.score / len(one.ids) ** 0.7, abs=1e-5)


def test_the_way_to_a_text_adds_up_to_its_score(writer: DecoderOnly) -> None:
    found = search(writer, TEXTS[0], width=3, ends=ENDS, max_new_tokens=7)
    texts: list[tuple[int, ...]] = [()]  # that run
    fates = set()
    for step in found:
        scores = [candidate.score for candidate in step.candidates]
        assert scores == sorted(scores, reverse=True)
        going = [(*texts[one.parent], one.token) for one in step.candidates if one.fate == "goes on"]
        assert going == [one.ids for one in step.running]
        for candidate in step.candidates:
            ids = (*texts[candidate.parent], candidate.token)
            way = way_to(ids, found)
            assert way is not None
            assert [one.token for one in way] == list(ids)
            assert way[-1] is candidate
            assert sum(one.log_probability for one in way) == pytest.approx(candidate.score, abs=1e-4)
            if candidate.fate != "goes on":
                assert way_to((*ids, ids[-1]), found) is None
            fates.add(candidate.fate)
        texts = going
    assert fates == {"goes on", "complete", "dropped"}
    assert way_to((), found) is None
    unseen = next(token for token in range(VOCAB) if token not in {one.token for one in found[0].candidates})
    assert way_to((unseen,), found) is None


def test_the_encoder_runs_once_and_every_token_is_read_once(translator: EncoderDecoder) -> None:
    read: list[int] = []
    with ExitStack() as hooks:
        for name in ("encoder", "decoder.blocks.0.self_attn.W_K", "decoder.blocks.0.cross_attn.W_K"):
            module = translator.get_submodule(name)
            hooks.enter_context(module.register_forward_hook(lambda _, given, __: read.append(given[0].shape[1])))
        found = search(translator, TEXTS[0], width=3, ends=(), max_new_tokens=9)
    assert sorted(filter(None, read), reverse=True) == [len(TEXTS[0])] * 2 + [1] * len(found)


@torch.no_grad()
def test_a_branch_of_a_cache_reads_its_own() -> None:
    model, text, cache = lively_model(positions="rope"), token_ids(5, batch=1, seed=4), Cache()
    model(text, cache)
    for new in (torch.tensor([[7]]), torch.tensor([[9]])):  # the second branch knows nothing of the first
        expected = model(torch.cat((text, new), dim=1))[:, -1]
        torch.testing.assert_close(model(new, cache.branch(), past=5)[:, 0], expected, rtol=1e-4, atol=1e-5)
