"""Numbers as the pages write them: few digits, true minus signs, superscript powers of ten.

A number that is not finite is a dash.
"""

from __future__ import annotations

import math

from tfmviz.constants import NO_NUMBER, PER_CENT_EDGES, RAISED_DIGITS

RAISED = str.maketrans("-0123456789", f"⁻{RAISED_DIGITS}")

SOME = frozenset("123456789")
"""A number without these digits is written as zero."""


def decimal(value: float, form: str = ".2f") -> str:
    """−0.25, or +0.25 with "+.2f": a minus sign as wide as the plus, and no negative zero."""
    if not math.isfinite(value):
        return NO_NUMBER
    written = f"{value:{form}}"
    return (f"{0:{form}}" if SOME.isdisjoint(written) else written).replace("-", "−")


def which_way(before: float, after: float, *, less: str, same: str, more: str, digits: int = 2) -> str:
    """The phrase for the change between two values, both written with `digits` decimals."""
    change = round(after, digits) - round(before, digits)
    return less if change < 0 else more if change > 0 else same


def tiny(value: float) -> str:
    """6.2·10⁻⁶; zero is 0."""
    if not math.isfinite(value):
        return NO_NUMBER
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(RAISED)}".replace("-", "−")


def counted(n: int, name: str) -> str:
    """1 token, 27 tokens, 1,024 tokens."""
    return f"{n:,} {name}" if n == 1 else f"{n:,} {name}s"


def of_logarithm(log: float) -> str:
    """exp(log) as `tiny` writes it, even if it is too small for a float: 3.2·10⁻⁴⁵⁰."""
    if not math.isfinite(log):
        return "0" if log == -math.inf else NO_NUMBER
    power = math.floor(log / math.log(10))
    digits = f"{math.exp(log - power * math.log(10)):.1f}"
    if digits == "10.0":
        digits, power = "1.0", power + 1
    return f"{digits}·10{str(power).translate(RAISED)}"


def per_cent(probability: float) -> str:
    """29%, 3.4%, 0.02%: two significant digits."""
    if not math.isfinite(probability):
        return NO_NUMBER
    digits = sum(probability < edge for edge in PER_CENT_EDGES)
    return f"{decimal(100 * float(probability), f'.{digits}f')}%"


def rounded(value: float) -> str:
    """14, 0.25, 6.2·10⁻⁶: two significant digits, for values of at least 0."""
    if not math.isfinite(value):
        return NO_NUMBER
    if value == 0:
        return "0"
    power = int(f"{value:.1e}".split("e")[1])
    return tiny(value) if power < -3 else f"{value:.{max(1 - power, 0)}f}"


def in_words(count: float) -> str:
    """1.2 billion, 34 million, 5,678."""
    if not math.isfinite(count):
        return NO_NUMBER
    for word, large in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if 1e15 > count >= large:
            return f"{count / large:.3g} {word}" if count / large < 999.5 else f"{count / large:.0f} {word}"
    return tiny(count) if count >= 1e15 else f"{count:,.0f}"


def in_bytes(count: float) -> str:
    """1.5 GiB, 128 KiB, 64 bytes."""
    if not math.isfinite(count):
        return NO_NUMBER
    unit, large = unit_of_bytes(count)
    value = count / large
    return f"{value:.0f} {unit}" if value >= 100 or value == int(value) else f"{value:.1f} {unit}"


def unit_of_bytes(count: float) -> tuple[str, int]:
    """The largest unit not above this many bytes: its name and its size."""
    units = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    return next(((unit, large) for unit, large in units if count >= large), ("bytes", 1))


def in_seconds(seconds: float) -> str:
    """2.5 s, 3.1 ms, 45 µs."""
    if not math.isfinite(seconds):
        return NO_NUMBER
    for unit, small in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= small:
            return f"{seconds / small:.3g} {unit}" if seconds / small < 999.5 else f"{seconds / small:,.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"
