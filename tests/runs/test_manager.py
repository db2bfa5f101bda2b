"""Runs are started, queued, ended and found again, whatever becomes of servers and disks. Processes here only wait."""

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.runs.started import WAITS, Started, end, finish, full, kill, log_updates, waiting
from tfmviz.runs import manager as room
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder, NoSuchRun
from tfmviz.runs.manager import CANNOT_WRITE, KEPT, MOST_AT_A_PLACE, MOST_OF_ONE, TRIES, QueueFull, RunManager


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    with waiting(monkeypatch) as found:
        yield found


def states(desk: RunManager, *addresses: str) -> list[str]:
    return [desk.see(address).state for address in addresses]


def test_two_run_at_once_and_others_see_their_place(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=2)
    addresses = [desk.submit(Choices(seed=n), {}) for n in range(5)]
    assert started.addresses == addresses[:2]
    seen = [desk.see(address) for address in addresses]
    assert [sight.state for sight in seen] == ["running"] * 2 + ["queued"] * 3
    assert [sight.before for sight in seen] == [0, 0, 0, 1, 2]
    assert [sight.choices.seed for sight in seen] == [0, 1, 2, 3, 4]


def test_the_next_begins_when_one_has_finished(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    first, second = desk.submit(Choices(), {}), desk.submit(Choices(), {})
    finish(tmp_path, first)
    end(started[0][1])
    assert desk.tick()
    assert (desk.see(first).state, desk.see(second).state) == ("finished", "running")
    assert started.addresses == [first, second]


def test_a_paused_run_is_ended_gives_its_place_away_and_goes_on_at_the_end_of_the_queue(
    tmp_path: Path, started: Started
) -> None:
    desk = RunManager(tmp_path, at_once=1)
    first, second, third = (desk.submit(Choices(), {}) for _ in range(3))
    desk.pause(first)
    assert started[0][1].poll() is not None
    assert [desk.see(one).state for one in (first, second, third)] == ["paused", "running", "queued"]
    desk.resume(first)
    assert (desk.see(first).state, desk.see(first).before) == ("queued", 1)


def test_a_rate_is_asked_for_where_the_command_looks_and_all_servers_see_it(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    running, waiting = desk.submit(Choices(learning_rate=2e-3), {}), desk.submit(Choices(), {})
    for address in (running, waiting):
        assert desk.see(address).rate == 2e-3
        desk.change_rate(address, 0.01)
        assert RunManager(tmp_path, at_once=1).see(address).rate == 0.01
        assert (tmp_path / address / "model" / "rate").read_text(encoding="utf-8") == "0.01"
    assert [desk.see(one).state for one in (running, waiting)] == ["running", "queued"]
    assert len(started) == 1  # it goes on in the same process
    (tmp_path / running / "model" / "rate").write_text("fast", encoding="utf-8")
    assert desk.see(running).rate == 2e-3


@each("what", ["change_rate", "pause", "resume"])
def test_a_class_may_click_all_at_once(what: str, tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    with ThreadPoolExecutor(25) as readers:
        more = (0.01,) if what == "change_rate" else ()
        clicks = [readers.submit(getattr(desk, what), address, *more) for _ in range(50)]
    assert [click.exception() for click in clicks] == [None] * 50
    sight = desk.see(address)
    assert (sight.state == "paused") == (what == "pause")
    assert (sight.rate == 0.01) == (what == "change_rate")


@each("rate", [0.0, -1.0, 1.5, float("nan"), float("inf"), True, "0.1", None])
def test_a_rate_that_no_run_may_have_is_refused(rate: Any, tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    with pytest.raises(ValueError, match="learning_rate"):
        desk.change_rate(address, rate)
    assert not (tmp_path / address / "model").exists()


def test_a_run_that_another_server_stops_while_it_starts_is_ended_by_its_own(tmp_path: Path, started: Started) -> None:
    """Its process does not hold the folder yet, so only the server that started it knows its number."""
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    RunManager(tmp_path, at_once=1).stop(address)
    desk.tick()
    assert started[0][1].wait(timeout=300) == -signal.SIGTERM
    desk.tick()
    other = desk.submit(Choices(), {})
    desk.stop(other)
    assert not desk.tick()
    assert states(desk, address, other) == ["stopped", "stopped"]
    assert started.addresses == [address, other]  # neither starts again


def test_a_run_that_is_killed_starts_again_until_it_gets_no_further(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    log_updates(tmp_path, address, 3)
    for n in range(TRIES):
        kill(started[-1][1])
        assert desk.tick()
        assert len(started) == n + 2
    log_updates(tmp_path, address, 4)  # it got further, so it may try as often again
    for _ in range(TRIES):
        kill(started[-1][1])
        desk.tick()
    assert desk.see(address).state == "running"
    kill(started[-1][1])
    desk.tick()
    assert desk.see(address).state == "failed"
    assert "got no further than 4 updates" in desk.see(address).failure
    desk.resume(address)


def test_a_command_that_gives_up_is_not_started_again_and_its_reason_names_no_place(
    tmp_path: Path, started: Started
) -> None:
    desk = RunManager(tmp_path, at_once=1)
    started.program = "import sys; sys.exit(1)"
    address = desk.submit(Choices(), {})
    said = f"Traceback\nCannot train: {tmp_path / address}/data.txt is too short.\n"
    (tmp_path / address / "errors.txt").write_text(said, encoding="utf-8")
    end(started[0][1])
    assert not desk.tick()
    assert (desk.see(address).state, desk.see(address).failure) == ("failed", "/data.txt is too short.")


def test_another_server_finds_the_runs_of_one_that_was_killed(tmp_path: Path, started: Started) -> None:
    running, process = started.hold(tmp_path, seed=3)
    waiting = RunManager(tmp_path, at_once=1).submit(Choices(), {})
    after = RunManager(tmp_path, at_once=1)
    assert after.tick()
    assert states(after, running, waiting) == ["running", "queued"]
    assert after.see(running).choices.seed == 3
    assert started.addresses == [running]  # it is not started twice
    after.pause(running)
    process.wait(timeout=300)  # the test's own child: somebody must take note of its end
    after.tick()
    assert states(after, running, waiting) == ["paused", "running"]


def test_a_process_of_the_same_number_on_this_machine_is_left_alone(tmp_path: Path, started: Started) -> None:
    """Two containers that share the folder of runs: numbers of processes are low there, and occur twice."""
    address, process = started.hold(tmp_path)
    signature = tmp_path / address / "model" / ".lock"
    signature.write_text(signature.read_text().replace(socket.gethostname(), "another-container"))
    here = RunManager(tmp_path, at_once=1)
    assert here.see(address).state == "running"
    here.pause(address)
    assert process.poll() is None


def test_what_nobody_has_touched_for_a_day_is_cleared_away_but_nothing_that_runs(
    tmp_path: Path, started: Started
) -> None:
    now = [0.0]
    desk = RunManager(tmp_path, at_once=1, clock=lambda: now[0])
    done, running, waiting = (desk.submit(Choices(), {}) for _ in range(3))
    finish(tmp_path, done)
    end(started[0][1])
    desk.tick()
    now[0] = (tmp_path / done / "model" / "CARD.md").stat().st_mtime + KEPT - 60
    desk.tick()
    assert desk.see(done).state == "finished"
    now[0] += 120
    desk.tick()
    with pytest.raises(NoSuchRun):
        desk.see(done)
    assert [desk.see(one).state for one in (running, waiting)] == ["running", "queued"]


def test_a_long_queue_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_WAITING", 2)
    desk = RunManager(tmp_path, at_once=0)
    desk.submit(Choices(), {})
    desk.submit(Choices(), {})
    with pytest.raises(QueueFull, match="2 runs are waiting"):
        desk.submit(Choices(), {})


@each("address", ["..", "../other", "0" * 15, "0" * 17, "G" * 16, "0" * 16 + "\n", "０" * 16, "runs", ""])
def test_an_address_is_never_a_path(address: str, tmp_path: Path) -> None:
    """Each of these leads to a folder that looks like a run."""
    desk = RunManager(tmp_path / "runs", at_once=0)
    request = (tmp_path / "runs" / desk.submit(Choices(), {}) / "request.json").read_bytes()
    place = tmp_path / "runs" / address
    place.mkdir(exist_ok=True)
    (place / "request.json").write_bytes(request)
    for ask in (desk.see, partial(desk.change_rate, rate=0.01)):
        for nobodys in (address, "a" * 16):
            with pytest.raises(NoSuchRun):
                ask(nobodys)


def test_a_damaged_request_is_no_run(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=0)
    address = desk.submit(Choices(), {})
    (tmp_path / address / "request.json").write_text('{"choices": {"layers": "--out"}, "data": []}', encoding="utf-8")
    with pytest.raises(NoSuchRun):
        desk.see(address)
    RunManager(tmp_path, at_once=1).tick()
    assert started.addresses == [address]


def test_a_refused_run_leaves_nothing(tmp_path: Path) -> None:
    desk = RunManager(tmp_path / "runs", at_once=0)
    with full(), pytest.raises(OSError, match="No space left"):
        desk.submit(Choices(), {"data.txt": "Once upon a time."})
    assert list((tmp_path / "runs").iterdir()) == []


def test_what_a_killed_server_was_just_writing_is_cleared_away_after_a_day(tmp_path: Path) -> None:
    now = [tmp_path.stat().st_mtime]
    desk = RunManager(tmp_path, at_once=0, clock=lambda: now[0])
    half_written = tmp_path / ".0123456789abcdef"
    half_written.mkdir()
    now[0] = half_written.stat().st_mtime + KEPT - 60
    desk.tick()
    assert half_written.exists()
    now[0] += 120
    desk.tick()
    assert not half_written.exists()


@pytest.mark.parametrize(("what", "state"), [("pause", "paused"), ("stop", "stopped")])
def test_a_full_disk_keeps_no_run_going(what: str, state: str, tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    with full():
        getattr(desk, what)(address)
        assert started[0][1].poll() is not None
    assert desk.see(address).state == RunManager(tmp_path, at_once=1).see(address).state == state
    assert not desk.tick()
    with full(), pytest.raises(OSError, match="No space left"):
        desk.resume(address)
    assert desk.see(address).state == state
    desk.resume(address)
    assert desk.see(address).state == "running"


def test_a_run_whose_end_cannot_be_kept_is_ended_all_the_same_and_waits_for_room(
    tmp_path: Path, started: Started
) -> None:
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    with full(overwriting=False):
        with pytest.raises(OSError, match="No space left"):
            desk.stop(address)
        assert started[0][1].poll() is not None
        assert desk.tick()
        assert (desk.see(address).state, len(started)) == ("queued", 1)
        assert CANNOT_WRITE in desk.see(address).failure
    desk.tick()
    assert (desk.see(address).state, desk.see(address).failure, len(started)) == ("running", "", 2)


def test_a_run_that_the_full_disk_ended_goes_on_when_there_is_room(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    started.program = "import sys; sys.exit(1)"
    address = desk.submit(Choices(), {})
    end(started[0][1])
    started.program = WAITS
    with full():
        assert desk.tick()
    desk.tick()
    assert (desk.see(address).state, len(started)) == ("running", 2)


def test_twenty_browsers_of_one_flood_the_queue_and_others_still_come_in_and_come_soon(
    tmp_path: Path, started: Started
) -> None:
    desk = RunManager(tmp_path, at_once=2)
    flood = [desk.submit(Choices(), {}, owner=f"fresh {n}", place="one") for n in range(2 + MOST_AT_A_PLACE)]
    with pytest.raises(QueueFull, match=f"{MOST_AT_A_PLACE} runs are waiting"):
        desk.submit(Choices(), {}, owner="fresh again", place="one")
    other, again = (desk.submit(Choices(), {}, owner="another", place="elsewhere") for _ in range(2))
    assert [desk.see(one).before for one in (other, again, flood[2])] == [0, 1, 2]
    desk.stop(flood[0])
    assert started.addresses == [*flood[:2], other]
    assert [desk.see(one).before for one in (flood[2], again)] == [0, 1]  # one of each place runs, and this is a first
    assert not (tmp_path / flood[2] / "model").exists()


def test_nobodys_second_run_begins_before_anothers_first(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    names = ("flood", "flood", "flood", "one", "two", "one")
    first, second, third, one, two, again = (desk.submit(Choices(), {}, owner=name) for name in names)
    assert started.addresses == [first]
    assert [desk.see(address).before for address in (one, two, second, again, third)] == [0, 1, 2, 3, 4]


def test_of_one_reader_two_runs_may_wait_however_they_came_to(tmp_path: Path, started: Started) -> None:
    desk = RunManager(tmp_path, at_once=1)
    running, *waiting = (desk.submit(Choices(), {}, owner="one") for _ in range(1 + MOST_OF_ONE))
    with pytest.raises(QueueFull, match="2 of your runs are waiting"):
        desk.submit(Choices(), {}, owner="one")
    desk.stop(waiting[0])
    desk.submit(Choices(), {}, owner="one")
    with pytest.raises(QueueFull, match="2 of your runs are waiting"):
        desk.resume(waiting[0])
    assert desk.see(waiting[0]).state == "stopped"
    other = desk.submit(Choices(), {}, owner="another")
    assert (desk.see(other).state, desk.see(other).owner) == ("queued", "another")
    desk.stop(running)
    desk.resume(waiting[0])
    assert desk.see(waiting[0]).state == "queued"


def test_many_servers_start_a_run_once(tmp_path: Path, started: Started) -> None:
    """Its process has not signed its folder yet, as for the seconds in which it imports torch."""
    address = RunManager(tmp_path, at_once=1).submit(Choices(), {})
    others = [RunManager(tmp_path, at_once=1) for _ in range(TRIES + 1)]
    with ThreadPoolExecutor(len(others)) as servers:
        for _ in range(5):
            assert all(servers.map(RunManager.tick, others))
    assert started.addresses == [address]
    assert [desk.see(address).state for desk in others] == ["running"] * len(others)
    kill(started[0][1])
    while len(started) == 1:  # of several that look at once, one is let in
        others[0].tick()
    assert started.addresses == [address, address]


def test_another_server_ends_a_run_that_is_wanted_no_longer_once_it_has_signed(
    tmp_path: Path, started: Started
) -> None:
    address, process = started.hold(tmp_path)
    Folder.at(tmp_path, address).wish("stop")
    after = RunManager(tmp_path, at_once=1)
    after.tick()
    assert process.wait(timeout=300) == -signal.SIGTERM
    assert after.see(address).state == "stopped"


@pytest.mark.parametrize("keeps_its_server", [True, False])
def test_a_run_that_diverged_says_so_though_it_has_a_model(
    keeps_its_server: bool, tmp_path: Path, started: Started
) -> None:
    started.program = "import sys; sys.exit('Cannot train: The run has diverged.')"
    desk = RunManager(tmp_path, at_once=1)
    address = desk.submit(Choices(), {})
    finish(tmp_path, address)
    (tmp_path / address / "errors.txt").write_text("Cannot train: The run has diverged.\n", encoding="utf-8")
    end(started[0][1])
    desk = desk if keeps_its_server else RunManager(tmp_path, at_once=1)
    assert not desk.tick()
    assert (desk.see(address).state, desk.see(address).failure) == ("failed", "The run has diverged.")
    assert len(started) == 1
