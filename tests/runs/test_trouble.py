"""Full disks, a queue that one reader would fill, several servers, runs that diverge. The processes only wait."""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.runs.started import WAITS, Started, end, finish, full, kill
from tfmviz.runs.choices import Choices
from tfmviz.runs.folder import Folder
from tfmviz.runs.manager import CANNOT_WRITE, KEPT, MOST_AT_A_PLACE, MOST_OF_ONE, TRIES, QueueFull, RunManager


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
