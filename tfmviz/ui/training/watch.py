"""Readers' runs, live. Many readers may watch one run."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz import zoo
from tfmviz.analysis.heads import IN_WORDS, layer_scores, verdicts
from tfmviz.plots import panels
from tfmviz.runs import records
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder, NoSuchRun
from tfmviz.runs.manager import CANNOT_WRITE, QueueFull, RunStatus
from tfmviz.runs.records import Records
from tfmviz.text.tasks import ANSWERS
from tfmviz.ui import controls, icons, lesson, models, session_cookie, trained
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show, theme
from tfmviz.ui.training import inside, shipped
from tfmviz.ui.training.desk import OPTIONS, VOCABULARY, ask, described, run_manager
from tfmviz.words import markdown
from tfmviz.zoo import ModelUnavailable

LIVE = ("queued", "running")
RESTING = ("paused", "stopped")

NEWEST = "newest"
"""The end of the slider over the snapshots, where the picture follows the run."""

PROBLEM = "run_problem"

ENDED = f"The run ended, but this could not be saved: {CANNOT_WRITE}. When there is space, end it again."
FIXED = f"The learning rate could not be changed: {CANNOT_WRITE}."
STAYS = f"The run cannot resume: {CANNOT_WRITE}."

Seen = tuple[Folder, RunStatus, Records]


def train() -> None:
    if trained.addresses():
        watch()
        ask()
    else:
        shipped.what_to_expect()
        ask()
        shipped.what_experiments_show()


def watch() -> None:
    """Draws the runs in the address, again every second while one of them continues."""
    live = _any(*LIVE)
    models.load(controls.choice().model)  # torch is imported in the thread meant for it
    st.fragment(_draw, run_every=1.0 if live else None)(live, st.session_state.pop(PROBLEM, ""))
    if not live and _any(*RESTING):
        st.fragment(_wait, run_every=1.0)()


def _any(*states: str) -> bool:
    return any(sight.state in states for _, sight, _ in _look())


def _wait() -> None:
    """Another tab of the reader may resume a run. The page is not redrawn until then."""
    if _any(*LIVE):
        st.rerun()


def _look() -> list[Seen]:
    found = []
    for address in trained.addresses():
        try:
            folder, sight = run_manager().folder(address), run_manager().see(address)
        except NoSuchRun:
            continue
        log = folder.model / "log.jsonl"
        try:
            found.append((folder, sight, _read(log, log.stat().st_size, log.stat().st_mtime_ns)))
        except (OSError, ValueError):
            found.append((folder, sight, records.read_records(folder.path / "none")))
    return found


@cached_for_all
def _read(log: Path, _size: int, _changed: int) -> Records:
    return records.read_records(log)


def _draw(live: bool, problem: str) -> None:
    seen = _look()
    if PROBLEM in st.session_state or live != any(sight.state in LIVE for _, sight, _ in seen):
        st.rerun()  # a run ended or resumed: the page stops following it, or starts
    if problem:
        st.warning(problem, icon=icons.WARNING)
    if missing := len(trained.addresses()) - len(seen):
        st.info(f"{missing} of the runs in this address are gone; runs are kept for a day.", icon=icons.INFO)
    if not seen:
        return
    for one in seen:
        _progress(one, [sight.choices for _, sight, _ in seen])
    st.caption("Anyone with this address sees these runs; only the browser that started a run changes it.")
    folder, sight, _ = seen[0]
    left, right = st.columns([1, 1])
    with right:
        _curves(seen)
    _inside(folder.model, sight.choices, left, right)


def _progress(one: Seen, all_choices: list[Choices]) -> None:
    folder, sight, log = one
    done, steps = int(log.steps[-1]) if len(log.steps) else 0, sight.choices.steps
    name = described(sight.choices, all_choices)
    line = lesson.control_row(f"run-{folder.address}")
    line.progress(min(1.0, done / steps), text=f"{markdown.plain(name)}: {_state(folder, sight, log, done)}")
    if sight.owner == session_cookie.this_one():
        _steering(line, folder, sight)

    def look_inside() -> None:  # from now on all pages are about its model
        st.session_state["model"] = trained.name_of(folder.address)
        st.rerun()

    if sight.state in ("finished", "failed") and folder.is_finished:
        line.button("Look inside", key=f"inside-{folder.address}", on_click=look_inside)
        line.download_button(
            "Download",
            lambda: packed(folder),
            file_name=f"{trained.name_of(folder.address)}.zip",
            key=f"download-{folder.address}",
            on_click="ignore",
            width="content",
        )


def _steering(line: DeltaGenerator, folder: Folder, sight: RunStatus) -> None:
    there = run_manager()
    if sight.state in LIVE:
        line.button("Pause", key=f"pause-{folder.address}", on_click=_ask, args=(there.pause, folder.address, ENDED))
        line.button("Stop", key=f"stop-{folder.address}", on_click=_ask, args=(there.stop, folder.address, ENDED))
    if sight.state in RESTING:
        line.button("Resume", key=f"resume-{folder.address}", on_click=_ask, args=(there.resume, folder.address, STAYS))
    if sight.state not in ("finished", "failed"):
        _rate(line, folder, sight)


def _rate(line: DeltaGenerator, folder: Folder, sight: RunStatus) -> None:
    key = f"rate-{folder.address}"
    if st.session_state.get(key) != sight.rate:
        st.session_state[key] = sight.rate
    line.selectbox(
        "Peak learning rate",
        sorted({*OPTIONS["learning_rate"], sight.rate}),
        key=key,
        format_func=lambda rate: f"{rate:g}",
        help="It takes effect at the next update.",
        on_change=_ask,
        args=(lambda address: run_manager().change_rate(address, st.session_state[key]), folder.address, FIXED),
    )


def packed(folder: Folder) -> bytes:
    """The model as a folder for the app, in a ZIP file: weights, config, tokenizer, card."""
    name, file = trained.name_of(folder.address), io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in (*zoo.FILES, "CARD.md"):
            archive.write(folder.model / part, f"{name}/{part}")
    return file.getvalue()


def _ask(what: Callable[[str], None], address: str, trouble: str) -> None:
    try:
        with suppress(NoSuchRun):  # the page will report that it no longer exists
            what(address)
    except (ValueError, QueueFull) as error:
        st.session_state[PROBLEM] = markdown.plain(str(error))
    except OSError:
        st.session_state[PROBLEM] = trouble


def _state(folder: Folder, sight: RunStatus, log: Records, done: int) -> str:
    where = f"{done:,} of {sight.choices.steps:,} updates"
    match sight.state:
        case "queued":
            place = f"waiting, {sight.before} ahead of it" if sight.before else "about to start"
            return sight.failure or place
        case "running":
            return f"{where}{_speed(folder, sight, log, done)}" if done else "starting"
        case "failed":
            return markdown.plain(sight.failure)
    return f"{sight.state}, {where}"


def _speed(folder: Folder, sight: RunStatus, log: Records, done: int) -> str:
    at, before, _ = folder.started
    speed = f", {np.median(log.tokens_per_second[-20:]):,.0f} tokens/s"
    if done <= before:
        return speed
    left = (time.time() - at) / (done - before) * (sight.choices.steps - done)
    return f"{speed}, about {round(left)} s left" if left < 120 else f"{speed}, about {round(left / 60)} min left"


def _curves(seen: list[Seen]) -> None:
    all_choices = [sight.choices for _, sight, _ in seen]
    names = [f"{n + 1}: {described(choices, all_choices)}" for n, choices in enumerate(all_choices)]
    logs = dict(zip(names, (log for *_, log in seen), strict=True))
    if not any(len(log.steps) for log in logs.values()):
        st.info("The curves start with the first update.", icon=icons.WAIT)
        return
    found = shipped.lines(logs, *shipped.PANELS)
    begun = {title: lines for title, lines in found.items() if any(len(steps) for steps, _ in lines.values())}
    changes = [  # of a run's highest learning rate
        (float(at), f"{n + 1}: rate {rate:g}" if len(logs) > 1 else f"rate {rate:g}")
        for n, log in enumerate(logs.values())
        for at, rate in zip(log.changed, log.highest, strict=True)
    ]
    levels = [shipped.chance(VOCABULARY)]
    show(
        "run_curves",
        panels.log_panels(begun, theme=theme(), levels=levels, heights=(150, 110, 80), marked=changes),
        hint="; ".join(f"after {at:,.0f} updates {word}" for at, word in changes),
    )


def _inside(path: Path, choices: Choices, left: DeltaGenerator, right: DeltaGenerator) -> None:
    steps = zoo.snapshots.steps(path)
    if not steps:
        return
    with left:  # the newest until a reader chooses another
        options = [*(f"{step:,}" for step in steps), NEWEST]
        chosen = lesson.control_row("snapshots").select_slider(
            "Snapshot", options, NEWEST, key="updates", bind="query-params"
        )
    step = steps[-1] if chosen == NEWEST else int(chosen.replace(",", ""))
    try:
        trace = inside.probe(path, step, choices)
        kind, layers = next(iter(inside.kinds(trace).items()))
        scores = layer_scores(trace)
        found = [verdict for layer in layers for verdict in verdicts(scores[layer])]
        sentence = "; ".join(
            f"head {name} {IN_WORDS[verdict.kind]} ({verdict.score:.2f})"
            for name, verdict in zip(inside.heads_of(trace, layers), found, strict=True)
        )
        with left:
            show("run_heads", inside.picture(trace, layers))
            st.markdown(f"{kind.capitalize()} after **{step:,} updates**: {sentence}.")
            _answers(path, steps, choices)
        with right:
            # A language model's copying over the updates, or an answer's attention.
            if choices.is_language_model:
                copied = [inside.copying(path, one) for one in steps]
                show("run_scores", inside.chart(steps, copied, vocab_size=VOCABULARY, now=step))
                st.caption(inside.ABOUT)
            else:
                aligned = inside.alignment_over(path, steps, choices, layers)
                drawn = {"alignment: a key of its own per letter": aligned}
                updates = np.array(steps, dtype=float)
                show("run_scores", panels.head_panels(updates, drawn, now=step, theme=theme()))
    except ModelUnavailable:
        st.info("This run's weights are being deleted.", icon=icons.INFO)


def _answers(folder: Path, steps: tuple[int, ...], choices: Choices) -> None:
    chosen = sorted({steps[i] for i in np.linspace(0, len(steps) - 1, 6).round().astype(int)})
    heads = inside.PROMPTS if choices.is_language_model else inside.requested(choices.task)
    table = {"updates": [f"{step:,}" for step in chosen]}
    rows = [inside.answers(folder, step, choices) for step in chosen]
    for n, head in enumerate(heads):
        table[markdown.plain(head)] = [markdown.plain(row[n]) for row in rows]
    st.table(table)
    if not choices.is_language_model:
        right = ", ".join(f"{head} → {ANSWERS[choices.task](head)}" for head in heads)
        st.markdown(f"No run is trained on these questions. The right answers are {markdown.plain(right)}.")
