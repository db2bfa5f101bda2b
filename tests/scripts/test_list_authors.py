"""Documents that are made: whom texts are by, what a translator has met, the API and the glossary."""

import pydoc
import re
from importlib import import_module
from pathlib import Path

import pytest

import tfmviz
from scripts import draw_api, list_words
from scripts.list_authors import ASSETS, FILE, STORIES, listed, made_from
from tests.browser import ROOT
from tfmviz import load
from tfmviz.text.familiar import SingleWords


def test_every_story_has_its_title_its_author_and_who_translated_it(tmp_path: Path) -> None:
    folder = tmp_path / "english" / "storybooks"
    folder.mkdir(parents=True)
    rows = [
        "lang\tfile\tlicence\ttext_by\tillustration\ttranslation\twords",
        "en\tasp_2_b.md\tCC-BY\tAda One\tPia Paint\t\t7",
        "en\tasp_1_a.md\tCC-BY\tBo Two\tPia Paint\tCy Three\t7",
        'en\tpb_1_c.md\tPublic Domain\tDi "Four"\t\t\t7',
        "fr\tasp_1_a.md\tCC-BY\tEn Five\t\t\t7",
    ]
    (folder / "ATTRIBUTION.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for name, title in (("asp_2_b", "The <b> Hen"), ("asp_1_a", "Who is it?"), ("pb_1_c", "A goat")):
        (folder / f"{name}.md").write_text(f"# {title}\n\n##\nOnce.\n", encoding="utf-8")
    (tmp_path / "cmn-eng").mkdir()
    pair = "Hi.\t嗨。\tCC-BY 2.0 (France) Attribution: tatoeba.org #1 (Zed) & #2 (amy_1)"
    (tmp_path / "cmn-eng" / "cmn.txt").write_text(pair + "\n" + pair + "\n", encoding="utf-8")
    said = listed(tmp_path)
    assert [line for line in said.splitlines() if line.startswith("- ")] == [
        "- Who is it? Text: Bo Two. Translation: Cy Three.",
        "- The <b> Hen. Text: Ada One.",
        '- A goat. Text: Di "Four". Public Domain.',
    ]
    assert "Pia" not in said  # no picture is used
    assert said.endswith("The 2 members who wrote the Chinese sentences or their translations: amy_1, Zed.\n")


def test_the_shipped_list_names_every_story_and_all_that_was_made_from_them() -> None:
    said = FILE.read_text(encoding="utf-8")
    assert f"assets/{FILE.name}" in (ROOT / "NOTICE").read_text(encoding="utf-8")
    for name, _ in STORIES.values():
        (count,) = re.findall(rf"^{name} \(.*, (\d+) stories$", said, re.MULTILINE)
        part = said[said.index(f"\n{name} (") :].split("\n\n")[1]
        lines = part.strip().splitlines()
        assert len(lines) == int(count) > 300
        assert [line for line in lines if not re.fullmatch(r"- .+[.!?] Text: .+\.", line)] == []
    assert [f"In: {made_from(name)}." in said for name in ("African Storybook", "StoryWeaver", "Tatoeba")] == [True] * 3
    named = {name for line in re.findall(r"^In: (.*)\.$", said, re.MULTILINE) for name in line.split(", ")}
    said_of = {path: path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.md")}
    sources = {
        path: re.sub(r"weights may be used under the\s+terms of CC BY 4.0", "", text) for path, text in said_of.items()
    }
    under = {str(path.parent.relative_to(ROOT)) for path, text in sources.items() if "CC BY" in text}
    assert len(under) > 20
    assert under - named == {"assets/digits"}  # of one source, which NOTICE names with its authors


PAIRS = [
    ("Bonjour !", "Hello!"),
    ("Bonjour !", "Good morning."),
    ("Merci.", "Thank you."),
    ("Cours !", "Run!"),
    ("Le chat dort.", "The cat sleeps."),
]

WRITTEN = {"Bonjour !": "good morning", "bonjour": "to be alone", "Merci.": "Thank you.", "merci": "Thank you"}
WRITTEN |= {"Cours !": "Running!", "cours": "class"}


def test_single_words_are_right_if_a_reference_has_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_words, "greedy", lambda _, sources: {source: WRITTEN[source] for source in sources})
    assert list_words.single_words(load("french-english"), PAIRS) == SingleWords(n=3, as_they_are=2, typed=1)


def test_the_pages_and_help_say_what_there_is() -> None:
    assert draw_api.GLOSSARY.read_text(encoding="utf-8") == draw_api.glossary(), "run `python -m scripts.draw_api`"
    assert draw_api.DOCUMENT.read_text(encoding="utf-8") == draw_api.document(), "run `python -m scripts.draw_api`"
    said = pydoc.plain(pydoc.render_doc(tfmviz))
    assert all(name in said for name in tfmviz.__all__)
    named = re.findall(r"^ +(tfmviz(?:\.\w+)+)  ", tfmviz.__doc__ or "", re.MULTILINE)
    assert len(named) == 4
    for name in named:
        module, _, part = name.rpartition(".")
        assert hasattr(import_module(module), part) or import_module(name), name
