"""What every page calls a token: no sentence names two of them alike, and one alone is not counted as several."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, open_page, pictures, spaces, views
from tests.pages import tabs
from tfmviz.ui.router import PAGES
from tfmviz.words.labels import quoted

SNOWMEN = "☃ ☃ sees ☃ ☃ and ☃ ☃"
"""No vocabulary has a snowman. Its bytes are the tokens “☃ 1/3” …, and no entry of a vocabulary is called so."""

NAME = re.compile(r"“[^”“]*☃ \d[^”]*”")

ADDRESSES = (
    {"with": "another sentence", "b": "☃ ☃ saw ☃ and ☃ ☃ ☃"},
    {"model": "french-english", "kind": "encoder", "with": "another head", "token": "9", "to": "4"},
)


def said(value: Any) -> Iterator[str]:
    """All texts in what a page sends."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from said(part)


def sentences(app: AppTest) -> Iterator[str]:
    """What a page says in words, in the pointer's texts and to screen readers."""
    yield from (str(e.value) for e in (*app.markdown, *app.info, *app.warning, *app.caption, *app.error))
    yield from said([json.loads(proto.json) for proto in views(app).values() if proto.json])
    yield from said([header for header, _ in pictures(app).values()])
    yield from said([chart["tables"] for chart in charts(app).values()])
    yield from said(spaces(app))


def says_which(text: str, name: re.Match[str]) -> bool:
    """Whether a number before or after a name says which token it is; a row only differs from those beside it."""
    after, before = text[name.end() :], text[: name.start()]
    numbered = re.match(r" \\?\((?:token|word|place) \d+\\?\)| at \d", after)
    return bool(numbered or re.search(r"(?:\d,?|first token|^query) $", before) or re.match(r"“\d+ ", name[0]))


@pytest.mark.parametrize("address", ADDRESSES, ids=["sentences", "heads"])
def test_no_sentence_names_two_tokens_alike(address: dict[str, str]) -> None:
    unclear, found = set(), 0
    for page in (page.name for page in PAGES if page.name):
        for tab in tabs.addresses(page):
            for text in sentences(open_page(page, text=SNOWMEN, **(tab | address))):
                for name in NAME.finditer(text):
                    found += 1
                    if not says_which(text, name):
                        unclear.add((page, text[max(name.start() - 60, 0) : name.end() + 20]))
    assert not sorted(unclear)
    assert found > 100, "the test has found what it asks about"


OF_IDS: tuple[dict[str, str], ...] = (
    *({"page": "writing", "behind": tab} for tab in ("What went into this word", "The cache")),
    {"page": "recipe", "recipe": "Three tasks"},
)
"""Tabs that know the reader's text by its indices alone."""


def test_pieces_of_a_character_say_which_where_only_the_indices_of_the_text_are_known() -> None:
    for tab in OF_IDS:
        texts = list(sentences(open_page(**tab, text="He saw a ☃ there")))
        assert [text for text in texts if "[byte" in text] == [], tab
        assert any("☃ 1/3" in text for text in texts), tab


def test_a_name_says_which_token_only_where_two_look_alike() -> None:
    assert quoted((" the", " bird", "the")) == ["“the” (token 0)", "“bird”", "“the” (token 2)"]
    long = ["an-endless-word-that-is-cut" + end for end in ("a-long-end", "another-long-end")]
    assert len(set(quoted(long))) == 2
    assert quoted(("a", "b", "a"), of="word", first=1) == ["“a” (word 1)", "“b”", "“a” (word 3)"]


SEVERAL = re.compile(r"(?<![\w.,·−–/#] )(?<![\w.,·−–/#])1 (?:tokens|words|layers|keys|pairs|heads|parts|dots)\b")


def test_one_thing_is_not_counted_as_several() -> None:
    wrong = set()
    for page in (page.name for page in PAGES if page.name):
        for tab in tabs.addresses(page):
            for text in sentences(open_page(page, text="a b", **tab)):
                wrong |= {(page, *tab.values(), found[0]) for found in SEVERAL.finditer(text)}
    assert not sorted(wrong)
