"""The scripts that filter the corpora."""

import json
import lzma
import re
import sys
from pathlib import Path

import pytest

from scripts import prepare_counting, prepare_english, prepare_pairs
from tests.text.texts import WORDS, documents, paragraph
from tfmviz.counting.shipped import NAMES
from tfmviz.text.corpora import PASSAGE, is_held_out

TATOEBA = [f"{name} saw {WORDS[i % 7]} {chr(97 + i)}." for i in range(20) for name in ("Tom", "Mary", "Ann")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The documents of each file that the script writes for a toy set of corpora."""
    corpora, out = tmp_path_factory.mktemp("corpora"), tmp_path_factory.mktemp("out")
    (corpora / "tatoeba.txt").write_text("\n".join(TATOEBA), encoding="utf-8")
    voice = ["It rains.", "it rains!", "It rains.", "Go to 3.", "Go to 12.", "That is shit.", "Kiss the class."]
    (corpora / "common_voice.txt").write_text("\n".join([*voice, "…", "7"]), encoding="utf-8")
    (corpora / "storybooks").mkdir()
    for index in range(3):
        text = f"# Title\n\nOnce upon {WORDS[index]}.\n\nThe end.\n\n* License: CC-BY\n"
        (corpora / "storybooks" / f"{index}.md").write_text(text, encoding="utf-8")
    (corpora / "tinystories.txt").write_text("A story.\n\nIts end.\n<|endoftext|>\nAnother.\n", encoding="utf-8")
    (corpora / "books").mkdir()
    book = "\n\n".join(f"Chapter {chr(97 + i)}. " + paragraph(i, PASSAGE // 4) for i in range(5))
    (corpora / "books" / "book.txt").write_text(book, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["prepare_english.py", str(corpora), str(out)])
        prepare_english.main()
    return {file.stem: documents(file) for file in out.iterdir()}


def test_rude_lines_repetitions_passages_and_most_of_tom_are_dropped(
    prepared: dict[str, list[str]],
) -> None:
    assert prepared["common_voice"] == ["It rains.", "Go to 3.", "Kiss the class."]
    assert prepared["storybooks"] == [f"Once upon {WORDS[index]}.\nThe end." for index in range(3)]
    assert prepared["tinystories"] == ["A story.\n\nIts end.", "Another."]
    assert [passage[:10] for passage in prepared["books"]] == ["Chapter a.", "Chapter c.", "Chapter e."]
    named = [sentence for sentence in TATOEBA if re.match("Tom|Mary", sentence)]
    others = [sentence for sentence in TATOEBA if sentence.startswith("Ann")]
    assert [s for s in prepared["tatoeba"] if s in named] == named[9::10]
    assert [s for s in prepared["tatoeba"] if s not in named] == others


def test_the_pairs_are_prepared_french_first_and_without_rude_lines(tmp_path: Path) -> None:
    lines = [
        "Go.\tVa\u202f!\tattribution",
        "Go!\tva !",
        'He said "no".\tIl a dit «\xa0non\xa0».',
        "It's mine.\tC’est à moi.",
        "Oh shit.\tZut.",
        "Damn.\tMerde.",
        *(f"Tom sees {chr(97 + i)}.\tTom voit {chr(97 + i)}." for i in range(20)),
    ]
    (tmp_path / "fra.txt").write_text("\n".join(lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["prepare_pairs", str(tmp_path / "fra.txt"), str(tmp_path / "out" / "pairs.tsv")])
        prepare_pairs.main()
    assert (tmp_path / "out" / "pairs.tsv").read_text(encoding="utf-8").splitlines() == [
        "Va !\tGo.",
        'Il a dit "non".\tHe said "no".',
        "C'est à moi.\tIt's mine.",
        "Tom voit j.\tTom sees j.",
        "Tom voit t.\tTom sees t.",
    ]


def test_the_text_to_count_in_is_thinned_cut_into_sentences_and_split_by_a_hash(tmp_path: Path) -> None:
    voice = [f"They {word} {other}." for word in WORDS for other in WORDS]
    (tmp_path / "common_voice.txt").write_text("\n".join([*voice, "Oh shit.", "Word"]), encoding="utf-8")
    (tmp_path / "tatoeba.txt").write_text("\n".join(f"We {word}." for word in WORDS), encoding="utf-8")
    (tmp_path / "books").mkdir()
    book = 'Mr. Fox said: "Go!" He went.\n\nThe naked truth. Then he came\nback.'
    (tmp_path / "books" / "book.txt").write_text(book, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["prepare_counting", "--corpora", str(tmp_path), "--out", str(tmp_path / "out")])
        prepare_counting.main()
    parts = [lzma.decompress((tmp_path / "out" / name).read_bytes()).decode().splitlines() for name in NAMES]
    expected = [*voice[::2], *(f"We {word}." for word in WORDS[::7])]
    expected += ['Mr. Fox said: "Go!"', "He went.", "Then he came back."]
    assert sorted(parts[0] + parts[1]) == sorted(dict.fromkeys(expected))
    for held_out, lines in enumerate(parts):
        assert {is_held_out(line, per_mille=prepare_counting.HELD_OUT) for line in lines} <= {bool(held_out)}
    facts = json.loads((tmp_path / "out" / "facts.json").read_text(encoding="utf-8"))
    assert [facts[name]["sentences"] for name in NAMES] == [len(part) for part in parts]
