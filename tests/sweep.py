"""What `make test` leaves to `make test-all`: what takes long and seldom fails alone.

`make test` asks the laws, both engines' parity, every page without a browser, the first tab of each page in Chromium,
and how a lecture is walked.
"""

from pathlib import PurePosixPath

SWEEP = frozenset(
    {
        "browser",
        "classroom",
        "deploy",
        "huggingface",
        "package",
        "pages/test_beside_pages.py",
        "pages/test_budget.py",
        "pages/test_hidden_choices.py",
        "pages/test_repeated_words.py",
        "pages/test_useless_weights.py",
        "scripts",
        "site",
        "training/test_command.py",
        "training/test_resuming.py",
        "views/test_explorer.py",
        "zoo/test_device.py",
    }
)
"""Folders and files below `tests/`."""

KEPT = frozenset({"browser/test_every_page.py", "browser/test_ten_steps.py"})
"""Files in these folders that `make test` asks all the same."""


def is_swept(file: PurePosixPath) -> bool:
    """Whether a file, by its path below `tests/`, is left to `make test-all`."""
    return str(file) not in KEPT and any(str(place) in SWEEP for place in (file, *file.parents))
