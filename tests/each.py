"""One question asked of many cases in one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest


def each(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but in one test, with one set of fixtures. It names every case that fails.

    Args:
        names: the arguments that a case gives, separated by commas.
        cases: values, or tuples with a value for each name.
    """
    listed, arguments = list(cases), names.split(", ")

    def asked(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def of_all(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for case in listed:
                given = dict(zip(arguments, case if len(arguments) > 1 else [case], strict=True))
                try:
                    test(**fixtures, **given)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"{names} = {case!r}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(listed)} cases fail", failed)

        signature = inspect.signature(test)
        left = [of for name, of in signature.parameters.items() if name not in arguments]
        vars(of_all)["__signature__"] = signature.replace(parameters=left)
        return of_all

    return asked
