"""A page that stands alone: everything in it, and a policy that allows nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tfmviz.views.shared import digest


def page(
    title: str, body: str, *, css: str, scripts: Sequence[str], more: Sequence[str] = (), connect: str = ""
) -> str:
    """The page.

    Args:
        body: markup.
        scripts: those that may run; `more` holds what else the policy says of scripts.
        connect: sources that it may connect to; "": none.
    """
    allowed = " ".join([*map(digest, scripts), *more])
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {digest(css)}; img-src data: blob:; "
        f"{f'connect-src {connect}; ' if connect else ''}base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
</body>
</html>
"""
