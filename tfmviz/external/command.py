"""The command `tfmviz show`: a file with attention becomes a page."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from tfmviz import external


def main(arguments: Sequence[str]) -> None:
    """Writes the page.

    Raises: SystemExit, with a sentence, if there is no such file, or none with attention.
    """
    parser = argparse.ArgumentParser(
        prog="tfmviz show", description="Writes the explorer with the attention of a file as one page."
    )
    parser.add_argument(
        "file", type=Path, help='JSON such as {"tokens": ["The", …], "attentions": [layer][head][query][key]}, or .npz'
    )
    parser.add_argument("--out", type=Path, help="the page; it takes the place of an older one (FILE with .html)")
    parser.add_argument("--title", default="", help="the model's name, for captions")
    parser.add_argument("--words", action="store_true", help="join the pieces of each word")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    args = parser.parse_args(arguments)
    try:
        page = external.show(args.file, title=args.title, words=args.words)
        out = page.save(args.out or args.file.with_suffix(".html"))
    except (OSError, ValueError) as error:
        parser.exit(1, f"Cannot show {args.file}: {error}\n")
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB")
    if args.open:
        webbrowser.open(out.resolve().as_uri())
