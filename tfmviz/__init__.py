"""tfmviz: type a sentence, take a transformer apart.

A transformer runs once per sentence and leaves a complete, named record (a `Trace`); from Python that is two lines:

    model = tfmviz.load("tiny-english")
    trace = model.trace("The cat sat on the mat.")

The axis vocabulary, used in every shape comment of the project:

    batch     sentences processed together; gone from a `Trace`, which holds one sentence
    head      attention heads, 0 … n_heads - 1
    q_len     query positions: the tokens that look (rows of an attention picture)
    k_len     key positions: the tokens that are looked at (columns)
    len       token positions where queries and keys are the same sequence
    d_model   width of the residual stream
    d_head    width of one head's queries, keys and values; d_model = n_heads × d_head
    d_ff      inner width of the feed-forward layer
    vocab     entries of the tokenizer's vocabulary

Further entry points:

    show, trace_of                      attention that you have: from transformers, TransformerLens, numpy, a file
    load, available                     a model that is shipped or that you have converted
    tfmviz.views.html                   the explorer as one page; `live=True` puts the model into it
    tfmviz.huggingface.convert          a model of transformers as one of these, with every site
    tfmviz.record.edits                 interventions for `trace(edits=…)`: a head off, a value scaled, fixed or copied
    tfmviz.zoo.writing                  text that a model writes

Importing this package imports neither torch nor any model; `load` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfmviz.record.model import Model
from tfmviz.record.trace import Encoding, NotCaptured, Trace

if TYPE_CHECKING:
    from tfmviz.external import Page
    from tfmviz.zoo import ZooModel

__version__ = "0.2.0"

__all__ = ["Encoding", "Model", "NotCaptured", "Trace", "__version__", "available", "load", "show", "trace_of"]


def available() -> tuple[str, ...]:
    """Names of the models whose files are in order, alphabetically."""
    from tfmviz import zoo

    return zoo.available()


def load(name: str) -> ZooModel:
    """Loads a model, one of `available()`, shipped or converted. This imports torch.

    Raises:
        zoo.ModelUnavailable: no such model, or its files are missing or damaged.
    """
    from tfmviz import zoo

    return zoo.load(name)


def show(
    attentions: Any,
    tokens: Any = None,
    *,
    source: Any = None,
    tokenizer: Any = None,
    segments: Any = None,
    title: str = "",
    words: bool = False,
) -> Page:
    """The explorer with attention that you have. A notebook shows it; `.save("attention.html")` writes it as a page.

        output = model(**inputs, output_attentions=True)
        tfmviz.show(output.attentions, tokenizer.convert_ids_to_tokens(inputs.input_ids[0]))

    Args:
        attentions, tokens, source, tokenizer, segments: see `trace_of`.
        title: the model's name, for captions.
        words: joins the pieces of each word: the attention to it is the sum over its pieces, its own their mean.

    Raises:
        ValueError: the input is no attention, does not fit the tokens, or is too large for a page; the message says
            what to do.
    """
    from tfmviz import external

    return external.show(
        attentions, tokens, source=source, tokenizer=tokenizer, segments=segments, title=title, words=words
    )


def trace_of(
    attentions: Any, tokens: Any = None, *, source: Any = None, tokenizer: Any = None, segments: Any = None
) -> Trace:
    """Attention that you have as a record: patterns and masks by their sites.

    Rows need not sum to 1. Where no token looks ahead, the mask is causal.

    Args:
        attentions: the output of transformers for `output_attentions=True`, as a tuple or as a whole, of an
            encoder-decoder or of `generate` too; an array or lists with the axes layer, batch (of one, or none), head,
            query, key; a cache of TransformerLens; the path of a JSON file, or of one that the explorer has saved.
        tokens: words, or ids with a `tokenizer`; of an encoder-decoder the decoder's. Pieces may be spelled “Ġthe”,
            “▁the”, “##ing”.
        source: the encoder's tokens, or those that are looked at where one text looks at another.
        tokenizer: of transformers or of tokenizers.
        segments: the part of the text that each token belongs to: names such as "user", or numbers such as
            `token_type_ids`; None for a token of no part. Not needed for a tokenizer's two sentences.

    Raises:
        ValueError: see `show`.
    """
    from tfmviz import external

    return external.trace_of(attentions, tokens, source=source, tokenizer=tokenizer, segments=segments)


def _in_notebook(trace: Trace) -> str | None:
    """A record as a notebook shows it; None if it holds no attention or too much."""
    from tfmviz.external import Page
    from tfmviz.views import travels_whole

    try:
        return Page(trace=trace)._repr_html_() if travels_whole(trace) else None
    except ValueError:
        return None


Trace._repr_html_ = _in_notebook  # type: ignore[attr-defined]  # the record knows no views
