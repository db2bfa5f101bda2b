"""The process that renders a chat template: `python -m tfmviz.huggingface.rendering`, which `chat` starts."""

from __future__ import annotations

import json
import sys

MEMORY = 1 << 30
"""Bytes that a template may take."""

MOST_CHARACTERS = 20_000
"""Characters that it may make."""


def main() -> None:
    """Reads a template, its special tokens by name and three messages: question, answer, question.

    Writes as JSON its rendering of the question, of the question before an answer, and of all three ("" if it fails).
    """
    from transformers.utils.chat_template_utils import render_jinja_template

    template, marks, messages = json.load(sys.stdin)
    _limit()

    def render(n: int, *, begin: bool = False) -> str:
        turns = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(messages[:n])]
        (made,), _ = render_jinja_template([turns], chat_template=template, add_generation_prompt=begin, **marks)
        if len(made) > MOST_CHARACTERS:
            raise ValueError(f"it makes {len(made):,} characters of a message")
        return made

    alone, asked = render(1), render(1, begin=True)
    try:
        all_three = render(3)
    except Exception:  # whatever a template raises that knows a single message only
        all_three = ""
    json.dump([alone, asked, all_three], sys.stdout)


def _limit() -> None:
    """Limits memory, and forbids writing files. Outside Linux only the time is limited."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + MEMORY
    except (ImportError, OSError):
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


if __name__ == "__main__":
    main()
