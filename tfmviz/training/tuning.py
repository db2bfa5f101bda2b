"""Fine-tuning: a trained model learns another task from a few examples.

The task is to tell questions from statements without final punctuation. A text is one vector x after the last layer: in
a decoder the last token's, in an encoder the mean. A new head reads it: P(question) = σ(w · x + b). There are four ways
to train:

- scratch: all weights, from fresh ones;
- head: only w and b;
- lora: w, b, and for W_Q and W_V of every layer a change ΔW = B A of rank r (Hu et al. 2021);
- all: all weights, from the trained ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrize

from tfmviz.model.attention import Attention
from tfmviz.model.transformer import DecoderOnly, EncoderOnly
from tfmviz.text.tokenizer import Tokenizer

Method = Literal["scratch", "head", "lora", "all"]

RATES: dict[Method, float] = {"scratch": 1e-3, "head": 3e-2, "lora": 3e-3, "all": 3e-4}
"""Peak learning rates of AdamW; the new head has that of `head`, except in `scratch`."""

BATCH, EVERY = 16, 10
"""Examples per step, and steps between two records."""

ADAPTED = ("W_Q", "W_V")
"""The matrices with low-rank changes."""

Example = tuple[str, bool]
"""A text, and whether it is a question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """The settings of fine-tuning.

    Attributes:
        rank: of the changes of `lora`, at least 1.
    """

    method: Method
    rank: int = 4
    steps: int = 80
    seed: int = 0


