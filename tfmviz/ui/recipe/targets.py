from __future__ import annotations

import math
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import smoothing
from tfmviz.analysis.calibration import Reliability
from tfmviz.paths import PROJECT
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart, named_lines, over
from tfmviz.ui import controls, inputs, lesson, recipe
from tfmviz.ui.cache import read_json
from tfmviz.ui.figures import result, show, show_code, show_pairs, show_table, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent, rounded

MEASURED = PROJECT / "assets" / "recipe" / "calibration.json"

TRANSLATORS = MEASURED.with_name("translators.json")

MEASURES = {"perplexity": ".2f", "bleu": ".1f"}

WITHOUT, WITH = "smoothing-0", "smoothing-0.1"

MOST_ENTRIES = 9


def smoothed(ctx: PageContext) -> None:
    with lesson.control_row("smoothing"):
        if (found := recipe.forced(ctx)) is None:
            return
        at = recipe.place(found)
        names = [f"{visible(a)} → {visible(b)}" for a, b in zip(found.reads, found.targets, strict=True)]
        controls.token_box(names, at, label="Position")
        epsilon = inputs.slider("ε", 0.0, 0.9, 0.1, 0.05, key="epsilon")
    log_p, target = found.log_p[at], found.ids[at]
    q = smoothing.smoothed(target, epsilon=epsilon, vocab_size=len(log_p))
    slope = smoothing.gradient(q, log_p)
    shown = list(dict.fromkeys([target, *np.argsort(-log_p, kind="stable")[:MOST_ENTRIES].tolist()]))[:MOST_ENTRIES]
    tokens = [visible(found.model.vocabulary[n]) for n in shown]
    p = np.exp(log_p[shown])
    series, of = ("target q", "prediction p"), "vocabulary entry"
    names = [f"“{token}”" for token in tokens]
    on_left, on_right = st.columns(2)
    with on_left:
        show_pairs("smoothed", tokens, q[shown], p, series=series, title="probability", token_title=of, names=names)
    with on_right:
        n = len(log_p)
        confidence = np.linspace(0.01, 0.9999, 400)
        rest = np.log((1 - confidence) / (n - 1))
        curves = {}
        for share in dict.fromkeys((0.0, epsilon)):
            right = 1 - share + share / n
            entropy = sum(part * math.log(part / count) for part, count in ((right, 1), (1 - right, n - 1)) if part > 0)
            curves[f"ε = {share:g}"] = entropy - right * np.log(confidence) - (1 - right) * rest
        show(
            "by_confidence",
            over(
                confidence,
                curves,
                Axes("confidence: p of the target", "KL(q ‖ p)"),
                mark=(float(p[0]), "this model"),
                theme=theme(),
            ),
            title="Loss against confidence, the rest spread evenly",
        )
    result(_words(epsilon, len(log_p), smoothing.divergence(q, log_p), float(found.losses[at]), tokens[0]))
    show_table(
        "slopes",
        caption="∂KL/∂z = p − q for each logit z.",
        columns=("entry", "q", "p", "p − q"),
        rows=[
            (token, rounded(float(q[n])), rounded(float(np.exp(log_p[n]))), decimal(float(slope[n]), "+.4f"))
            for token, n in zip(tokens, shown, strict=True)
        ],
    )
    show_code(smoothing.smoothed, smoothing.divergence, smoothing.gradient)


def _words(epsilon: float, n: int, kl: float, loss: float, target: str) -> str:
    if epsilon == 0:
        return (
            f"Without smoothing the target puts everything on “{markdown.plain(target)}”: KL(q ‖ p) = −ln p = "
            f"**{decimal(kl, '.3f')}**, the ordinary loss. It is 0 only for infinite logits."
        )
    best = 1 - epsilon + epsilon / n
    return (
        f"The target gives 1 − ε + ε/{n:,} = {decimal(best, '.4f')} to “{markdown.plain(target)}” and ε/{n:,} = "
        f"{rounded(epsilon / n)} to every other entry. KL(q ‖ p) = Σ q (ln q − ln p) = **{decimal(kl, '.3f')}** "
        f"({decimal(loss, '.3f')} without smoothing). It is 0 when p = q, so a model more confident than "
        f"{per_cent(best)} is pulled back."
    )


