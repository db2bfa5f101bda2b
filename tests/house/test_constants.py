"""A second copy of what stands in `tfmviz/constants.json` is found, and a coincidence is none."""

import ast

from scripts import lint
from scripts.lint_constants import copies, literals_of_python, literals_of_script, named, parsed, python, scripts


def test_the_constants_of_both_languages_are_found() -> None:
    every = lint.sources()
    assert min(len(named(python(every))), len(named(scripts(every)))) > 150


def test_a_second_copy_is_found_and_a_coincidence_is_none() -> None:
    written = {
        ".py": {
            'INKS = "0123456789abcdefg"': 2,
            'f"x{y}: 0123456789abcdefg"': 1,
            '"""0123456789abcdefg"""': 0,
            "LEAST = 5e-5": 1,
            "LEAST: float = 5e-5": 1,
            "SIZE, _LEAST = 128, 5e-5": 1,
            "STEPS = 1_023": 1,
            "SIZE = 128": 0,
            "x = 5e-5": 0,
            "MOST_TYPED = 3": 1,
            'order = ["repetition", "temperature", "top_k", "top_p", "min_p"]': 1,
            'SIGNS = re.compile(r" *[=+\\-@＝＋－＠\\t\\r\\n]")': 1,
        },
        ".ts": {
            'const DIGITS = "0123456789abcdefg";': 1,
            "x(); // 0123456789abcdefg": 0,
            "export const LEAST = 5e-5; // of a share": 1,
            "const SIZE = 128;": 0,
            "const [SIZE, LEAST] = [128, 5e-5];": 1,
            "const MOST_TYPED = 3;": 1,
            "const SET = { repetition: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0 };": 1,
            "const SIGNS = /^ *[=+\\-@＝＋－＠\\t\\r\\n]/u;": 1,
        },
        ".css": {"content: '0123456789abcdefg';": 1, "/* 0123456789abcdefg */": 0},
    }
    for suffix, each in written.items():
        for source, count in each.items():
            assert len(set(copies(*parsed(source, suffix)))) == count, source
    expression = dict(literals_of_python(ast.parse('A = re.compile(r"[a-z]+")')))
    assert expression["A"] == dict(literals_of_script("const A = /^[a-z]+$/;"))["A"] == "[a-z]+"
