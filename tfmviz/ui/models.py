"""Loaded models and their traces, shared by all sessions of the server."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

import streamlit as st

from tfmviz import views, zoo
from tfmviz.analysis.biography import file as biographies
from tfmviz.analysis.biography.file import HeadCatalog, NoBiographies
from tfmviz.analysis.heads import Kind, layer_scores, random_repeats
from tfmviz.memory import keep_memory
from tfmviz.record.edits import Edit
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import icons, trained
from tfmviz.ui.cache import cached_for_all, forget, shared_with_others
from tfmviz.ui.model_names import name_of
from tfmviz.words import markdown


def entries() -> tuple[zoo.Entry, ...]:
    """Models including the reader's runs and those that cannot be loaded."""
    return (*zoo.catalogue(), *trained.entries())


def names() -> list[str]:
    return [entry.name for entry in entries() if entry.config is not None]


def reads_pairs(name: str) -> bool:
    """The model distinguishes the words of two sentences that it reads together, as BERT does."""
    return any(e.name == name and e.config is not None and e.config.embeddings.separator is not None for e in entries())


def usual(among: Sequence[str]) -> str:
    return "tiny-english" if "tiny-english" in among else among[0]


def load(name: str) -> Model:
    """Stops the run, with a note, if the model's files turn out to be damaged."""
    try:
        return found(name)
    except zoo.ModelUnavailable as error:
        st.error(f"{markdown.plain(str(error))} Choose another model above.")
        st.stop()


def found(name: str) -> Model:
    """Like `load`, outside of a page's run too. Raises: ModelUnavailable."""
    return _load_trained(name) if trained.is_one(name) else _load(name)[0]


NEAR = 0.75
"""The least similarity of a wrong name to the one that it is taken for."""


def nearest(asked: str, usable: Sequence[str], usual: str) -> tuple[str, str]:
    """The model with the most similar name among the `usable`, or the `usual` one; and a sentence that explains it."""
    other = next(filter(_loads, get_close_matches(asked, usable, cutoff=NEAR)), usual)
    return other, f"There is no model {markdown.code(asked)} here. This is {markdown.plain(name_of(other))}."


def _loads(name: str) -> bool:
    try:
        found(name)
    except zoo.ModelUnavailable:
        return False
    return True


def instead(chosen: str, needs: str, other: str) -> str:
    """A sentence: why a page is not about the chosen model, which is not `needs`, "a model with experts"."""
    return f"{markdown.code(chosen)} is not {needs}, so this is {markdown.code(other)}."


def needed(name: str) -> Model | None:
    """A model that part of a page needs. If it is missing, shows a note and gives None."""
    if name in zoo.available():
        return load(name)
    st.info(f"This part needs the model {markdown.code(name)}, which is missing.", icon=icons.INFO)
    return None


def earlier(name: str) -> AnyModel | None:
    """The same as `needed`, of any kind from before the transformer."""
    try:
        return _load_earlier(name)
    except zoo.ModelUnavailable as error:
        st.info(f"This part needs the model {markdown.code(name)}. {markdown.plain(str(error))}", icon=icons.INFO)
        return None


@st.cache_resource(show_spinner="Loading the model…")
def _load_earlier(name: str) -> AnyModel:
    import_torch()
    return zoo.with_copies(zoo.load(name, kind=zoo.Loaded))


def _is_on_disk(loaded: tuple[Model, int]) -> bool:
    """Weights are the disk's; otherwise no result is kept."""
    model, written = loaded
    if zoo.written(model.name) == written:
        return True
    forget(model)
    return False


@st.cache_resource(show_spinner="Loading the model…", validate=_is_on_disk)
def _load(name: str) -> tuple[Model, int]:
    """Loads once per server, after the page has been painted, and again when the files are replaced.

    Returns when its weights were written, too.
    """
    import_torch()
    written = zoo.written(name)
    return zoo.with_copies(zoo.load(name)), written


