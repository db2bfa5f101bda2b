"""Chinese for `chinese-none` and `chinese-sinusoidal`, one sentence a line: of Tatoeba, and generated ones.

    python -m scripts.prepare_chinese CORPORA/cmn-eng/cmn.txt runs/zoo/data/chinese.txt

老王 and 老李 are in no line of the collection, so sentences about people are generated: somebody does something to
somebody else, and half of them say what became of the second, as in "老王批评老李，老李很难过" (Old Wang criticises Old
Li, Old Li is sad). docs/models.md says where to find the pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scripts.prepare_english import RUDE
from tfmviz.text.pairs import read_pairs
from tfmviz.training.files import replacing

BEFORE_NAMES = ("老", "小")

SURNAMES = tuple("王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗")

VERBS = {
    "批评": "很难过",
    "表扬": "很高兴",
    "帮助": "很感谢",
    "欢迎": "很开心",
    "等": "来了",
    "骂": "哭了",
    "打": "生气了",
    "笑": "不好意思",
    "请": "去了",
    "找": "在家",
    "喜欢": "不知道",
    "认识": "是老师",
}
"""One person's action on another, and a sentence on the other that follows from it."""

GENERATED = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="english<TAB>chinese<TAB>attribution, one pair a line")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    pairs = read_pairs(args.pairs)
    found = list(dict.fromkeys(chinese for english, chinese in pairs if not RUDE.search(english)))
    if named := [line for line in found if "老王" in line or "老李" in line]:
        parser.exit(1, f"The card says that no line names 老王 or 老李, but {named[0]} does.\n")
    made = list(dict.fromkeys(generated(GENERATED, seed=0)))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(args.out) as (place,):
        place.write_text("".join(f"{line}\n" for line in [*found, *made]), encoding="utf-8")
    print(f"{args.out}: {len(found):,} sentences of the collection, {len(made):,} generated")


def generated(n: int, *, seed: int) -> Iterator[str]:
    """Sentences about two people, half of them with spaces between the words, half without a second clause."""
    rng = np.random.default_rng(seed)
    names = [before + surname for before in BEFORE_NAMES for surname in SURNAMES]
    verbs = list(VERBS)
    for _ in range(n):
        one, other = (names[i] for i in rng.choice(len(names), 2, replace=False))
        verb = verbs[rng.integers(len(verbs))]
        gap = " " if rng.random() < 0.5 else ""
        then = f"，{other}{gap}{VERBS[verb]}" if rng.random() < 0.5 else ""
        yield f"{one}{gap}{verb}{gap}{other}{then}{'。' if rng.random() < 0.5 else ''}"


if __name__ == "__main__":
    main()
