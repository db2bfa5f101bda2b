"""The learning rate of a run, which may be changed while it runs.

Before every update a run looks for a request (`training.wishes`). It records the change in `rates.json`, so that a run
resumed from an earlier checkpoint repeats it.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

from tfmviz.training.distributed import from_first_process, rank
from tfmviz.training.files import replacing
from tfmviz.training.loop import Settings
from tfmviz.training.wishes import wanted_rate

KEPT = "rates.json"


class Rates:
    """The learning rate of each update: that of the settings, with later changes.

    Raises:
        ValueError: the record of earlier changes cannot be read.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._taken: float | None = None
        if (path := folder / KEPT).exists():
            settings = replace(settings, changes=_read(path))
            self._taken = settings.changes[-1][1]
        self.settings = settings

    def at(self, step: int) -> float:
        """The learning rate of an update, after a look for requests."""
        seen = wanted_rate(self._folder) if rank() == 0 else None
        asked = from_first_process(math.nan if seen is None else seen)
        if not math.isnan(asked) and asked != self._taken:
            self._take(step, asked)
        return self.settings.learning_rate_at(step)

    def changed_at(self, step: int) -> float | None:
        """The highest learning rate that begins with this update, or None."""
        return dict(self.settings.changes).get(step)

    def _take(self, step: int, rate: float) -> None:
        """Replaces all changes from this update on."""
        before = (change for change in self.settings.changes if change[0] < step)
        self.settings = replace(self.settings, changes=(*before, (step, rate)))
        self._taken = rate
        if rank() == 0:
            with replacing(self._folder / KEPT) as (place,):
                place.write_text(json.dumps(self.settings.changes) + "\n", encoding="utf-8")


def _read(path: Path) -> tuple[tuple[int, float], ...]:
    try:
        found = tuple((int(step), float(rate)) for step, rate in json.loads(path.read_text(encoding="utf-8")))
        if not found:
            raise ValueError("it is empty")
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} does not hold changes of a learning rate ({error}). Delete it to go on.") from error
    return found
