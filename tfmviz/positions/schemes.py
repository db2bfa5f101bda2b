"""All position schemes: their formulas, and where their code is.

This table needs no torch. A new scheme is a new file here, with a subclass of `base.Positions`, and one entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tfmviz.positions.base import Positions

Seam = Literal["embed", "rotate", "bias", "relate"]
"""The method of `base.Positions` that a scheme overrides."""

Width = Literal["d_model", "d_head"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheme:
    """A position scheme as published.

    Attributes:
        name: in sentences and figures.
        source: its authors, or a model known for it.
        formula: with words x, queries q, keys k, positions i (query) and j (key).
        idea: the same in a sentence or two.
        acts: its seam.
        code: "module:class", imported when a model is built.
        pairs: the width whose coordinates it pairs, which must be even.
        tab: the page with a tab on this scheme, and that tab in its address.
        table: trains a vector for each of max_len positions.
    """

    name: str
    formula: str
    idea: str
    acts: Seam | None
    code: str
    source: str = ""
    pairs: Width | None = None
    tab: tuple[str, Mapping[str, str]] | None = None
    table: bool = False

    @property
    def title(self) -> str:
        return f"{self.name} ({self.source})" if self.source else self.name

    def implementation(self) -> type[Positions]:
        """The class; imports torch."""
        return resolve_name(self.code)


SCHEMES: dict[str, Scheme] = {
    "none": Scheme(
        name="No positions",
        formula="q_i · k_j / √d_head",
        idea="The words alone. Only a causal mask can tell their order: later words may look at more of them.",
        acts=None,
        code="tfmviz.positions.base:Positions",
    ),
    "learned": Scheme(
        name="Learned",
        source="GPT-2, BERT",
        formula="x_i + P[i]",
        idea="One trained vector for each position, added to the word's. There is none past the end of the table.",
        acts="embed",
        code="tfmviz.positions.learned:Learned",
        tab=("positions", {"lesson": "Learned"}),
        table=True,
    ),
    "sinusoidal": Scheme(
        name="Sinusoidal",
        source="Vaswani et al. 2017",
        formula="x_i + PE(i)\nPE(i, 2m)   = sin(i / 10000^(2m/d))\nPE(i, 2m+1) = cos(i / 10000^(2m/d))",
        idea="Waves of falling frequency, added to the word's vector: like the hands of many clocks.",
        acts="embed",
        code="tfmviz.positions.sinusoidal:Sinusoidal",
        pairs="d_model",
        tab=("positions", {"lesson": "Sinusoidal"}),
    ),
    "sines-first": Scheme(
        name="Sinusoidal, sines first",
        source="Marian",
        formula="x_i + PE(i)\nPE(i, m)       = sin(i / 10000^(2m/d))\nPE(i, m + d/2) = cos(i / 10000^(2m/d))",
        idea="The waves of the 2017 paper in another order: all sines, then all cosines.",
        acts="embed",
        code="tfmviz.positions.sinusoidal:SinesFirst",
        pairs="d_model",
        tab=("positions", {"lesson": "Sinusoidal"}),
    ),
    "sines-first-from-2": Scheme(
        name="Sinusoidal, sines first, from 2",
        source="XGLM, M2M100",
        formula="x_i + PE(i + 2)\nPE(i, m)       = sin(i / 10000^(2m/n))\nPE(i, m + d/2) = cos(the same)\nn = d − 2",
        idea="All sines, then all cosines, slightly slower than in the 2017 paper; the first two rows are left out.",
        acts="embed",
        code="tfmviz.positions.sinusoidal:SinesFromTwo",
        pairs="d_model",
        tab=("positions", {"lesson": "Sinusoidal"}),
    ),
    "rope": Scheme(
        name="RoPE",
        source="Su et al. 2021",
        formula="(R_i q_i) · (R_j k_j) = q_i · R_(j−i) k_j\nR_i: pair m turns by i·10000^(−2m/d_head)",
        idea="Queries and keys turn with their position; of both turns, their product keeps only the distance.",
        acts="rotate",
        code="tfmviz.positions.rope:Rope",
        pairs="d_head",
        tab=("positions_rope", {"scheme": "Turning"}),
    ),
    "alibi": Scheme(
        name="ALiBi",
        source="Press et al. 2022",
        formula="q_i · k_j / √d_head − 2^(−8h/H) · |i − j|\nin head h = 1 … H",
        idea="Every score pays for its distance, at a rate that differs from head to head.",
        acts="bias",
        code="tfmviz.positions.alibi:Alibi",
        tab=("positions_rope", {"scheme": "Biases", "bias": "ALiBi"}),
    ),
    "shaw": Scheme(
        name="Relative keys",
        source="Shaw et al. 2018",
        formula="q_i · (k_j + a[clip(j − i)]) / √d_head\nclip: no more than 16 tokens either way",
        idea="Each distance has a trained vector, added to the key: a head can ask for a distance as for a word.",
        acts="relate",
        code="tfmviz.positions.shaw:Shaw",
        tab=("positions_rope", {"scheme": "Biases", "bias": "Shaw"}),
    ),
    "t5": Scheme(
        name="T5 bias",
        source="Raffel et al. 2020",
        formula="q_i · k_j / √d_head + b_h[bucket(i − j)]",
        idea="A trained number for every head and class of distances is added to the score.",
        acts="bias",
        code="tfmviz.positions.t5:T5Relative",
        tab=("positions_rope", {"scheme": "Biases", "bias": "T5 buckets"}),
    ),
}
"""The schemes by their names in configurations and on the command line."""
