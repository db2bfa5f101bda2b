"""The command line: `python -m tfmviz.training {lm,mlm,spans,translate,task,label} --out FOLDER …`."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, assert_never

import torch

from tfmviz.memory import keep_memory
from tfmviz.model.build import Model, build
from tfmviz.schedule import noam_peak
from tfmviz.training import averaging, checkpoint, log
from tfmviz.training.courses import Course, check_options, prepare_course
from tfmviz.training.distributed import (
    first_process_first,
    from_first_process,
    mean_over_processes,
    parallel,
    processes,
    rank,
)
from tfmviz.training.export import export, start_from, write_card
from tfmviz.training.files import replacing, sole_use_of
from tfmviz.training.loop import Diverged, ScheduleName, Settings, StepRecord, build_optimizer, evaluate, train
from tfmviz.training.options import best_precision, check_device, parse_arguments
from tfmviz.training.rates import Rates

AVERAGED = "averaged"
"""The subfolder with the weights of the last checkpoints."""


def main() -> int:
    args = parse_arguments()
    keep_memory()
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # or kernels for past shapes fill a gigabyte
    try:
        about = check(args)
        with processes(args.device) as device, folder_for_this_run(args.out):
            run = prepare(args, device, about=about)
            try:
                finished = execute(run)
            except Diverged as error:
                if rank() > 0:
                    return 0  # with 1, torchrun would kill the first process, which has the message
                raise ValueError(f"{error} {advice(run)} {fall_back(run)}") from error
            if finished and rank() == 0:
                export(args.out, run.model, run.course.tokenizer, card=card(run, done=args.steps))
    except (ValueError, OSError) as error:
        print(f"Cannot train: {error}", file=sys.stderr)
        return 1
    except (MemoryError, torch.OutOfMemoryError):
        print("Cannot train: there is not enough memory. Choose less text, a smaller batch or model.", file=sys.stderr)
        return 1
    return 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A training run, ready to start or resume.

    Attributes:
        about: Markdown about the data, for the card.
        identity: must be unchanged on resuming.
    """

    args: argparse.Namespace
    course: Course
    model: Model
    settings: Settings
    about: str
    identity: dict[str, Any]


def check(args: argparse.Namespace) -> str:
    """Finds errors that need no training text. Returns `about`.

    Raises:
        ValueError: two options contradict each other, or there is no such device.
        OSError: the file about the data cannot be read.
    """
    check_options(args)
    check_device(args.device)
    return args.about.read_text(encoding="utf-8") if args.about else f"Trained with `{command()}`."


@contextmanager
def folder_for_this_run(out: Path) -> Iterator[None]:
    """Keeps other runs out of the folder."""
    if rank() == 0:
        with sole_use_of(out):
            yield
    else:
        yield


def prepare(args: argparse.Namespace, device: str, *, about: str) -> Run:
    """Reads the text, builds the model, and writes tokenizer and config once all is valid."""
    with first_process_first():
        course = prepare_course(args)
        course.batches.batch(0)
        torch.manual_seed(args.seed)
        model = build(course.config)
        if args.start_from:
            start_from(args.start_from, model)
        if rank() == 0 and not (path := args.out / "tokenizer.json").exists():
            # Snapshots need both. The tokenizer comes last, so its presence implies the config.
            with replacing(args.out / "config.json", path) as (config_file, tokenizer_file):
                course.tokenizer.save(tokenizer_file)
                config_file.write_text(json.dumps(course.config.to_dict(), indent=2) + "\n", encoding="utf-8")
    settings = prepare_settings(args, device)
    wanted = {"course": args.course, "wanted_vocab_size": getattr(args, "vocab_size", None)}
    begun = {"start_from": str(args.start_from)} if args.start_from else {}
    given = asdict(settings)
    if not settings.changes:  # older checkpoints have no such key
        del given["changes"]
    if settings.schedule == "noam":  # independent of the end, so a run may be extended or shortened
        del given["steps"]
    return Run(
        args=args,
        course=course,
        model=model.to(device),
        settings=settings,
        about=about,
        identity=given | course.config.to_dict() | course.batches.settings | wanted | begun,
    )


