"""Measurements run in one process at a time, which ends, and what it printed stays."""

import os
import threading

from tfmviz.ui.background import Measurement

MODULE = "tests.ui.three_lines"


def test_lines_are_kept_and_one_that_is_cut_off_is_not() -> None:
    job = Measurement(MODULE)
    assert (job.found, job.share, job.is_running) == ((), 0.0, False)
    job.begin()
    job.wait()
    assert [line["share"] for line in job.found] == [0, 1 / 3, 2 / 3]
    assert job.share == 2 / 3
    assert not job.is_running
    assert not job.has_failed
    assert job.found[0]["process"] != os.getpid()


def test_however_many_begin_only_one_process_runs() -> None:
    job = Measurement(MODULE)
    readers = [threading.Thread(target=job.begin) for _ in range(5)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    job.wait()
    first = {line["process"] for line in job.found}
    assert len(first) == 1
    job.begin()
    job.wait()
    assert {line["process"] for line in job.found}.isdisjoint(first)


def test_what_fails_leaves_its_lines_can_begin_anew_and_the_page_hears_of_it() -> None:
    for job, lines in ((Measurement("tests.ui.there_is_no_such_module"), 0), (Measurement(MODULE, "fails"), 3)):
        job.begin()
        job.wait()
        assert len(job.found) == lines
        assert job.has_failed
        assert not job.is_running


def test_of_a_module_one_process_runs_whatever_it_measures() -> None:
    one, other = Measurement(MODULE, "a"), Measurement(MODULE, "b")
    one.begin()
    waited = other.must_wait
    other.begin()  # while the first runs, this starts nothing
    one.wait()
    other.wait()
    assert waited
    assert one.found
    assert not other.found
    assert not other.must_wait
    other.begin()
    other.wait()
    assert other.found
    assert one.found, "what was found stays"
