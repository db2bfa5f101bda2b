"""The colours: each stands once, and what they must do for the eye."""

import json
import re
import tomllib
from dataclasses import fields
from itertools import pairwise

import pytest

from scripts.lint import ROOT, sources
from tests.node import call
from tfmviz.plots.theme import DARK, LIGHT, Theme, ink_on, luminance, shades, streamlit

THEMES = {"light": LIGHT, "dark": DARK}
TABLE = json.loads((ROOT / "tfmviz" / "colours.json").read_text(encoding="utf-8"))
HEX = re.compile(r"(?<![\w.&])#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?!\()", re.IGNORECASE)

GROUNDS = {"ground", "soft", "grid", "border", "masked", "hatch"}
"""What marks stand on, and lines that carry nothing."""

HATCHED = 1 / 4
"""Of a masked cell, at most, the lines across it cover so much."""


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def marks(theme: Theme) -> dict[str, str]:
    """Every colour of a mark by its name; of scales both ends that are not the ground, of ordered series all."""
    plain = {field.name: getattr(theme, field.name) for field in fields(theme)}
    found = {name: colour for name, colour in plain.items() if isinstance(colour, str) and name not in GROUNDS}
    scales = {"below": theme.signed[0], "above": theme.signed[2], "much": theme.norms[2]}
    ordered = {f"{n} of {most}": colour for most in (1, 2, 4, 9) for n, colour in enumerate(shades(most, theme))}
    return found | scales | ordered


def test_no_colour_stands_anywhere_but_in_the_table() -> None:
    files = list(sources().like("app.py", "pages/*.py", "tfmviz/*.py", "tfmviz/*.ts", "tfmviz/*.tsx"))
    files += [one for one in sources().like("tfmviz/*.css") if "dist" not in one.path.parts]
    assert len(files) > 300
    found = {one.name: HEX.findall(one.text) for one in files}
    assert not {name: colours for name, colours in found.items() if colours}


def test_streamlit_and_the_scripts_have_the_colours_of_the_table() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    for mode, theme in THEMES.items():
        ground, soft, text, accent = streamlit(theme).values()
        assert [config[mode][f"{name}Color"] for name in ("background", "secondaryBackground", "text", "primary")] == [
            *(ground, soft, text, accent)
        ], mode
    ends = call("shared/colours.ts", "[module.RAMP[0], module.RAMP[255]]", None)
    assert ["#" + "".join(f"{channel:02x}" for channel in end) for end in ends] == TABLE["cividis"][
        :: len(TABLE["cividis"]) - 1
    ]


def test_marks_stand_out_from_their_ground() -> None:
    faint = {
        (mode, name): round(contrast(colour, theme.ground), 2)
        for mode, theme in THEMES.items()
        for name, colour in marks(theme).items()
        if contrast(colour, theme.ground) < 3
    }
    assert not faint


def test_a_colour_means_one_thing() -> None:
    for theme in THEMES.values():
        scalars = [
            getattr(theme, field.name) for field in fields(theme) if field.name not in ("letters", "norms", "signed")
        ]
        assert len({*scalars, theme.signed[0], theme.signed[2]}) == len(scalars) + 2
    assert contrast(LIGHT.text, LIGHT.plain) > 2, "A and B"
    assert contrast(DARK.text, DARK.plain) > 2, "A and B"


def test_masked_is_neutral_apart_from_0_and_never_brighter_than_0_in_the_dark() -> None:
    for theme in THEMES.values():
        assert contrast(theme.masked, theme.signed[1]) >= 1.3
        assert contrast(theme.masked, theme.hatch) >= 1.3
        for colour in (theme.masked, theme.hatch):
            assert max(channels := bytes.fromhex(colour[1:])) - min(channels) <= 20
    hatched = (1 - HATCHED) * luminance(DARK.masked) + HATCHED * luminance(DARK.hatch)
    assert max(hatched, luminance(DARK.masked)) <= luminance(TABLE["cividis"][0])


def test_series_run_one_way_and_letters_can_be_read_on_any_colour() -> None:
    for theme in THEMES.values():
        assert [len(shades(n, theme)) for n in (1, 2, 9)] == [1, 2, 9]
        brightness = [luminance(colour) for colour in shades(9, theme)]
        assert all(now != pytest.approx(then, rel=0.05) for now, then in pairwise(brightness))
        assert brightness in (sorted(brightness), sorted(brightness, reverse=True))
    inks = {"black": "#000000", "white": "#ffffff"}
    cells = [f"#{n:02x}{n:02x}{n:02x}" for n in range(256)] + TABLE["cividis"] + TABLE["viridis"]
    assert not {cell for cell in cells if contrast(inks[ink_on(cell)], cell) < 4.5}
