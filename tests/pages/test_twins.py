"""The twins that pages compare on the reader's text: what they have not learned is said where they are judged by it."""

from __future__ import annotations

from tests.app import open_page, words


def test_twins_that_learned_english_do_not_judge_another_language_without_saying_so() -> None:
    places = {
        "why": {"why": "The first token"},
        "feed_forward": {"layer_part": "Without it"},
        "efficient": {"method": "Trained with it"},
        "positions_compare": {"experiment": "Longer texts"},
    }
    wrong = []
    for name, at in places.items():
        for text, model, other in (
            ("The cat sat on the mat.", "tiny-english", False),
            ("J'ai une voiture rouge.", "french-english", True),
            ("猫在河边睡觉。", "tiny-english", True),
        ):
            said = words(open_page(name, text=text, model=model, **at))
            if "urprise" not in said or ("learned English alone" in said) is not other:
                wrong.append((name, text))
    assert wrong == []
