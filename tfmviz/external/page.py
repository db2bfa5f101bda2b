"""The explorer of one record, for a notebook and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path

from tfmviz.record.trace import Trace
from tfmviz.views import html

HEIGHT = 860
"""Pixels of the frame in a notebook."""


@dataclass(frozen=True, kw_only=True, repr=False)  # no slots: the page is kept
class Page:
    """The explorer with one record in it. A notebook shows it as the last line of a cell."""

    trace: Trace
    title: str = ""

    @cached_property
    def html(self) -> str:
        """The page, which needs no server, and whose policy allows no connection.

        Raises:
            ValueError: the record holds no attention.
        """
        return html(self.trace, title=self.title)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the page, replacing an existing file. Returns its path. Raises: OSError."""
        file = Path(path)
        file.write_bytes(self.html.encode())
        return file

    def _repr_html_(self) -> str:
        """A frame that holds the whole page, with a separate origin."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-downloads" allowfullscreen '
            f'title="Attention" style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        n_heads = sum(len(self.trace[f"{layer}.pattern"]) for layer in self.trace.layers)
        return (
            f"<Attention of {n_heads} heads on {len(self.trace.target)} tokens. A notebook shows it; elsewhere "
            '.save("attention.html") writes it as a page.>'
        )
