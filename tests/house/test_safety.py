"""Settings and habits that keep a reader's text and machine safe."""

from __future__ import annotations

import tomllib

from tests.browser import ROOT
from tests.house.sources import PACKAGE, name_of

SVG_NAMESPACE = "http://www.w3.org/2000/svg"


def test_the_server_is_set_up_for_safety_and_offline_use() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    wanted = {
        ("browser", "gatherUsageStats"): False,
        ("client", "showErrorDetails"): "none",
        ("runner", "magicEnabled"): False,
        ("server", "address"): "127.0.0.1",
        ("server", "maxUploadSize"): 0,
    }
    found = {(section, name): config[section].get(name) for section, name in wanted}
    assert found == wanted, ".streamlit/config.toml is less safe than it was"


def test_no_view_turns_text_into_markup_or_loads_from_elsewhere() -> None:
    sources = {path: path.read_text(encoding="utf-8").replace(SVG_NAMESPACE, "") for path in PACKAGE.rglob("*.ts")}
    complaints = [
        f"{name_of(path)} contains {forbidden}; a reader's text becomes `textContent`, and nothing is loaded"
        for path, source in sources.items()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "http")
        if forbidden in source
    ]
    assert sources
    assert not complaints, "\n".join(complaints)
