"""Numbers as the pages write them: few digits, true minus signs, powers of ten as people write them."""

from __future__ import annotations

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimal(value: float, form: str = ".2f") -> str:
    """−0.25, or +0.25 with "+.2f": a minus sign that is as wide as the plus, and no negative zero."""
    written = f"{value:{form}}"
    return (written if any(digit in "123456789" for digit in written) else f"{0:{form}}").replace("-", "−")


def tiny(value: float) -> str:
    """6.2·10⁻⁶; exactly nothing is 0."""
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(RAISED)}"


def per_cent(probability: float) -> str:
    """29 %, 3.4 %, 0.02 %: two digits that count."""
    return f"{probability:.{0 if probability >= 0.095 else 1 if probability >= 0.0095 else 2}%}"


def rounded(value: float) -> str:
    """14, 0.25, 6.2·10⁻⁶: two digits that count, for numbers of at least 0."""
    power = int(f"{value:.1e}".split("e")[1])
    if value == 0 or power >= 1:
        return f"{value:.0f}"
    return tiny(value) if power < -3 else f"{value:.{1 - power}f}"
