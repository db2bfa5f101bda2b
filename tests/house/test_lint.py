"""The sources break no rule of the house, and a source that breaks one is found."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripts import draw_rooms, lint
from scripts.draw_rooms import Room
from scripts.lint import Source, Sources


def test_the_sources_break_no_rule_of_the_house() -> None:
    every = lint.sources()
    assert not (found := lint.findings(every)), "\n".join(found)
    assert len(every) > 1_000
    assert [rule.__name__ for rule, names in lint.OF_ONE.items() if not every.like(*names[:1])] == []
    pages = every.like("pages/*.py", "tfmviz/ui/*.py")
    assert sum(is_choice for one in pages for call in one.calls for _, is_choice in lint.keys(call)) > 150


UI = "tfmviz/ui/explorer/x.py"

LESSON = '"""A lesson."""\nfrom tfmviz.ui import lesson\nfrom tfmviz.ui.explorer import x\nlesson.page("A", "", x)'

BROKEN = {
    (lint.imports_only_what_its_room_may, "tfmviz/analysis/x.py"): {
        "import json\nfrom tfmviz import record\n\ndef f():\n    import torch.nn\nfrom tfmviz.ui.models import load": [
            5,
            6,
        ],
        "from .x import y\nimport numpy": [1],
    },
    (lint.imports_only_what_its_room_may, "tfmviz/nowhere/x.py"): {"": [1]},
    (lint.knows_no_other_page, UI): {"from tfmviz.ui import lesson, masks\nfrom tfmviz.ui.explorer import y": [1]},
    (lint.knows_no_other_page, "tfmviz/ui/x.py"): {"from tfmviz.ui.explorer import y": [1]},
    (lint.imports_a_package_before_its_parts, UI): {
        "from a.b import c": [1],
        "import a\nfrom a.b import c": [],
        "from a import b\nfrom a.b import c": [],
        "if TYPE_CHECKING:\n    import a\ndef f():\n    from a.b import c": [4],
        "def f():\n    import a.b\nimport a": [],
        "try:\n    pass\nexcept E:\n    import a.b": [4],
        "import json.decoder": [],
    },
    (lint.does_not_reach_past_the_model, UI): {
        "from tfmviz.model.attention import Attention": [1],
        "from tfmviz.model.config import ModelConfig": [],
        "from tfmviz.positions.t5 import N_BUCKETS, buckets": [],
        "weights = model.module.embedding": [1],
        "import torch\ntorch.nn.Linear(2, 3)": [2],
        "model.weights.W_E": [],
    },
    (lint.is_one_lesson, "pages/x.py"): {
        LESSON: [],
        LESSON.replace('"""A lesson."""', "n = 1"): [1],
        LESSON.replace("lesson.page", "x.page"): [1],
        LESSON.replace("\nlesson", "\nclass C: pass\nlesson"): [4],
        LESSON.replace("\nlesson", "\nimport numpy\nlesson"): [4],
        LESSON.replace("import x", "import x\nfrom tfmviz.ui.masks import y"): [1],
    },
    (lint.does_no_arithmetic, "pages/x.py"): {"x = 'a' + b\ny = a + b": [2], "x = '%s' % a": []},
    (lint.says_in_words_what_figures_show, UI): {
        "show('a', f)": [],
        "st.altair_chart(f)": [1],
        "st.line_chart(f)": [1],
    },
    (lint.asks_for_numbers_in_one_place, UI): {"st.number_input(1)\nst.number_input(1, bind=2)": [2]},
    (lint.leaves_the_address_to_one_module, UI): {"url.text('a')\nst.query_params.get('a')": [2]},
    (lint.writes_per_cent_without_a_space, UI): {
        "'33 % of'": [1],
        "f'{x} %'": [1],
        "'33% of'": [],
        "f'{x}%'": [],
        "7 % n": [],
    },
    (lint.writes_per_cent_without_a_space, "tfmviz/views/x.tsx"): {"\n`${n} %`": [2], "`${n}%`": []},
    (lint.holds_no_marks_of_a_merge, "README.md"): {"a\n" + "<" * 7 + " HEAD": [2]},
    (lint.reads_as_a_textbook, "README.md"): {"next to it\nbeside it": [2], "`ui/compare_menu.py`, `beside.other`": []},
    (lint.teaches_as_a_textbook, UI): {'"Identically trained."': [], '"words and signs"': [1]},
    (lint.never_turns_text_into_markup, "tfmviz/views/x.tsx"): {
        "a.textContent = b": [],
        "a.innerHTML = b": [1],
        "fetch('http://a')": [1],
        "'http://www.w3.org/2000/svg'": [],
    },
    (lint.does_not_ask_the_whole_page_what_it_holds, "tfmviz/ui/x.css"): {"a { }\nbody:has(b) { }": [2]},
    (lint.waits_for_what_it_asks, "tests/browser/x.py"): {
        "assert not a.get_by_text('b').count()": [1],
        "n = a.count()\nexpect(page).to_have_url('b')\nassert n == 'a'.count('b')": [],
        "assert 'b' in page.url": [1],
    },
}
"""By rule and file: texts, and the lines in which they break it."""


def test_what_breaks_a_rule_of_single_sources_is_found() -> None:
    assert {rule for rule, _ in BROKEN} == lint.OF_ONE.keys()
    for (rule, name), texts in BROKEN.items():
        for text, lines in texts.items():
            found = sorted(int(said.split(":")[1]) for said in rule(Source(name, text)))
            assert found == lines, (rule.__name__, text)


BOX, PAGE = "st.slider(key='a')", "from tfmviz.ui.explorer import x"
PAGES = "| A (`/a`) |\n"


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (lint.each_folder_is_that_of_one_page, {}, {"pages/b.py": PAGE}),
        (lint.the_docs_list_every_page_once, {}, {"docs/pages.md": PAGES * 2}),
        (lint.the_docs_list_every_page_once, {}, {"pages/b.py": ""}),
        (lint.every_choice_has_a_key_of_its_own, {"tfmviz/ui/explorer/y.py": BOX}, {"tfmviz/ui/y.py": "show(key='a')"}),
        (lint.every_choice_has_a_key_of_its_own, {UI: "show(key='step')"}, {UI: "st.slider(key='step')"}),
        (lint.every_key_that_is_styled_is_given, {UI: "f(key=f'ab-{c}')"}, {UI: "f(key=f'{c}-ab')"}),
    ],
)
def test_what_breaks_a_rule_of_all_sources_is_found(
    rule: Callable[[Sources], Iterator[str]], right: dict[str, str], wrong: dict[str, str]
) -> None:
    texts = {
        "pages/a.py": PAGE,
        "tfmviz/ui/explorer/__init__.py": "",
        "docs/pages.md": PAGES,
        "tfmviz/x.css": ".st-key-ab-1",
    }
    for changes, found in ((right, 0), (wrong, 1)):
        every = {UI: f"{BOX}\nf(key='ab')", **texts, **right, **changes}
        assert len([*rule(Sources({name: Source(name, text) for name, text in every.items()}))]) == found


def test_rooms_import_only_those_above_and_the_picture_has_no_arrow_too_many(tmp_path: Path) -> None:
    circle = tmp_path / "rooms.toml"
    circle.write_text('[a]\nwhat=""\nrooms=["b"]\npackages=[]\n[b]\nwhat=""\nrooms=["a"]\npackages=[]\n')
    with pytest.raises(ValueError, match="a imports b, which does not stand above it"):
        draw_rooms.read(circle)
    rooms = {name: Room(name, "", below, ()) for name, below in {"a": (), "b": ("a",), "c": ("a", "b")}.items()}
    assert draw_rooms.picture(rooms).splitlines()[2:-1] == ["    b --> a", "    c --> b"]
