"""One test that asks the same of many cases and names all that fail."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str, cases: Iterable[Any] | Mapping[str, Any]) -> Callable[[Test], Test]:
    """A test of these arguments (`"a"` or `"a, b"`) that goes on after a case has failed; a mapping names its cases.

    Every case has a `tmp_path` of its own; other fixtures are the same for all. Where a case takes seconds or needs a
    process or a fixture of its own, parametrise instead.
    """
    wanted = names.split(", ")
    named = list(cases.items() if isinstance(cases, Mapping) else ((f"{case!r:.200}", case) for case in cases))

    def of_all(test: Test) -> Test:
        @functools.wraps(test)
        def asked(**given: Any) -> None:
            failed: dict[str, BaseException] = {}
            for number, (name, case) in enumerate(named):
                own = dict(zip(wanted, case if len(wanted) > 1 else (case,), strict=True))
                if "tmp_path" in given:
                    own["tmp_path"] = given["tmp_path"] / str(number)
                    own["tmp_path"].mkdir()
                try:
                    test(**given | own)
                except (Exception, pytest.fail.Exception) as error:
                    failed[name] = error
            if failed:
                said = "\n".join(f"{names} = {name}: {type(error).__name__}: {error}" for name, error in failed.items())
                raise AssertionError(said) from next(iter(failed.values()))

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        asked.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return asked

    return of_all
