"""The scripts that filter corpora and make words, names and Chinese sentences."""

import json
import lzma
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import prepare_chinese, prepare_counting, prepare_english, prepare_pairs, prepare_words
from scripts.prepare_words import WORDS as LISTS
from scripts.prepare_words import asked, forms, in_frames, learned, made_up, names_in
from scripts.translating import FIRST, endless
from tests.text.texts import WORDS, documents, paragraph
from tfmviz.counting.shipped import NAMES
from tfmviz.text.corpora import PASSAGE, is_held_out
from tfmviz.text.pairs import bare, read_pairs
from tfmviz.text.variants import without_accents

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


def test_rude_lines_repetitions_passages_and_most_of_tom_are_dropped(prepared: dict[str, list[str]]) -> None:
    assert prepared["common_voice"] == ["It rains.", "Go to 3.", "Kiss the class."]
    assert prepared["storybooks"] == [f"Once upon {WORDS[index]}.\nThe end." for index in range(3)]
    assert prepared["tinystories"] == ["A story.\n\nIts end.", "Another."]
    assert [passage[:10] for passage in prepared["books"]] == ["Chapter a.", "Chapter c.", "Chapter e."]
    named = [sentence for sentence in TATOEBA if re.match("Tom|Mary", sentence)]
    others = [sentence for sentence in TATOEBA if sentence.startswith("Ann")]
    assert [s for s in prepared["tatoeba"] if s in named] == named[9::10]
    assert [s for s in prepared["tatoeba"] if s not in named] == others


def test_the_pairs_are_french_first_and_without_rude_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    out = tmp_path / "out" / "pairs.tsv"
    monkeypatch.setattr(sys, "argv", ["prepare_pairs", str(tmp_path / "fra.txt"), str(out)])
    prepare_pairs.main()
    assert out.read_text(encoding="utf-8").splitlines() == [
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


ANIMALS = [("le chat", "the cat"), ("le chien", "the dog"), ("un chat", "a cat"), ("un chien", "a dog")] * 4


def test_words_that_always_stand_together_are_learned() -> None:
    assert dict(learned(ANIMALS)) == {"le": "the", "un": "a", "chat": "cat", "chien": "dog"}
    assert learned(ANIMALS[:4]) == []  # too seldom
    assert ("france", "France") not in learned([("j'aime la France", "I love France")] * 4)


def test_a_form_says_the_same_with_the_same_mark_and_first_letter() -> None:
    rng = np.random.default_rng(0)
    drawn = set(forms(("été", "summer"), 400, rng))
    assert {"été", "Été.", "ete", "Été !", "été?"} <= {source for source, _ in drawn}
    for source, target in drawn:
        assert bare(without_accents(source)) == "ete"
        assert bare(target) == "summer"
        assert source[0].isupper() == target[0].isupper()
        assert re.sub(r"[\w\s]", "", source) == re.sub(r"[\w\s]", "", target)
    assert all(target.startswith("Monday") for _, target in forms(("lundi", "Monday"), 40, rng))
    assert all(source.startswith("Rose") for source, _ in forms(("Rose", "Rose"), 40, rng, small=False))
    assert {source[0] for source, _ in forms(("pierre", "stone"), 40, rng, large=False)} == {"p"}


def test_frames_name_the_same_on_both_sides_and_names_stand_with_a_capital() -> None:
    for source, target in read_pairs(LISTS / "frames.tsv"):
        assert set(re.findall(r"\{.\}", source)) == set(re.findall(r"\{.\}", target)) != set()
    for source, target in in_frames(["Zoé", "Xy"], 30, np.random.default_rng(1)):
        said = without_accents(source).casefold()
        assert any(name in said and name in without_accents(target).casefold() for name in ("zoe", "xy"))
    assert names_in(["I saw Ana and Will there.", "Will you come? You will see Ana."]) == ["Ana"]
    found = made_up(["Anna", "Arianna", "Marie", "Daria"], n=9, rng=np.random.default_rng(0))
    assert 0 < len(set(found)) == len(found) <= 9
    assert not {"Anna", "Arianna", "Marie", "Daria"} & set(found)


def test_names_that_are_measured_are_left_out_of_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, english, out = tmp_path / "pairs.tsv", tmp_path / "english.txt", tmp_path / "words.tsv"
    rows = [*ANIMALS, *((f"mot {n}", f"word {n}") for n in range(400))]
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    english.write_text("I know Xanthippe and " + " and ".join(sorted(asked())), encoding="utf-8")
    monkeypatch.setattr(prepare_words, "MADE_UP", 5)
    monkeypatch.setattr(sys, "argv", ["prepare_words", str(pairs), str(english), str(out)])
    prepare_words.main()
    targets = {bare(target) for _, target in read_pairs(out)}
    assert {"xanthippe", "hello"} <= targets
    assert len(asked()) == 300
    own = {bare(target) for _, target in read_pairs(LISTS / "lexicon.tsv")}
    assert not targets & ({bare(name) for name in asked()} - own)


def test_the_first_of_the_lexicon_are_common_and_what_goes_round_is_found() -> None:
    first = [source for source, _ in list(read_pairs(LISTS / "lexicon.tsv"))[:FIRST]]
    assert {"oui", "bonjour", "dix-sept", "violet", "dimanche", "décembre"} <= set(first)
    fine = {"oui": "yes", "bon": "good good"}
    assert endless({"Tom": "TomTomTomTom", "Paris": "sisisis", "mot": "the the the"} | fine) == 3


def test_chinese_sentences_are_about_two_people_and_the_second_bears_it() -> None:
    name = f"[{''.join(prepare_chinese.BEFORE_NAMES)}][{''.join(prepare_chinese.SURNAMES)}]"
    for sentence in prepare_chinese.generated(200, seed=1):
        found = re.fullmatch(rf"({name})( ?)(\w+?)\2({name})(?:，({name})\2(\w+))?。?", sentence)
        assert found, sentence
        one, _, verb, other, again, then = found.groups()
        assert one != other
        assert verb in prepare_chinese.VERBS
        assert again in {None, other}
        assert then in {None, prepare_chinese.VERBS[verb]}


def test_a_collection_that_names_the_two_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = tmp_path / "cmn.txt"
    monkeypatch.setattr(sys, "argv", ["prepare_chinese", str(tmp_path), str(tmp_path / "out.txt")])
    pairs.with_suffix(".tsv").write_text("Hi.\t老王，你好。\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        prepare_chinese.main()
