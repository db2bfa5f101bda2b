"""A checkpoint's chat template, rendered once at conversion.

A template is somebody else's program. It runs in transformers' sandbox, in a process with little time and memory, on
messages of ours; a reader's text never reaches it. The model keeps its tokens.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tfmviz.huggingface import rendering
from tfmviz.huggingface.source import Refused

SECONDS = 60
"""A template's time, with the import of transformers."""

MOST_TEMPLATE = 100_000
"""Characters of a template."""

ASKED, ANSWERED, ASKED_AGAIN = "First question", "First answer", "Second question"
"""Messages that no template changes."""

Piece = tuple[str, str]
"""Role and text."""


def pieces(template: str, marks: dict[str, str]) -> tuple[list[Piece], list[Piece]]:
    """The pieces before a user's message, and those between it and the answer.

    Args:
        marks: special tokens by their names in templates, such as {"bos_token": "<s>"}.

    Raises:
        Refused: the template is too long or too slow, fails, or changes the message.
    """
    alone, asked, both = _rendered(template, marks)
    before, end = _around(alone, ASKED)
    after = _around(asked, ASKED)[1]
    header = before
    if both and both.count(ANSWERED) == both.count(ASKED_AGAIN) == 1:
        between = both.split(ANSWERED)[1].split(ASKED_AGAIN)[0]
        header = _common_end(before, between).removeprefix(end)
    answer = after.removeprefix(end) if after.startswith(end) else ""
    found = [("system", before.removesuffix(header)), ("user", header)]
    return _said(found), _said([("user", after.removesuffix(answer)), ("assistant", answer)])


def tokens(
    theirs: Any, ids_of: Callable[[str], Sequence[int]], sentences: Sequence[str]
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """The same as (role, token), for `Marks`. Special tokens at the beginning have no role.

    Args:
        sentences: texts that both tokenizers must cut identically.

    Raises:
        Refused: there is no template, or see `pieces`; or a message's tokens depend on its surroundings.
    """
    template = getattr(theirs, "chat_template", None)
    if not isinstance(template, str):
        raise Refused("Its tokenizer has no chat template. Convert it without --chat.")
    marks = {name: str(mark) for name, mark in theirs.special_tokens_map.items() if isinstance(mark, str)}
    before, after = pieces(template, marks)

    def cut(text: str) -> list[int]:
        return list(theirs(text, add_special_tokens=False).input_ids)

    around = [[(role, index) for role, text in part for index in cut(text)] for part in (before, after)]
    ids = [[index for _, index in part] for part in around]
    whole = ["".join(text for _, text in part) for part in (before, after)]
    for sentence in sentences:
        if cut(whole[0] + sentence + whole[1]) != [*ids[0], *ids_of(sentence), *ids[1]]:
            raise Refused("Its tokens depend on what the chat template puts around them. Convert it without --chat.")
    special = set(theirs.all_special_ids)
    if all(index in special for role, index in around[0] if role == "system"):
        around[0] = [("" if role == "system" else role, index) for role, index in around[0]]
    return tuple(around[0]), tuple(around[1])


def _around(rendered: str, message: str) -> tuple[str, str]:
    if rendered.count(message) != 1:
        raise Refused("Its chat template does not keep a user's message as it is. Convert it without --chat.")
    before, after = rendered.split(message)
    return before, after


def _common_end(one: str, other: str) -> str:
    n = 0
    while n < min(len(one), len(other)) and one[-n - 1] == other[-n - 1]:
        n += 1
    return one[len(one) - n :]


def _said(found: list[Piece]) -> list[Piece]:
    return [(role, text) for role, text in found if text]


def _rendered(template: str, marks: dict[str, str]) -> tuple[str, str, str]:
    """A message, the same before an answer, and a message, its answer and another, "" if the template fails.

    Raises: Refused.
    """
    if len(template) > MOST_TEMPLATE:
        raise Refused(f"Its chat template has {len(template):,} characters; {MOST_TEMPLATE:,} are read.")
    try:
        done = subprocess.run(
            [sys.executable, "-m", rendering.__name__],
            input=json.dumps([template, marks, (ASKED, ANSWERED, ASKED_AGAIN)]),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=Path(__file__).parents[2],
            check=True,
        )
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise Refused(f"Its chat template needs more than {SECONDS} seconds.") from error
    except (subprocess.CalledProcessError, ValueError) as error:
        lines = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise Refused(f"Its chat template fails ({lines[-1][:200] if lines else 'it says nothing'}).") from error
    return found[0], found[1], found[2]
