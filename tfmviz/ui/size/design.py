"""Which model the page counts: the chosen one, a published one, or one of the reader's own sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfmviz.analysis.parameters import PUBLISHED, Design, Published, counts
from tfmviz.record.facts import Facts
from tfmviz.record.weights import ModelWeights
from tfmviz.ui import inputs, lesson
from tfmviz.ui.lesson import Lesson

WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384)

OWN, YOURS = "the chosen model", "sizes of your own"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What is counted, what its authors say of it, and its configuration, if it is a model of the zoo."""

    name: str
    design: Design
    known: Published | None = None
    config: Facts | None = None


def ask(here: Lesson, key: str) -> Subject:
    """Asks for the model, in a line of controls; for sizes of one's own with sliders.

    Args:
        key: of the line.
    """
    with lesson.line(key):
        name = inputs.selectbox("Count", [OWN, *PUBLISHED, YOURS], key="design")
        if name != OWN:
            lesson.hide("model")
        if name == YOURS:
            return Subject(name=name, design=_sliders())
    if name in PUBLISHED:
        return Subject(name=name, design=PUBLISHED[name].design, known=PUBLISHED[name])
    config = here.model.config
    return Subject(name=here.model.name, design=design_of(config, here.model.weights), config=config)


def _sliders() -> Design:
    """A decoder like Llama or GPT."""
    n_layers = inputs.slider("Layers", 1, 128, 12, key="n_layers")
    d = inputs.select_slider("d_model", WIDTHS, 1024, key="d_model")
    wide = inputs.select_slider("d_ff / d_model", [1, 2, 3, 4, 6, 8], 4, key="d_ff_ratio")
    vocab_size = inputs.select_slider("Vocabulary", [256, 4096, 32_000, 50_257, 128_256], 32_000, key="vocabulary")
    return Design(n_decoder=n_layers, d_model=d, d_attn=d, d_kv=d, d_ff=wide * d, vocab_size=vocab_size)


def design_of(config: Facts, weights: ModelWeights) -> Design:
    """The design of a model of the zoo; what has no place in it (norms of queries, biases of heads …) is "other"."""
    attention, feed_forward = config.attention, config.feed_forward
    has_mlp = feed_forward.n_matrices > 0
    depths = {stack: config.depth(stack) for stack in config.stacks}
    both = config.norm.position == "both"
    design = Design(
        n_encoder=depths.get("encoder", 0),
        n_decoder=depths.get("decoder", 0),
        d_model=config.d_model,
        d_attn=attention.n_heads * config.d_head,
        d_kv=attention.n_kv_heads * config.d_head,
        d_ff=feed_forward.d_ff if has_mlp else 0,
        n_matrices=feed_forward.n_matrices,
        n_experts=feed_forward.n_experts,
        shared_layers=config.shared_layers,
        vocab_size=config.vocab_size,
        n_positions=sum(stack.n_position_parameters for stack in weights.stacks.values()),
        norm_numbers=1 if config.norm.kind == "rms" else 2,
        norms_in_block=(2 if both else 1) * (1 + has_mlp),
        outer_norms=0 if config.norm.position == "post" else len(depths),
        feed_forward_biases=has_mlp,
        tied=config.embeddings.tied,
    )
    return replace(design, n_other=weights.n_parameters - sum(counts(design).values()))