def prepare_settings(args: argparse.Namespace, device: str) -> Settings:
    schedule: ScheduleName = args.schedule
    match schedule:
        case "noam":
            warmup = args.warmup or min(4000, max(args.steps // 5, 1))
            highest = args.learning_rate or noam_peak(d_model=args.width, warmup=4000)
        case "cosine":
            warmup = args.warmup or min(200, args.steps // 10)
            highest = args.learning_rate or 2e-3
        case _:
            assert_never(schedule)
    return Settings(
        steps=args.steps,
        optimizer=args.optimizer,
        schedule=args.schedule,
        learning_rate=highest,
        changes=tuple(sorted(args.change_rate)),
        warmup=warmup,
        smoothing=args.smoothing,
        clip=args.clip,
        precision=args.precision or best_precision(device),
        seed=args.seed,
    )


def execute(run: Run) -> bool:
    """Trains from the last checkpoint, if there is one.

    Returns:
        False when the time of `--minutes` is up.

    Raises:
        Diverged: in all processes; the last checkpoint is from before.
    """
    args, steps = run.args, run.settings.steps
    optimizer = build_optimizer(run.model, run.settings)
    path = args.out / "checkpoint.safetensors"
    start = checkpoint.load(path, run.model, optimizer, run=run.identity) if path.exists() else 0
    if start > steps:
        raise checkpoint.CheckpointError(f"{path} has done {start} steps already; ask for that many, or for more.")
    if rank() == 0:
        log.keep_before(args.out / "log.jsonl", start)
    model = parallel(run.model)
    if args.compile:
        model.compile()
    rates, begin = Rates(args.out, run.settings), time.perf_counter()
    for record in train(model, optimizer, run.course.batches, run.settings, start=start, rate_at=rates.at):
        done = record.step + 1
        seconds = mean_over_processes(time.perf_counter() - begin)  # so that all processes agree
        out_of_time = args.minutes is not None and seconds >= 60 * args.minutes
        held_out = None
        if done % args.save_every == 0 or done == steps or out_of_time:
            held_out = from_first_process(report(run, done) if rank() == 0 else 0.0)
            if not math.isfinite(held_out):
                raise Diverged(f"The run has diverged: the model of update {done:,} has numbers that are not finite.")
        if rank() == 0:
            keep(run, record, optimizer, held_out=held_out, highest=rates.changed_at(record.step))
            if done % 20 == 0 or done == steps:
                print(progress(record, steps=steps, seconds_left=seconds / (done - start) * (steps - done)), flush=True)
        if out_of_time and done < steps:
            print(f"Stopped after {done} of {steps} steps; the same command continues the run.")
            return False
    return True


def keep(
    run: Run,
    record: StepRecord,
    optimizer: torch.optim.Optimizer,
    *,
    held_out: float | None,
    highest: float | None,
) -> None:
    """Logs the step, and writes the checkpoint and weights asked for.

    The log line precedes the checkpoint: if the run dies between the two, resuming drops the line and repeats the step.
    """
    out, done, entry = run.args.out, record.step + 1, asdict(record)
    if done in snapshot_steps(run.settings.steps, n=run.args.snapshots) and is_finite(run.model):
        checkpoint.save_snapshot(out / "snapshots" / f"{done:07d}.safetensors", run.model)
    if highest is not None:
        entry["highest_rate"] = highest
    if held_out is not None:
        entry["held_out_loss"] = held_out
    log.append(out / "log.jsonl", entry)
    if held_out is not None and run.args.average > 1:
        averaging.keep(out / AVERAGED, run.model, step=done, n=run.args.average)
    if held_out is not None:
        checkpoint.save(out / "checkpoint.safetensors", run.model, optimizer, step=done, run=run.identity)


def report(run: Run, done: int) -> float:
    """Prints a held-out loss, NaN if a weight is not finite, and a sample."""
    if not is_finite(run.model):
        return math.nan
    loss = evaluate(run.model, run.course.held_out[:8])
    if not math.isfinite(loss):
        return loss
    text, answer = next(iter(run.course.samples(run.model).items()))
    print(f"step {done}: held-out loss {loss:.3f}; {text!r}: {answer!r}", flush=True)
    return loss


def is_finite(model: Model) -> bool:
    """True if all weights are finite in float16, as shipped."""
    return all(bool(value.half().isfinite().all()) for value in model.state_dict().values())


def progress(record: StepRecord, *, steps: int, seconds_left: float) -> str:
    n_done = 20 * (record.step + 1) // steps
    return (
        f"[{'█' * n_done}{'·' * (20 - n_done)}] step {record.step + 1}/{steps}  loss {record.loss:.3f}  "
        f"{record.tokens_per_second:,.0f} tokens/s  {datetime.timedelta(seconds=round(seconds_left))} left"
    )


def snapshot_steps(steps: int, *, n: int) -> set[int]:
    """At most `n` step numbers from 1 to `steps`, about evenly spaced on a logarithmic scale."""
    return {round(steps ** (i / (n - 1))) for i in range(n)} if n > 1 else set()


def advice(run: Run) -> str:
    changed, warmup = Rates(run.args.out, run.settings).settings.changes, run.settings.warmup
    rate = changed[-1][1] if changed else run.settings.learning_rate
    return f"Choose a learning rate below {rate:g}, or a warm-up longer than {warmup:,} update{'s' * (warmup != 1)}."


def fall_back(run: Run) -> str:
    """Exports a diverged run's last checkpoint. Returns a sentence about it."""
    path = run.args.out / "checkpoint.safetensors"
    if not path.exists():
        return "It has no checkpoint, so there is no model."
    done = checkpoint.load(path, run.model, build_optimizer(run.model, run.settings), run=run.identity)
    export(run.args.out, run.model, run.course.tokenizer, card=card(run, done=done))
    return f"Its model is that of the last checkpoint, after {done:,} updates."


def card(run: Run, *, done: int) -> str:
    """The model card. First averages the weights, if asked to, and rounds them to float16.

    Args:
        done: updates of these weights.
    """
    model, settings = run.model, run.settings
    weights = averaged(run, done=done) if run.args.average > 1 else {}
    steps = f"{done:,} steps" if done == settings.steps else f"{done:,} of {settings.steps:,} steps, then it diverged"
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    facts = {
        **run.course.measure(model),
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
        "training": f"{steps}, {effort(run, done=done)}",
        **weights,
        **changes_of_rate(run),
        **run.course.facts,
        "hardware": f"{run.args.device}, {torch.get_num_threads()} threads, {settings.precision}, {platform.machine()}",
        "finished": datetime.date.today().isoformat(),
        "command": f"`{command()}`",
    }
    return write_card(name=run.args.out.name, about=run.about, facts=facts, samples=run.course.samples(model))


def averaged(run: Run, *, done: int) -> dict[str, str]:
    """Gives the model the mean of its last checkpoints. Returns a row for the card."""
    files = averaging.kept(run.args.out / AVERAGED, until=done)[-run.args.average :]
    averaging.average(run.model, files)
    return {"weights": f"mean of {len(files)} checkpoints, after steps {', '.join(f'{int(f.stem):,}' for f in files)}"}


def changes_of_rate(run: Run) -> dict[str, str]:
    """Changes of the learning rate, for the card, as an option."""
    changes = Rates(run.args.out, run.settings).settings.changes
    sentence = " ".join(f"{updates}:{rate!r}" for updates, rate in changes)
    return {"changed on the way": f"`--change-rate {sentence}`"} if changes else {}


def effort(run: Run, *, done: int) -> str:
    totals = log.totals(run.args.out / "log.jsonl", steps=done)
    if totals is None:
        return "tokens and time unknown (the log is incomplete)"
    n_tokens, seconds = totals
    return f"{n_tokens:,} tokens, {datetime.timedelta(seconds=round(seconds))} of wall time"


def command() -> str:
    return f"python -m tfmviz.training {shlex.join(sys.argv[1:])}"


if __name__ == "__main__":
    sys.exit(main())
