"""Runs beyond one record of one text: many texts or edits in one pass, training mode, gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from tfmviz.model import connectivity, in_training, later, recurrent, timing, window
from tfmviz.model.cache import Cache
from tfmviz.model.device import ids_for, to_array
from tfmviz.model.recurrent import RecurrentLayer
from tfmviz.model.state_space import StateSpace, StateSpaceModel
from tfmviz.model.window import WindowModel
from tfmviz.record.edits import Edit
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.tap import NO_TAP, Recorder
from tfmviz.record.trace import Array, Encoding
from tfmviz.record.weights import RecurrentWeights, WindowWeights
from tfmviz.zoo import forwards
from tfmviz.zoo.model import EarlierModel, Loaded, ZooModel


def values_at(model: AnyModel, site: str, texts: Sequence[Sequence[int]], edits: tuple[Edit, ...] = ()) -> Array:
    """One site's value on several texts of the same length, in one forward pass: (text, …)."""
    module: nn.Module = Loaded.behind(model).module
    recorder = Recorder(edits, sites=(site,))
    with torch.inference_mode():
        module(ids_for(module, texts), tap=recorder)
    recorder.check()
    return to_array(recorder.values[site])


def logits_under(
    model: Model,
    inputs: str | Sequence[int],
    variants: Sequence[Sequence[Edit]],
    positions: Sequence[int] | None = None,
    *,
    target: str | Sequence[int] | None = None,
) -> Array:
    """Logits under each of several sets of edits, in as few forward passes as fit the memory.

    Args:
        variants: at least one set of at least one edit.
        positions: None: all.

    Returns:
        (variant, position, vocab).
    """
    ours = ZooModel.behind(model)
    ours.check_head()
    texts = [text.ids for text in ours.texts(inputs, target)]
    return forwards.fork_in_parts(ours.module, texts, variants, slice(None) if positions is None else positions)


def logits(model: Model, ids: Sequence[int], *, cached: int = 0) -> Array:
    """Logits of a language model on a text of any length its positions reach, past `max_len` too.

    Args:
        cached: first tokens, read in a separate pass.

    Returns:
        (len - cached, vocab).

    Raises:
        ValueError: a learned table ends before the text.
    """
    module, tap = ZooModel.behind(model).language_model, Cache() if cached else NO_TAP
    text = ids_for(module, [ids])
    with torch.inference_mode():
        if cached:
            module(text[:, :cached], tap)
        return to_array(module(text[:, cached:], tap, past=cached)[0])


def logits_after(model: AnyModel, texts: Sequence[Sequence[int]]) -> Array:
    """Logits of the token that comes next, after several texts of the same length: (text, vocab)."""
    if not isinstance(model, EarlierModel):
        return forwards.logits_after(ZooModel.behind(model).language_model, texts)
    with torch.inference_mode():
        return to_array(model.module.after(ids_for(model.module, texts)))


def pull(model: AnyModel, ids: Sequence[int]) -> Array:
    """The effect of each token's vector on the prediction after the text; see `model.connectivity`."""
    module = model.module if isinstance(model, EarlierModel) else ZooModel.behind(model).language_model
    return connectivity.pull(module, ids)


def recurrent_weights(model: AnyModel, layer: str) -> RecurrentWeights:
    """The matrices of a recurrent layer, by its name in the record: "rnn.0", "decoder".

    Raises:
        ValueError: the model has no such layer.
    """
    module: nn.Module = Loaded.behind(model).module
    found = dict(module.named_modules()).get(layer)
    if not isinstance(found, RecurrentLayer):
        raise ValueError(f"{model.name} has no recurrent layer {layer}.")
    return recurrent.weights_of(found)


def decays(model: AnyModel, layer: int) -> Array:
    """a of a layer of a state space model, (number,): the share of its state that is left after one token.

    Raises:
        ValueError: the model has no such layer.
    """
    module: nn.Module = Loaded.behind(model).module
    if not isinstance(module, StateSpaceModel) or not 0 <= layer < len(module.ssm):
        raise ValueError(f"{model.name} has no layer {layer} of state spaces.")
    mixer = module.get_submodule(f"ssm.{layer}.mixer")
    assert isinstance(mixer, StateSpace)
    with torch.inference_mode():
        return to_array(mixer.decay()[0].flatten())


def window_weights(model: AnyModel) -> WindowWeights:
    """Raises: ValueError, if the model is no fixed-window network."""
    module: nn.Module = Loaded.behind(model).module
    if not isinstance(module, WindowModel):
        raise ValueError(f"{model.name} is no window network.")
    return window.weights_of(module)


def step_times(model: Model, lengths: Sequence[int], *, rounds: int) -> tuple[list[float], list[float]]:
    return timing.step_times(ZooModel.behind(model).language_model, lengths, rounds=rounds)


def losses_with_dropout(
    model: Model, inputs: str | Sequence[int], *, dropout: float, runs: int, seed: int = 0
) -> tuple[Encoding, Array]:
    """−ln P of each next token in several runs in training mode; see `model.in_training.losses_with_dropout`.

    Returns:
        The text that the model predicts on, and (run, len - 1).
    """
    ours = ZooModel.behind(model)
    ours.check_head()
    texts = ours.texts(inputs)
    ids = [text.ids for text in texts]
    losses = in_training.losses_with_dropout(ours.module, ids, dropout=dropout, runs=runs, seed=seed)
    return texts[-1], to_array(losses)


def gradient_lengths(model: Model, inputs: str | Sequence[int], *, untrained: int | None = None) -> dict[str, float]:
    """See `in_training`; empty for a text without a next token."""
    ours = ZooModel.behind(model)
    ours.check_head()
    module = ours.module if untrained is None else in_training.untrained(ours.config, seed=untrained)
    texts = [text.ids for text in ours.texts(inputs)]
    return in_training.gradient_lengths(module, texts) if len(texts[-1]) > 1 else {}


def scores_from(model: Model, ids: Sequence[int], *, first: int) -> Array:
    """Scores of a language model, (layer, head, len, len), when the text begins at position `first`.

    Raises:
        ValueError: a learned table ends before the text.
    """
    module = ZooModel.behind(model).language_model
    return to_array(later.scores_from(module, ids_for(module, ids), first=first))


def streams_from(model: Model, ids: Sequence[int], *, first: int) -> Array:
    """The stream of a language model, (1 + layer, len, d_model), when the text begins at position `first`.

    Raises:
        ValueError: a learned table ends before the text.
    """
    module = ZooModel.behind(model).language_model
    return to_array(later.streams_from(module, ids_for(module, ids), first=first))