def calibration() -> None:
    """Two models that differ in ε alone: are they right as often as their probabilities claim?"""
    lesson.hide("text", "model")
    data = read_json(MEASURED)
    temperatures: list[float] = data["temperatures"]
    losses = data["models"][WITHOUT]["loss_to_choose_by"]
    best = temperatures[int(np.argmin(losses))]
    with lesson.control_row("calibration"):
        at = inputs.select_slider("Temperature for ε = 0", temperatures, best, key="scaled_by")
    rows = {
        "ε = 0": _at(data, WITHOUT, 1.0),
        "ε = 0.1": _at(data, WITH, 1.0),
        f"ε = 0, temperature {at:g}": _at(data, WITHOUT, at),
    }
    guesses = {name: _guesses(row) for name, row in rows.items()}
    left, right = st.columns(2)
    with left:
        ends, look = np.array([0.0, 1.0]), Stroke(theme().text, DASHES[2], 1.5)
        lines = [Line("perfect calibration", ends, ends, look, lambda x, _: f"{x:.0%}")]
        points = {name: (g.confidence[g.count > 0], g.accuracy[g.count > 0]) for name, g in guesses.items()}
        lines += named_lines(points, "{}: confidence {:.0%}, accuracy {:.0%}".format, theme=theme(), dot=90)
        axes = Axes("confidence: probability of the guess", "accuracy: share of correct guesses", 400)
        words = [line.name for line in lines]
        show("reliability", line_chart(lines, axes, theme=theme(), y_range=(0.0, 1.0), words=words))
    with right:
        show_table(
            "calibrated",
            caption=f"On {int(guesses['ε = 0'].count.sum()):,} held-out tokens",
            columns=("model", "loss, nats", "accuracy", "mean confidence", "expected calibration error"),
            rows=[
                (
                    name,
                    decimal(rows[name]["loss"], ".3f"),
                    _share(g.accuracy, g),
                    _share(g.confidence, g),
                    per_cent(g.error),
                )
                for name, g in guesses.items()
            ],
        )
        data = read_json(TRANSLATORS)
        found: dict[str, dict[str, float]] = data["models"]
        seeds = sorted({name.rsplit("-", 1)[1] for name in found})
        pairs = [(found[f"translator-0-{seed}"], found[f"translator-0.1-{seed}"]) for seed in seeds]
        worse = sum(smooth["perplexity"] > plain["perplexity"] for plain, smooth in pairs)
        better = sum(smooth["bleu"] > plain["bleu"] for plain, smooth in pairs)
        means = "; ".join(
            f"{'BLEU' if key == 'bleu' else key} {decimal(float(np.mean([plain[key] for plain, _ in pairs])), digits)} "
            f"without smoothing and {decimal(float(np.mean([smooth[key] for _, smooth in pairs])), digits)} with it"
            for key, digits in MEASURES.items()
        )
        st.markdown(
            f"**Translators.** On {data['pairs']:,} held-out pairs smoothing raises perplexity in **{worse} of "
            f"{len(pairs)}** small translators, and BLEU in **{better} of {len(pairs)}** (means: {means}). "
            "Vaswani et al. 2017 report a higher perplexity and a higher BLEU"
            + (", for models trained far longer." if 2 * better <= len(pairs) else " too.")
        )
    st.markdown(
        "Below the diagonal a model is overconfident; the **expected calibration error** is the mean distance from it. "
        f"Dividing the logits by a temperature also helps; **{best:g}** is best here (Guo et al. 2017)."
    )
    st.caption("Two models after 43 epochs on one short text (`scripts.train_recipe smoothing`).")


def _share(means: np.ndarray, guesses: Reliability) -> str:
    return per_cent(float(np.nansum(means * guesses.count) / guesses.count.sum()))


def _at(data: dict[str, Any], model: str, temperature: float) -> dict[str, Any]:
    row: dict[str, Any] = data["models"][model]["measured"][data["temperatures"].index(temperature)]
    return row


def _guesses(row: dict[str, Any]) -> Reliability:
    means = {name: np.array([math.nan if v is None else v for v in row[name]]) for name in ("confidence", "accuracy")}
    return Reliability(count=np.array(row["count"]), **means)