@st.cache_resource(show_spinner=False, max_entries=8)
def _load_trained(name: str) -> Model:
    """Keeps only a few."""
    import_torch()
    return zoo.with_copies(trained.load(name))


@st.cache_resource(show_spinner=False)
def import_torch() -> None:
    """Imports torch once, in one thread; all others wait for it.

    Meanwhile threads switch ten times as often: else the import would delay a first page. Torch gets one thread per
    sentence: several would wait for one another far longer than they help with models of this size, and other readers
    need the other processors.
    """
    keep_memory()
    gc.disable()  # imported modules stay: searching them for garbage takes a quarter of the time, and again later
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 10)
    import torch

    sys.setswitchinterval(usual)
    gc.freeze()  # once, before there are readers: frozen objects, and so their sessions, would never be freed
    gc.enable()
    torch.set_num_threads(1)


@cached_for_all
def trace(model: Model, text: str, edits: tuple[Edit, ...] = ()) -> Trace:
    """A trace takes about 65 MB at the longest text."""
    return run(model, text, edits)


@cached_for_all
def trace_of_own(model: Model, text: str, edits: tuple[Edit, ...]) -> Trace:
    """A translator's decoder reads the translation written with the edits."""
    return model.trace(text, edits, target=zoo.writing.generate(model, text, edits=edits).ids)


@cached_for_all
def trace_at(model: AnyModel, text: str, *sites: str) -> Trace:
    """Some sites of a run without edits; without a name, all of them."""
    return model.trace(text, sites=sites or None)


@cached_for_all
def of_folder(name: str, folder: Path) -> Model:
    """A model that is not in the menu. Raises: ModelUnavailable."""
    import_torch()
    return zoo.load(name, folder)


def run(model: Model, text: str, edits: tuple[Edit, ...] = (), sites: Iterable[str] | None = None) -> Trace:
    """A translator's decoder reads its translation without edits."""
    return model.trace(text, edits, sites, target=translation(model, text) if translates(model) else None)


def run_unshared(model: Model, text: str, sites: Iterable[str] | None = None) -> Trace:
    """Nothing of it is kept: for text that is still being typed."""
    target = zoo.writing.translations(model, [text])[0] if translates(model) else None
    return model.trace(text, (), sites, target=target)


def translates(model: Model) -> bool:
    return model.config.architecture == "encoder-decoder" and model.config.head != "none"


@cached_for_all
def tokens_read(model: Model, text: str, stack: str) -> tuple[str, ...]:
    """A decoder that translates reads its own answer."""
    if stack == "decoder" and translates(model):
        return run(model, text, sites=("decoder.0.resid_pre",)).tokens
    return model.encode(text).tokens


@shared_with_others
def translation(model: Model, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Greedy, without the special tokens at the ends."""
    return zoo.writing.translations(model, texts)


@cached_for_all
def scores_on_repeats(model: Model) -> dict[str, dict[Kind, Array]]:
    """`layer_scores` on `random_repeats`; empty for an encoder-decoder, whose layers do not read a single text."""
    if model.config.architecture == "encoder-decoder":
        return {}
    ids = random_repeats(vocab_size=model.config.vocab_size, max_len=model.config.max_len)
    return layer_scores(model.trace(ids, sites=("*.self_attn.pattern", "*.self_attn.mask")))


@cached_for_all
def payload(model: Model, text: str) -> bytes:
    """The explorer's data in the browser."""
    return payload_of(model, trace(model, text))


def payload_of(model: Model, trace: Trace) -> bytes:
    """The same, from a trace."""
    known = book(model)
    repeats = scores_on_repeats(model) if known is None else {}
    return views.payload(trace, title=model.name, on_repeats=repeats, book=known)


@cached_for_all
def book(model: Model) -> HeadCatalog | None:
    """Biographies of the heads; None where there are none, or those of other weights."""
    folder = next((entry.folder for entry in entries() if entry.name == model.name), None)
    try:
        return None if folder is None else biographies.load(folder / biographies.FILE, model.weights)
    except NoBiographies:
        return None
