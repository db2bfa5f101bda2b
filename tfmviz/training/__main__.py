"""The command line: `python -m tfmviz.training lm --data FOLDER --out FOLDER`."""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import shlex
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tfmviz.memory import keep_memory
from tfmviz.model.config import ModelConfig
from tfmviz.model.generate import continue_ids
from tfmviz.model.transformer import DecoderOnly, build
from tfmviz.text.corpora import CorpusError
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.training import checkpoint
from tfmviz.training.data import Batches, load_split, pack
from tfmviz.training.export import export, unigram_cross_entropy, write_card
from tfmviz.training.loop import Settings, build_optimizer, evaluate, train

PROMPTS = ("Once upon a", "The cat sat on the", "I want to go to the")


def main() -> int:
    args = parse_arguments()
    keep_memory()
    try:
        run = prepare(args)
        execute(run)
        export(args.out, run.model, run.tokenizer, card=card(run))
    except (CorpusError, checkpoint.CheckpointError, ValueError, OSError) as error:
        print(f"Cannot train: {error}", file=sys.stderr)
        return 1
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tfmviz.training", description="Train one of the app's models.")
    lm = parser.add_subparsers(required=True).add_parser("lm", help="a decoder-only language model on plain text")
    lm.add_argument("--data", nargs="+", required=True, help="files or folders; PATH:3 repeats a source three times")
    lm.add_argument("--out", type=Path, required=True, help="folder for the model; an interrupted run goes on there")
    lm.add_argument("--about", type=Path, help="Markdown about the data and its licence, for the model card")
    lm.add_argument("--vocab-size", type=positive, default=6144)
    lm.add_argument("--context", type=positive, default=256, help="tokens per window, and the model's longest input")
    lm.add_argument("--layers", type=positive, default=6)
    lm.add_argument("--heads", type=positive, default=8)
    lm.add_argument("--width", type=positive, default=256, help="d_model; the feed-forward layer is four times as wide")
    lm.add_argument("--positions", default="rope", help="none, learned, sinusoidal, rope, alibi or t5")
    lm.add_argument("--batch-size", type=positive, default=16, help="windows per step")
    lm.add_argument("--repeated", type=int, default=1, help="of these, rows of repeated random tokens")
    lm.add_argument("--steps", type=positive, default=4000)
    lm.add_argument("--learning-rate", type=float, default=2e-3)
    lm.add_argument("--seed", type=int, default=0)
    lm.add_argument("--device", default=best_device(), help="cpu, cuda or mps (default: %(default)s)")
    lm.add_argument("--precision", choices=("float32", "bfloat16"), default=None, help="default: what is fast here")
    lm.add_argument("--save-every", type=positive, default=250, help="steps between checkpoints and evaluations")
    return parser.parse_args()


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One training run, ready to start or to go on.

    Attributes:
        held_out: (tokens,), packed text that is never trained on.
        held_out_bytes: length of its documents in UTF-8.
        about: Markdown about the data, for the card.
        identity: everything that must be the same when the run is resumed.
    """

    args: argparse.Namespace
    model: DecoderOnly
    tokenizer: Tokenizer
    batches: Batches
    settings: Settings
    held_out: np.ndarray
    held_out_bytes: int
    about: str
    identity: dict[str, Any]


def prepare(args: argparse.Namespace) -> Run:
    """Reads the text and builds the model. Whatever can be wrong with the request is found here, before any step."""
    about = args.about.read_text(encoding="utf-8") if args.about else "Trained with `python -m tfmviz.training lm`."
    split = load_split(parse_source(source) for source in args.data)
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer = get_tokenizer(args.out / "tokenizer.json", split.train, vocab_size=args.vocab_size)
    held_out = pack(split.held_out, tokenizer, seed=args.seed)
    if len(held_out) <= args.context:
        raise CorpusError(
            f"The held-out text, about a hundredth of all, has {len(held_out)} tokens; "
            f"a context of {args.context} needs {args.context + 1}."
        )
    batches = Batches(
        stream=pack(split.train, tokenizer, seed=args.seed),
        batch_size=args.batch_size,
        length=args.context,
        vocab_size=tokenizer.vocab_size,
        n_repeated=args.repeated,
        seed=args.seed,
    )
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        max_len=args.context,
        d_model=args.width,
        n_layers=args.layers,
        n_heads=args.heads,
        n_kv_heads=args.heads,
        d_ff=4 * args.width,
        positions=args.positions,
    )
    settings = Settings(
        steps=args.steps,
        learning_rate=args.learning_rate,
        warmup=min(200, args.steps // 10),
        precision=args.precision or best_precision(args.device),
        seed=args.seed,
    )
    torch.manual_seed(args.seed)
    model = build(config).to(args.device)
    assert isinstance(model, DecoderOnly)
    return Run(
        args=args,
        model=model,
        tokenizer=tokenizer,
        batches=batches,
        settings=settings,
        held_out=held_out,
        held_out_bytes=sum(len(document.encode()) for document in split.held_out),
        about=about,
        identity=asdict(settings) | config.to_dict() | batches.settings | {"wanted_vocab_size": args.vocab_size},
    )


def execute(run: Run) -> None:
    """Trains from the last checkpoint, if there is one, saving and reporting on the way."""
    args, model, steps = run.args, run.model, run.settings.steps
    optimizer = build_optimizer(model, run.settings)
    path, log = args.out / "checkpoint.safetensors", args.out / "log.jsonl"
    start = checkpoint.load(path, model, optimizer, run=run.identity) if path.exists() else 0
    keep_log_before(log, start)
    begin = time.perf_counter()
    for record in train(model, optimizer, run.batches, run.settings, start=start):
        entry = asdict(record)
        done = record.step + 1
        if done % args.save_every == 0 or done == steps:
            entry["held_out_loss"] = evaluate(model, run.held_out, length=args.context, max_windows=64)
            checkpoint.save(path, model, optimizer, step=done, run=run.identity)
            sample = continuation(run, PROMPTS[0])
            print(f"step {done}: held-out loss {entry['held_out_loss']:.3f}; {sample!r}", flush=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if done % 20 == 0:
            left = (time.perf_counter() - begin) / (done - start) * (steps - done)
            print(
                f"step {done}/{steps}  loss {record.loss:.3f}  {record.tokens_per_second:,.0f} tokens/s  "
                f"{datetime.timedelta(seconds=round(left))} left",
                flush=True,
            )


def card(run: Run) -> str:
    """Measures the finished model and writes its card. The weights are rounded to float16 first, as shipped."""
    model, batches = run.model, run.batches
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()
    loss = evaluate(model, run.held_out, length=batches.length)
    unigram = unigram_cross_entropy(batches.stream, run.held_out, vocab_size=run.tokenizer.vocab_size)
    nats = loss * len(run.held_out)  # marks between documents included: each stands for one byte, a line break
    n_bytes = run.held_out_bytes + int((run.held_out == END).sum())
    tokens = run.settings.steps * batches.batch_size * batches.length
    facts = {
        "held-out loss": f"{loss:.3f} nats per token ({len(run.held_out):,} tokens, windows of {batches.length})",
        "held-out bits per byte": f"{nats / math.log(2) / n_bytes:.3f} (UTF-8; a mark between documents is one byte)",
        "unigram cross-entropy on the same text": f"{unigram:.3f} nats per token",
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
        "training": f"{run.settings.steps:,} steps of {batches.batch_size} × {batches.length} tokens: {tokens:,} in "
        f"all, {batches.n_repeated} of {batches.batch_size} rows repeated random tokens",
        "training text": f"{len(batches.stream):,} tokens, {run.settings.steps / batches.steps_per_epoch:.2f} epochs",
        "hardware": f"{run.args.device}, {torch.get_num_threads()} threads, {run.settings.precision}, "
        f"{platform.machine()}",
        "finished": datetime.date.today().isoformat(),
        "command": f"`python -m tfmviz.training {shlex.join(sys.argv[1:])}`",
    }
    samples = {prompt: continuation(run, prompt) for prompt in PROMPTS}
    return write_card(name=run.args.out.name, about=run.about, facts=facts, samples=samples)


def get_tokenizer(path: Path, texts: Iterable[str], *, vocab_size: int) -> Tokenizer:
    """The run's tokenizer: learned from the text when the run begins, read again when it goes on."""
    if not path.exists():
        Tokenizer.train(texts, vocab_size=vocab_size).save(path)
    return Tokenizer.load(path)


def keep_log_before(log: Path, step: int) -> None:
    """Drops what a broken-off run logged after its last checkpoint; those steps are about to be run again."""
    if log.exists():
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if json.loads(line)["step"] < step), encoding="utf-8")


def continuation(run: Run, prompt: str, *, max_new_tokens: int = 40) -> str:
    ids = torch.tensor(run.tokenizer.encode_batch([prompt])[0], device=next(run.model.parameters()).device)
    run.model.eval()
    return run.tokenizer.decode(continue_ids(run.model, ids, end=END, max_new_tokens=max_new_tokens).tolist())


def parse_source(source: str) -> tuple[Path, int]:
    """ "stories.txt:2" is the file stories.txt, twice."""
    path, colon, weight = source.rpartition(":")
    return (Path(path), int(weight)) if colon and weight.isdecimal() else (Path(source), 1)


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def best_precision(device: str) -> str:
    """bfloat16 where the processor multiplies it natively."""
    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    capabilities = torch.cpu.get_capabilities()
    native = capabilities.get("amx_bf16") or capabilities.get("avx512_bf16")
    return "bfloat16" if device == "cpu" and native else "float32"


if __name__ == "__main__":
    sys.exit(main())
