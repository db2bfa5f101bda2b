"""The page on training shows a run: its curves, its snapshots, and the model that it leaves."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.app import buttons_of, charts, matrices, open_page, words
from tfmviz import zoo
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder
from tfmviz.ui import models, trained
from tfmviz.ui.training import watch

TRAIN = "Train one"
pytestmark = pytest.mark.usefixtures("runs")


@pytest.fixture
def finished(runs: Path) -> Folder:
    """A run as it is when it has finished: its model is that of the shipped `reverse`."""
    folder = Folder.new(runs, Choices(steps=3), {})
    shutil.copytree(zoo.MODELS / "reverse", folder.model)
    (folder.model / "log.jsonl").write_text('{"step": 2, "loss": 0.5}\n', encoding="utf-8")
    return folder


def test_all_pages_work_on_the_model_of_a_finished_run(finished: Folder) -> None:
    name = trained.name_of(finished.address)
    for page in ("explorer", "step_by_step", "writing"):
        app = open_page(page, run=finished.address, model=name, text="stressed")
        assert app.selectbox(key="model").value == name
        assert not app.info
        assert app.query_params["run"] in (finished.address, [finished.address])
    trace = models.trace(models.load(name), "stressed")
    expected = zoo.load("reverse").trace("stressed")
    np.testing.assert_array_equal(trace["logits"], expected["logits"])


def test_a_finished_run_offers_its_model(finished: Folder) -> None:
    app = open_page("training", learned=TRAIN, run=finished.address)
    assert "finished, 3 of 3 updates" in app.get("progress")[0].proto.text
    app.button(key=f"inside-{finished.address}").click().run()
    assert app.selectbox(key="model").value == trained.name_of(finished.address)
    assert app.get("download_button")


def test_the_download_is_a_folder_that_the_app_reads(finished: Folder, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(watch.packed(finished))) as archive:
        archive.extractall(tmp_path / "unpacked")
    name = trained.name_of(finished.address)
    assert {path.name for path in (tmp_path / "unpacked" / name).iterdir()} == {*zoo.FILES, "CARD.md"}
    loaded = zoo.load(name, tmp_path / "unpacked")
    np.testing.assert_array_equal(loaded.weights.W_E, zoo.load("reverse").weights.W_E)


def test_a_run_that_is_not_there_puts_no_model_into_the_menu(finished: Folder) -> None:
    """None asked for, another one; then one that is unfinished, damaged, and gone."""

    def nothing(asked: str) -> None:
        app = open_page("explorer", run=asked, model=trained.name_of(finished.address))
        assert app.selectbox(key="model").value in zoo.available()
        assert "There is no model" in words(app)

    nothing("")
    nothing("0" * 16)
    (finished.model / "CARD.md").rename(finished.path / "CARD.md")
    nothing(finished.address)
    (finished.path / "CARD.md").rename(finished.model / "CARD.md")
    (finished.model / "config.json").write_text("{", encoding="utf-8")
    nothing(finished.address)
    shutil.rmtree(finished.path)
    nothing(finished.address)


def test_a_run_that_diverged_says_why_and_offers_the_model_of_its_last_checkpoint(finished: Folder) -> None:
    finished.fail("The run has diverged: the loss in update 6 is nan.")
    app = open_page("training", learned=TRAIN, run=finished.address)
    assert "the loss in update 6 is nan" in app.get("progress")[0].proto.text
    assert buttons_of(app, finished.address) == {"inside", "download"}


def test_the_curves_show_when_the_rate_was_changed(finished: Folder) -> None:
    entries = [{"step": n, "loss": 1.0, "learning_rate": 1e-3 * n} for n in range(9)]
    entries[4]["highest_rate"], entries[5]["highest_rate"], entries[8]["highest_rate"] = 0.1, 0.01, 0.02
    (finished.model / "log.jsonl").write_text("".join(json.dumps(e) + "\n" for e in entries), encoding="utf-8")
    app = open_page("training", learned=TRAIN, run=finished.address)
    marks = charts(app)["run_curves"]["tables"]["marks"]
    assert marks["x"] == [4, 5, 8]
    assert marks["side"] == ["left", "left", "right"]
    assert marks["word"] == ["", "rate 0.01", "rate 0.02"]  # there is no room for the first
    assert "after 4 updates rate 0.1; after 5 updates rate 0.01" in json.dumps(charts(app)["run_curves"])
    assert not [box for box in app.selectbox if box.key == f"rate-{finished.address}"]


@pytest.fixture
def snapped(runs: Path) -> Folder:
    """A run on its way, with three snapshots: those of the shipped `induction`."""
    shipped = zoo.MODELS / "induction"
    folder = Folder.new(runs, Choices(task="induction", layers=2, width=128, steps=4000), {})
    (folder.model / "snapshots").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", *(f"snapshots/{step:07d}.safetensors" for step in (145, 438, 761))):
        shutil.copyfile(shipped / name, folder.model / name)
    return folder


def test_the_heads_of_a_run_are_shown_at_every_snapshot_and_at_rest_at_the_newest(snapped: Folder) -> None:
    """The film of the same weights, which another test recomputes, shows the same."""
    film = {step: matrices(open_page("training", snapshot=step))["film_heads"] for step in ("438", "761")}
    app = open_page("training", learned=TRAIN, run=snapped.address)
    assert app.select_slider(key="updates").options == ["145", "438", "761", "newest"]
    np.testing.assert_array_equal(matrices(app)["run_heads"], film["761"])
    app.select_slider(key="updates").set_value("438").run()
    np.testing.assert_array_equal(matrices(app)["run_heads"], film["438"])
    assert charts(app)["run_scores"]["tables"]["marks"]["x"] == [438]


def test_the_slider_stays_where_a_reader_put_it_and_else_follows_the_run(snapped: Folder) -> None:
    newest = snapped.model / "snapshots" / "0000761.safetensors"
    later = newest.with_name("0001324.safetensors")
    shutil.move(newest, later.with_suffix(".kept"))
    following = open_page("training", learned=TRAIN, run=snapped.address)
    resting = open_page("training", learned=TRAIN, run=snapped.address, updates="145")
    assert "after **438 updates**" in words(following)
    shutil.move(later.with_suffix(".kept"), later)
    assert "after **1,324 updates**" in words(following.run())
    assert "after **145 updates**" in words(resting.run())
    assert resting.select_slider(key="updates").options == ["145", "438", "1,324", "newest"]


def test_a_snapshot_that_there_is_not_shows_the_newest(snapped: Folder) -> None:
    for asked in ("", "9", "<b>", "-1", "newest", "老王"):
        app = open_page("training", learned=TRAIN, run=snapped.address, updates=asked)
        assert "after **761 updates**" in words(app), asked
