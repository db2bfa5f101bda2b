from __future__ import annotations

import streamlit as st

from tfmviz import paths
from tfmviz.counting import shipped
from tfmviz.runs import choices as limits
from tfmviz.runs.choices import Choices
from tfmviz.runs.manager import CANNOT_WRITE, QueueFull, RunManager
from tfmviz.runs.texts import LEAST, MOST, prepared
from tfmviz.ui import icons, lesson, session_cookie, trained
from tfmviz.words import markdown

VOCABULARY = 257
"""Tokens of all these models: the 256 bytes and a special token."""

SHIPPED_CHARACTERS = {"data.txt": 600_000, "held-out.txt": 60_000}
"""Characters of the shipped text and of its held-out part that an induction run reads."""


_COPYING = Choices(task="induction", layers=2, positions="rope", feed_forward="none", learning_rate=3e-3, steps=1200)

EXPERIMENTS = {
    "reverse a word": (
        Choices(task="reverse", steps=1200),
        "A small encoder and decoder learn to write a word backwards.",
    ),
    "copy a word": (
        Choices(task="copy", steps=600),
        "The same model learns to copy: when does cross-attention become a diagonal?",
    ),
    "two layers copy": (
        _COPYING,
        "Half the text is random characters that repeat. Two layers can form an induction head.",
    ),
    "one layer cannot": (
        Choices.from_dict(_COPYING.to_dict() | {"layers": 1}),
        "With one layer, no head can know which token came before another (Elhage et al. 2021).",
    ),
}
"""Settings tried beforehand, and what there is to see."""

SETTINGS = (
    "task",
    "layers",
    "heads",
    "width",
    "positions",
    "steps",
    "learning_rate",
    "warmup",
    "schedule",
    "optimizer",
    "smoothing",
    "dropout",
    "norm_position",
    "feed_forward",
    "seed",
)
"""In the order of the page; each is in the address."""

PASTED = 4 * MOST
"""Characters that the box takes. It silently takes nothing of a longer text, so it takes more than a run does: then the
page can tell the reader how long the text is.
"""

LABELS = {
    "norm_position": "Norm",
    "feed_forward": "Feed-forward",
    "learning_rate": "Peak learning rate",
    "warmup": "Warm-up steps",
    "steps": "Updates",
    "smoothing": "Label smoothing",
}

OPTIONS: dict[str, tuple[int | float, ...]] = {
    "layers": (1, 2, 3),
    "heads": (1, 2, 4, 8),
    "width": (16, 32, 64, 128),
    "steps": (100, 300, 600, 1000, 1200, 2000, 4000),
    "learning_rate": (1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 3e-2, 0.1, 0.3),
    "warmup": (1, 10, 50, 100, 200, 400, 1000),
    "smoothing": (0.0, 0.05, 0.1, 0.2, 0.4),
    "dropout": (0.0, 0.1, 0.2, 0.4),
    "seed": (0, 1, 2, 3, 4, 5, 6, 7),
}


@st.cache_resource(show_spinner=False)
def run_manager() -> RunManager:
    """The runs of this server, which it supervises from now on."""
    found = RunManager(paths.runs())
    found.watch()
    return found


def ask() -> None:
    def take_experiment() -> None:
        if name := st.session_state["trial"]:
            settings, _ = EXPERIMENTS[name]
            for key, value in settings.to_dict().items():
                st.session_state[f"train_{key}"] = value

    line, plain = lesson.control_row("experiment"), Choices().to_dict()
    line.selectbox(
        "Experiment", list(EXPERIMENTS), index=None, placeholder="Choose", key="trial", on_change=take_experiment
    )
    rest = st.expander("More settings", key="more_settings").container(horizontal=True, key="line-settings")
    for n, name in enumerate(SETTINGS):
        options = list(limits.WORDS[name]) if name in limits.WORDS else list(OPTIONS[name])
        (line if n < 4 else rest).selectbox(
            LABELS.get(name, name.capitalize()),
            options,
            index=options.index(plain[name]),
            format_func=_written,
            key=f"train_{name}",
            bind="query-params",
        )
    if st.session_state["train_task"] == "text":
        st.text_area(
            f"Training text, {LEAST:,} to {MOST:,} characters",
            key="train_text",
            height=140,
            max_chars=PASTED,
            placeholder="Paste a text",
        )
    line = lesson.control_row("train")
    if not run_manager().at_once:
        line.info("Training is switched off on this server.", icon=icons.OFF)
        return
    line.button("Train", type="primary", key="train", on_click=_submit)
    if trained.addresses():
        line.checkbox("Plot it with the runs shown", value=True, key="overlay")
    if problem := st.session_state.pop("train_problem", ""):
        st.warning(problem, icon=icons.WARNING)


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _submit() -> None:
    wanted = {name: st.session_state[f"train_{name}"] for name in SETTINGS}
    try:
        choices = Choices.from_dict(wanted)
        texts = _texts(choices.task, st.session_state.get("train_text", ""))
        address = run_manager().submit(choices, texts, owner=session_cookie.this_one(), place=session_cookie.place())
    except (ValueError, QueueFull) as error:
        st.session_state["train_problem"] = markdown.plain(str(error))
    except OSError:
        st.session_state["train_problem"] = f"The run cannot start: {CANNOT_WRITE}."
    else:
        trained.put([address, *(trained.addresses() if st.session_state.get("overlay") else [])])


def _texts(task: str, text: str) -> dict[str, str]:
    """Raises: UnfitText."""
    match task:
        case "text":
            return {"data.txt": prepared(text)}
        case "induction":
            names = {"data.txt": "counted.txt.xz", "held-out.txt": "held-out.txt.xz"}
            return {file: shipped.read_corpus(name)[: SHIPPED_CHARACTERS[file]] for file, name in names.items()}
    return {}


def described(choices: Choices, others: list[Choices]) -> str:
    """The settings in which a run differs from any of the others."""
    names = dict.fromkeys(name for other in others for name in choices.differing(other))
    mine = choices.to_dict()
    return ", ".join(f"{name} {_written(mine[name])}" for name in names) or choices.task
