"""The page on training: its numbers, what it makes of odd addresses, and what its button asks for."""

import io
import json
import shutil
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import HERE, buttons_of, charts, matrices, open_page, sent, series, words
from tests.pages.test_odd_texts import ODD
from tests.runs.started import full
from tfmviz import zoo
from tfmviz.runs import tuner
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder
from tfmviz.runs.manager import CANNOT_WRITE, RunManager
from tfmviz.runs.texts import LEAST, MOST
from tfmviz.text.tokenizer import END_OF_TEXT
from tfmviz.training.tuning import Tuning
from tfmviz.ui import background, models, session_cookie, trained
from tfmviz.ui.training import desk as room
from tfmviz.ui.training import film, inside, tuned, watch
from tfmviz.ui.training.desk import EXPERIMENTS
from tfmviz.ui.training.shipped import DUPLICATES, READ
from tfmviz.words.numbers import per_cent
from tfmviz.zoo import snapshots

TRAIN = "Train one"
LOGS = zoo.MODELS.parent / "training"
pytestmark = pytest.mark.usefixtures("runs")
train = partial(open_page, "training", learned=TRAIN)
"""The page on which runs are started."""


def folders(runs: Path) -> list[Folder]:
    return [Folder(path) for path in runs.iterdir() if path.is_dir()]


def requests(runs: Path) -> list[Choices]:
    return [folder.request[0] for folder in folders(runs)]


def pressed(app: AppTest, text: str | None = None) -> AppTest:
    """With the button pressed that trains, on a text of the reader's if there is one."""
    if text is not None:
        app.text_area(key="train_text").set_value(text)
    app.button(key="train").click().run()
    return app


def progress(app: AppTest) -> list[str]:
    return [element.proto.text for element in app.get("progress")]


def test_the_film_shows_the_snapshots_own_numbers_and_any_sentence_twice() -> None:
    app, there = open_page("training", snapshot="1,324"), snapshots.steps(zoo.MODELS / "induction")
    found = inside.copying(film.FOLDER, 1324)
    trace = inside.on_repeats(film.FOLDER, 1324)
    patterns = np.concatenate([trace[f"{layer}.pattern"] for layer in trace.layers])
    np.testing.assert_allclose(np.nan_to_num(matrices(app)["film_heads"]), patterns, atol=0.001)
    lines = charts(app)["film_curves"]
    for name, loss in (("first time", found.first), ("second time", found.second)):
        assert series(lines, table="lines0")[name][there.index(1324)] == pytest.approx(loss, abs=1e-3)
    assert lines["tables"]["marks"]["x"] == [1324]
    period, (early, late) = len(trace.target) // 2, film.on_text(1324)
    said = f"{found.second:.2f} nats at tokens {period + 1} to {2 * period - 1} and {found.first:.2f} at tokens 1 to "
    assert f"{said}{period - 1}, which they repeat" in words(app)
    assert f"difference of **{late - early:+.2f}**".replace("-", "−") in words(app)
    for text in ODD:
        app = open_page("training", text=text, probe="your sentence")
        assert not app.error, text
        assert matrices(app)["film_heads"].shape[-1] in range(2, 65, 2)


