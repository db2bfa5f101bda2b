"""The interface between models and pages, whatever computes the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from tfmviz.record.edits import Edit
from tfmviz.record.facts import Facts
from tfmviz.record.marks import Marks
from tfmviz.record.trace import Encoding, Trace
from tfmviz.record.weights import ModelWeights, PositionEffects


class Tokens(Protocol):
    """A tokenizer: text into vocabulary indices, and back."""

    @property
    def vocabulary(self) -> tuple[str, ...]: ...

    @property
    def marks(self) -> Marks: ...

    @property
    def ranks(self) -> Mapping[tuple[str, str], int] | None:
        """The priority of each merge; None unless a byte-pair encoding."""
        ...

    @property
    def special_tokens(self) -> tuple[str, ...]: ...

    def encode(self, text: str, *, max_len: int) -> Encoding: ...

    def encoding_of(self, ids: Sequence[int], *, max_len: int) -> Encoding:
        """The encoding of given indices, cut to `max_len`."""
        ...

    def decode(self, ids: Iterable[int]) -> str: ...

    def ids(self, text: str) -> list[int]:
        """The indices of a whole text, without the special tokens that a model adds."""
        ...

    def ids_with_marks(self, text: str) -> list[int]:
        """The indices of a text in which typed special tokens count as such."""
        ...

    def pieces(self, text: str) -> tuple[str, ...]:
        """The readable tokens of a text."""
        ...

    def spelled(self, text: str) -> str:
        """The text in the form in which it is cut into tokens."""
        ...


class Sizes(Protocol):
    @property
    def vocab_size(self) -> int: ...

    @property
    def max_len(self) -> int:
        """Most tokens of a text."""
        ...

    @property
    def d_model(self) -> int: ...

    @property
    def n_parameters(self) -> int: ...

    def to_dict(self) -> dict[str, Any]: ...


class AnyModel(Protocol):
    """The interface of every model, earlier ones included."""

    def __hash__(self) -> int: ...  # a model is a key of caches, by its identity

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> Sizes: ...

    @property
    def tokenizer(self) -> Tokens: ...

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per column of `logits`."""
        ...

    def encode(self, inputs: str | Sequence[int]) -> Encoding:
        """The tokens that the model reads of a text."""
        ...

    def trace(
        self,
        inputs: str | Sequence[int],
        edits: tuple[Edit, ...] = (),
        sites: Iterable[str] | None = None,
        *,
        target: str | Sequence[int] | None = None,
    ) -> Trace:
        """Runs the model once.

        Args:
            inputs: text or vocabulary indices, cut at the model's context.
            edits: interventions.
            sites: names to keep, `*` standing for anything; None keeps everything.
            target: for translators, the decoder's text after the start token; None: the model's own greedy output.

        Raises:
            ValueError: there is no token in `inputs`, or an edit does not fit the model.
            NotCaptured: a name in `sites` fits nothing the model computes.
        """
        ...


class Model(AnyModel, Protocol):
    """A transformer, with its weights and position effects."""

    @property
    def config(self) -> Facts: ...

    @property
    def device(self) -> str:
        """ "cpu", or the name of a GPU such as "cuda:0"."""
        ...

    @property
    def weights(self) -> ModelWeights: ...

    @property
    def writes_from(self) -> str:
        """The stack that ends in the logits."""
        ...

    def position_effects(self, layer: str, length: int) -> PositionEffects:
        """The scheme's effects on `length` tokens in a layer such as "decoder.3.self_attn".

        "encoder" or "decoder" alone means the stack's first layer.

        Raises:
            ValueError: a learned table has fewer positions.
        """
        ...