class Classifier(nn.Module):
    """A transformer with one logit per text."""

    def __init__(self, body: DecoderOnly | EncoderOnly) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(body.config.d_model, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """ids: (batch, len), padded; lengths: (batch,). Returns the logit of "question", (batch,)."""
        return self.head(self.read(ids, lengths))[:, 0]

    def read(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The vector of each text: (batch, d_model)."""
        if isinstance(self.body, DecoderOnly):
            return self.body.stream(ids)[torch.arange(len(ids)), lengths - 1]  # padding follows the last token
        stream = self.body.stream(ids, lengths=lengths)  # (batch, len, d_model)
        counts = torch.arange(ids.shape[1]) < lengths[:, None]  # (batch, len)
        return (stream * counts[..., None]).sum(dim=1) / lengths[:, None]


class LowRank(nn.Module):
    """W + B A, with B (d_out, r) initially zero and A (r, d_in) random: a change of rank at most r."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        d_out, d_in = weight.shape
        self.A = nn.Parameter(torch.randn(rank, d_in) * d_in**-0.5)
        self.B = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.B @ self.A


def examples(sentences: Sequence[str], n: int, *, seed: int) -> list[Example]:
    """`n` of the sentences without their final punctuation, half of them questions, shuffled.

    Raises:
        ValueError: there are too few of a kind.
    """
    kinds = [[s[:-1] for s in sentences if s.endswith(mark) and len(s) > 1] for mark in "?."]
    chance = random.Random(seed)
    if min(map(len, kinds)) < n // 2:
        raise ValueError(f"{n} examples need {n // 2} questions and as many statements.")
    drawn = [(text, kind == 0) for kind, texts in enumerate(kinds) for text in chance.sample(texts, n // 2)]
    chance.shuffle(drawn)
    return drawn


def tune(
    body: DecoderOnly | EncoderOnly,
    tokenizer: Tokenizer,
    settings: Tuning,
    *,
    known: Sequence[Example],
    held_out: Sequence[Example],
) -> Iterator[dict[str, Any]]:
    """Yields `share` of the work and `loss` every few steps, at last also `accuracy` and `outcome`. `body` is not
    changed.
    """
    torch.manual_seed(settings.seed)
    classifier = prepared(body, settings)
    start = {name: W.detach().clone() for name, W in classifier.body.named_parameters()}
    data, test = encoded(known, tokenizer, body), encoded(held_out, tokenizer, body)
    rates: list[dict[str, Any]] = [{"params": classifier.head.parameters(), "lr": RATES["head"]}]
    if rest := [W for W in classifier.body.parameters() if W.requires_grad]:
        rates.append({"params": rest, "lr": RATES[settings.method]})
    optimizer = torch.optim.AdamW(rates, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [group["lr"] for group in rates], total_steps=settings.steps, pct_start=0.1
    )
    chance = random.Random(settings.seed)
    for step in range(settings.steps):
        some = chance.sample(data, min(BATCH, len(data)))
        ids, lengths, wanted = together(some)
        loss = F.binary_cross_entropy_with_logits(classifier(ids, lengths), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % EVERY == EVERY - 1:
            yield {"share": (step + 1) / (settings.steps + EVERY), "loss": loss.item()}
    yield {"share": 1.0, "accuracy": accuracy(classifier, test), **outcome(classifier, start, settings.method)}


def prepared(body: DecoderOnly | EncoderOnly, settings: Tuning) -> Classifier:
    """A copy of the model with a new head and gradients for the method's weights alone."""
    copy = type(body)(body.config)  # fresh weights, and nothing that only a finished model has
    if settings.method != "scratch":
        copy.load_state_dict(body.state_dict())
    copy.train().requires_grad_(settings.method in ("scratch", "all"))
    if settings.method == "lora":
        for layer in attention_layers(copy):
            for name in ADAPTED:
                linear = getattr(layer, name)
                parametrize.register_parametrization(linear, "weight", LowRank(linear.weight, settings.rank))
    return Classifier(copy)


def attention_layers(body: nn.Module) -> list[Attention]:
    return [module for module in body.modules() if isinstance(module, Attention)]


Encoded = tuple[list[int], bool]


def encoded(some: Sequence[Example], tokenizer: Tokenizer, body: DecoderOnly | EncoderOnly) -> list[Encoded]:
    """The examples as tokens, cut to the model's length, without empty ones."""
    rows = tokenizer.encode_batch([text for text, _ in some])
    return [(row[: body.config.max_len], label) for row, (_, label) in zip(rows, some, strict=True) if row]


def together(some: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor]:
    """ids (batch, len), padded with zeros, lengths (batch,) and labels (batch,)."""
    ids = nn.utils.rnn.pad_sequence([torch.tensor(row) for row, _ in some], batch_first=True)
    return ids, torch.tensor([len(row) for row, _ in some]), torch.tensor([float(label) for _, label in some])


@torch.no_grad()
def accuracy(classifier: Classifier, some: Sequence[Encoded]) -> float:
    """The share of right answers; chance is 0.5."""
    classifier.eval()
    by_length = sorted(some, key=lambda example: len(example[0]))  # little padding
    right = 0
    for first in range(0, len(some), 32):
        ids, lengths, wanted = together(by_length[first : first + 32])
        right += int(((classifier(ids, lengths) > 0) == (wanted > 0)).sum())
    classifier.train()
    return right / len(some)


@torch.no_grad()
def outcome(classifier: Classifier, start: dict[str, Tensor], method: Method) -> dict[str, Any]:
    """The result of tuning.

    `trained`: number of trained weights. `head`: w and b. If the model itself moved from trained weights, also `moved`,
    ‖ΔW_Q‖ / ‖W_Q‖ by layer and head; `layer`, whose W_Q moved furthest; and `spectrum`, the singular values of its
    ΔW_Q.
    """
    trained = sum(W.numel() for W in classifier.parameters() if W.requires_grad)
    head = [*classifier.head.weight[0].tolist(), float(classifier.head.bias)]
    if method in ("scratch", "head"):
        return {"trained": trained, "head": head}
    names = {id(module): name for name, module in classifier.body.named_modules()}
    moved, changes = [], []
    for layer in attention_layers(classifier.body):
        name = f"{names[id(layer)]}.W_Q"
        before = start.get(f"{name}.weight", start.get(f"{name}.parametrizations.weight.original"))
        assert before is not None
        change = layer.W_Q.weight - before
        by_head = [part.unflatten(0, (-1, layer.d_head)).flatten(1).norm(dim=1) for part in (change, before)]
        moved.append((by_head[0] / by_head[1]).tolist())
        changes.append(change)
    at = max(range(len(changes)), key=lambda n: float(changes[n].norm()))
    spectrum = torch.linalg.svdvals(changes[at]).tolist()
    return {"trained": trained, "head": head, "moved": moved, "layer": at, "spectrum": spectrum}