def test_heads_are_drawn_of_as_many_layers_as_a_run_has() -> None:
    trace = zoo.load("induction").trace("a b c a b")
    for n_layers in (1, 2):
        layers = trace.layers[:n_layers]
        drawn = inside.picture(trace, layers)
        patterns = np.concatenate([trace[f"{layer}.pattern"] for layer in layers])
        np.testing.assert_allclose(np.nan_to_num(drawn.matrices), patterns, atol=1e-6)
        heads = [f"head {layer}.{n}" for layer in range(n_layers) for n in range(len(patterns) // n_layers)]
        assert list(drawn.titles) == heads


def test_curves_and_table_of_the_shipped_models_are_those_of_their_logs() -> None:
    app = open_page("training", learned="The shipped models")
    lines = charts(app)["shipped_curves"]
    twins = sorted(path.stem for path in LOGS.glob("twins-*.jsonl"))
    assert sorted(series(lines, table="lines0")) == [name.removeprefix("twins-") for name in twins]
    log = [json.loads(line) for line in (LOGS / "twins-rope.jsonl").read_text().splitlines()]
    for table, column in (("lines0", "loss"), ("lines1", "learning_rate"), ("lines2", "grad_norm")):
        np.testing.assert_allclose(series(lines, table=table)["rope"], [one[column] for one in log])
    assert lines["tables"]["levels0"]["y"][0] == pytest.approx(np.log(2048))
    shown = sent(app, "shipped_runs")
    row = next(dict(zip(shown["columns"], row, strict=True)) for row in shown["rows"] if "rope" in row[0])
    assert row["updates"] == f"{log[-1]['step'] + 1:,}", "the first update is number 0"
    assert (row["first loss"], row["last loss"]) == (f"{log[0]['loss']:.2f}", f"{log[-1]['loss']:.2f}")
    assert row["held-out loss"] == f"{[one['held_out_loss'] for one in log if 'held_out_loss' in one][-1]:.2f}"
    assert row["largest gradient norm"] == f"{max(one['grad_norm'] for one in log):.1f}"
    for choice in ("the others", "all", "the chosen model"):
        assert "shipped_curves" in charts(open_page("training", learned="The shipped models", runs=choice))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_fills_in_its_settings_and_the_button_asks_for_just_those(name: str, runs: Path) -> None:
    app = train()
    app.selectbox(key="trial").select(name).run()
    pressed(app)
    assert requests(runs) == [EXPERIMENTS[name][0]]
    (address,) = [path.name for path in runs.iterdir() if path.is_dir()]
    assert app.query_params["run"] in (address, [address])
    assert any("starting" in text for text in progress(app))


def test_the_address_holds_the_settings_and_those_that_do_not_fit_start_nothing(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(room.OPTIONS, "width", (16, 20, 64))
    app = train(train_width="20", train_heads="8")
    assert app.selectbox(key="train_dropout").options == ["0", "0.1", "0.2", "0.4"]
    assert "cannot be shared by 8 heads" in words(pressed(app))
    assert requests(runs) == []
    for text in ("", "ten chars.", "word " * (MOST // 5) + "x"):
        assert f"{LEAST:,} to {MOST:,}" in words(pressed(train(train_task="text"), text))
        assert requests(runs) == []
    pressed(train(train_task="sort", train_width="16", train_heads="2", train_dropout="0.1"))
    assert requests(runs) == [Choices(task="sort", width=16, heads=2, dropout=0.1)]


@pytest.mark.parametrize(
    "text",
    [
        ("The cat sat on the mat. " * (MOST // 24 + 1))[:MOST],
        "".join(np.random.default_rng(0).choice(list("abcdefghij"), 5_000)),
        "老王在市场买了三个苹果。" * 300,
        "<script>alert(1)</script> --out /etc ../../x $(reboot) **bold** 老王 🙂 \n" * 60,
    ],
    ids=["2 MB", "no spaces", "Chinese", "markup"],
)
def test_any_text_within_the_limits_goes_into_a_file_as_it_stands_and_nowhere_else(text: str, runs: Path) -> None:
    assert not pressed(train(train_task="text"), text).warning
    (folder,) = folders(runs)
    choices, data = folder.request
    assert (choices.task, data) == ("text", ("data.txt",))
    written = (folder.path / "data.txt").read_text(encoding="utf-8").replace(END_OF_TEXT, "")
    assert "".join(written.split()) == "".join(text.split())
    assert not [word for word in choices.command(data) if "reboot" in word]


def test_an_address_without_a_run_shows_a_page_all_the_same() -> None:
    for address in ("", "x", "../..", "0" * 16, "<b>" * 99, ",,,", "老王"):
        app = train(run=address)
        assert app.button(key="train")
        assert ("are gone" in words(app)) == (address == "0" * 16), address


def test_a_third_run_waits_and_says_so_and_pause_and_go_on_work(runs: Path) -> None:
    there = room.run_manager()
    addresses = [there.submit(Choices(seed=n), {}, owner=HERE) for n in range(4)]
    app = train(run=",".join(addresses))
    said = progress(app)
    assert [text.split(": ")[0] for text in said] == [f"seed {n}" for n in range(4)]
    assert [text.split(": ")[1] for text in said[2:]] == ["about to start", "waiting, 1 ahead of it"]
    for button, at, state in (("pause", 0, "paused"), ("resume", 0, "queued"), ("stop", 1, "stopped")):
        app.button(key=f"{button}-{addresses[at]}").click().run()
        assert there.see(addresses[at]).state == state
        assert there.see(addresses[2]).state == "running"


def test_a_readers_new_rate_reaches_the_run_and_all_who_watch_it(runs: Path) -> None:
    there = room.run_manager()
    address = there.submit(Choices(steps=100), {}, owner=HERE)
    app = train(run=address)
    rate = f"rate-{address}"
    assert app.selectbox(key=rate).value == 2e-3
    app.selectbox(key=rate).select(0.01).run()
    assert (there.see(address).rate, there.see(address).state) == (0.01, "running")
    assert train(run=address).selectbox(key=rate).value == 0.01
    there.change_rate(address, 0.0123)  # as somebody in the terminal may
    app.run()
    assert app.selectbox(key=rate).value == 0.0123


def test_a_link_to_a_run_steers_nothing(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = room.run_manager()
    going, paused = there.submit(Choices(), {}, owner=HERE), there.submit(Choices(), {}, owner=HERE)
    there.pause(paused)
    for _ in range(2):  # a reader who reloads is the same reader
        app = train(run=f"{going},{paused}")
        assert [buttons_of(app, one) for one in (going, paused)] == [{"pause", "stop", "rate"}, {"resume", "rate"}]
    monkeypatch.setattr(session_cookie, "this_one", lambda: "another reader of the class")
    app = train(run=f"{going},{paused}")
    assert [text[:6] for text in progress(app)] == ["revers", "revers"]
    assert [buttons_of(app, one) for one in (going, paused)] == [set(), set()]
    assert any("only the browser that started a run" in caption.value for caption in app.caption)
    assert HERE not in json.dumps(dict(app.query_params))


def test_one_reader_does_not_fill_the_queue(runs: Path) -> None:
    app = train()
    for _ in range(5):
        pressed(app)
    assert "2 of your runs are waiting already" in words(app)
    assert len(requests(runs)) == 4  # two of them run


@pytest.mark.parametrize(
    ("button", "overwriting", "says"),
    [
        ("train", True, f"cannot start: {CANNOT_WRITE}."),
        ("rate", True, f"The learning rate could not be changed: {CANNOT_WRITE}."),
        ("pause", True, "paused, 0 of 100 updates"),
        ("stop", True, "stopped, 0 of 100 updates"),
        ("stop", False, f"The run ended, but this could not be saved: {CANNOT_WRITE}."),
        ("resume", True, f"cannot resume: {CANNOT_WRITE}."),
    ],
)
def test_on_a_full_disk_every_button_ends_in_a_sentence(button: str, overwriting: bool, says: str, runs: Path) -> None:
    there = room.run_manager()
    address = there.submit(Choices(steps=100), {}, owner=HERE)
    if button == "resume":
        there.pause(address)
    app = train(run=address)
    with full(overwriting=overwriting):
        if button == "rate":
            app.selectbox(key=f"rate-{address}").select(0.01).run()
        else:
            app.button(key="train" if button == "train" else f"{button}-{address}").click().run()
    assert says in words(app) + "".join(progress(app))
    assert len(folders(runs)) == 1


def test_a_server_may_forbid_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        RunManager.__init__, "__kwdefaults__", {**(RunManager.__init__.__kwdefaults__ or {}), "at_once": 0}
    )
    app = train()
    assert "switched off on this server" in words(app)
    assert not [button for button in app.button if button.key == "train"]


@pytest.fixture
def finished(runs: Path) -> Folder:
    """A run as it is when it has finished: its model is that of the shipped `reverse`."""
    folder = Folder.new(runs, Choices(steps=3), {})
    shutil.copytree(zoo.MODELS / "reverse", folder.model)
    (folder.model / "log.jsonl").write_text('{"step": 2, "loss": 0.5}\n', encoding="utf-8")
    return folder


def test_the_time_left_is_that_of_the_updates_left_at_the_speed_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfmviz.ui.training.watch.time.time", lambda: 1060.0)
    folder: Any = SimpleNamespace(started=(1000.0, 10, 0))  # after ten updates, a minute ago
    log: Any = SimpleNamespace(tokens_per_second=[90, 110])
    for steps, left in ((50, "60 s"), (70, "2 min"), (2030, "100 min")):
        sight: Any = SimpleNamespace(choices=Choices(steps=steps))
        assert watch._speed(folder, sight, log, 30) == f", 100 tokens/s, about {left} left"
        assert watch._speed(folder, sight, log, 10) == ", 100 tokens/s"


def test_all_pages_work_on_the_model_of_a_finished_run(finished: Folder) -> None:
    name = trained.name_of(finished.address)
    for page in ("explorer", "step_by_step", "writing"):
        app = open_page(page, run=finished.address, model=name, text="stressed")
        assert app.selectbox(key="model").value == name
        assert not app.info
        assert app.query_params["run"] in (finished.address, [finished.address])
    trace = models.trace(models.load(name), "stressed")
    np.testing.assert_array_equal(trace["logits"], zoo.load("reverse").trace("stressed")["logits"])


def test_a_finished_run_offers_its_model_as_a_folder_that_the_app_reads(finished: Folder, tmp_path: Path) -> None:
    app = open_page("training", learned=TRAIN, run=finished.address)
    assert "finished, 3 of 3 updates" in app.get("progress")[0].proto.text
    app.button(key=f"inside-{finished.address}").click().run()
    assert app.selectbox(key="model").value == trained.name_of(finished.address)
    assert app.get("download_button")
    with zipfile.ZipFile(io.BytesIO(watch.packed(finished))) as archive:
        archive.extractall(tmp_path / "unpacked")
    name = trained.name_of(finished.address)
    assert {path.name for path in (tmp_path / "unpacked" / name).iterdir()} == {*zoo.FILES, "CARD.md"}
    loaded = zoo.load(name, tmp_path / "unpacked")
    np.testing.assert_array_equal(loaded.weights.W_E, zoo.load("reverse").weights.W_E)


def test_a_run_that_is_not_there_puts_no_model_into_the_menu(finished: Folder) -> None:

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
    assert "after 4 updates rate 0.1; after 5 updates rate 0.01" in "".join(caption.value for caption in app.caption)
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
    film = {step: matrices(open_page("training", snapshot=step))["film_heads"] for step in ("438", "761")}
    app = open_page("training", learned=TRAIN, run=snapped.address)
    assert app.select_slider(key="updates").options == ["145", "438", "761", "newest"]
    np.testing.assert_array_equal(matrices(app)["run_heads"], film["761"])
    app.select_slider(key="updates").set_value("438").run()
    np.testing.assert_array_equal(matrices(app)["run_heads"], film["438"])
    assert charts(app)["run_scores"]["tables"]["marks"]["x"] == [438]


def test_the_slider_stays_where_a_reader_put_it_and_else_shows_the_newest(snapped: Folder) -> None:
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
    for asked in ("", "9", "<b>", "-1", "newest", "老王"):
        app = open_page("training", learned=TRAIN, run=snapped.address, updates=asked)
        assert "after **1,324 updates**" in words(app), asked


TUNED = json.loads(tuned.MEASURED.read_text())
fine_tune = partial(open_page, "training", learned="Fine-tune")


def put(monkeypatch: pytest.MonkeyPatch, **found: object) -> None:
    """As if the server had trained already."""
    record = {"share": 1.0, "accuracy": 0.875, "trained": 1234, **found}
    monkeypatch.setattr(background.Measurement, "found", property(lambda self: ({"share": 0.5, "loss": 0.1}, record)))


def test_curves_are_the_means_of_what_was_measured_of_the_models_and_sizes_of_the_page() -> None:
    for model in ("tiny-english", "fill-in"):
        app = fine_tune(body=model)
        drawn = series(charts(app)["tuning"])
        assert list(drawn) == list(tuned.WAYS)
        for way, method in tuned.WAYS.items():
            np.testing.assert_allclose(drawn[way], [np.mean(runs) for runs in TUNED["accuracy"][model][method]])
        new, trained = (np.mean(TUNED["accuracy"][model][method][0]) for method in ("scratch", "head"))
        assert new < trained
        assert "With 16 examples a new model" in words(app)
        assert f"a new model is right in {new:.0%}, a head on the trained one in **{trained:.0%}**" in words(app)
    assert tuple(TUNED["sizes"]) == tuned.SIZES
    for model in TUNED["accuracy"].values():
        assert {len(runs) for by_size in model.values() for runs in by_size} == {len(TUNED["seeds"])}
        assert all(0 <= share <= 1 for by_size in model.values() for runs in by_size for share in runs)


def test_a_run_shows_its_point_which_heads_moved_and_the_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    moved, values = [[0.1, 0.2], [0.4, 0.3]], [4.0, 3.0, 2.0, 1.0, 0.5, 0.0]
    put(monkeypatch, moved=moved, layer=1, spectrum=values, head=[0.0])
    for way, rank in (("low rank", "8"), ("all weights", "4")):
        app = fine_tune(way=way, examples="256", rank=rank)
        assert series(charts(app)["tuning"])["this run"].tolist() == [0.875]
        np.testing.assert_allclose(matrices(app)["moved"][0], moved)
        assert series(charts(app)["spectrum"])["ΔW"].tolist() == values
        said, share = words(app), 30 / 30.25
        assert "1,234 parameters were trained, and **88%** of the answers" in said
        assert "The query matrix of head 1.0 changed most" in said
        assert f"Four directions hold {share:.0%} of the change in layer 1" in said
        assert ("whose rank is 8" in said) == (way == "low rank")


def test_the_head_reads_the_readers_text_without_its_last_mark_if_any(monkeypatch: pytest.MonkeyPatch) -> None:
    w = np.random.default_rng(1).normal(scale=0.1, size=257)
    put(monkeypatch, head=w.tolist())
    for model in ("tiny-english", "fill-in"):
        for text in ("Is the cat hungry?", "<b>a</b> 😀", "老王批评老李。"):
            trace = zoo.load(model).trace(text.rstrip("?.。"))
            x = trace["decoder.norm"][-1] if model == "tiny-english" else trace["encoder.norm"].mean(axis=0)
            p = float(1 / (1 + np.exp(-(x @ w[:-1] + w[-1]))))
            assert f"probability **{per_cent(p)}**" in words(fine_tune(body=model, text=text)), (model, text)
    put(monkeypatch, head=[0.0] * 257)
    for text in ("", "?", " .?! "):
        app = fine_tune(text=text)
        assert not app.error
        assert "probability" not in words(app) or not text


def test_the_worker_reads_the_shipped_texts_and_ends_with_an_accuracy() -> None:
    settings = Tuning(method="head", steps=2)
    *_, last = tuner.tuned("tiny-english", settings, 16)
    assert last["share"] == 1
    assert last["trained"] == 257
    assert 0.5 < last["accuracy"] <= 1, "even two steps tell something"


DUPLICATED = json.loads(DUPLICATES.read_text(encoding="utf-8"))


def test_the_lines_and_the_sentence_are_what_was_measured() -> None:
    app = open_page("training", learned="Duplicates")
    drawn = series(charts(app)["duplicates"])
    for name, said in READ.items():
        for what, points in DUPLICATED[name]["curve"].items():
            expected = [value for step, value in points if step >= 250]
            np.testing.assert_allclose(drawn[f"{said}, {what}"], expected, rtol=1e-5)
        for part in ("seen", "held_out"):
            assert f"{DUPLICATED[name][part]:.2f}" in words(app)
