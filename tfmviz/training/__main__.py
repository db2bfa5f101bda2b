"""The command line: `python -m tfmviz.training lm --data FOLDER --out FOLDER`."""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import math
import platform
import shlex
import sys
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from tfmviz.model.config import ModelConfig
from tfmviz.model.generate import continue_ids
from tfmviz.model.transformer import DecoderOnly, build
from tfmviz.text.corpora import CorpusError
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training import checkpoint
from tfmviz.training.data import Batches, load_split, pack
from tfmviz.training.export import export, unigram_cross_entropy, write_card
from tfmviz.training.loop import Settings, build_optimizer, evaluate, train

PROMPTS = ("Once upon a", "The cat sat on the", "I want to go to the")


def main() -> int:
    args = parse_arguments()
    keep_memory()
    try:
        train_language_model(args)
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
    lm.add_argument("--vocab-size", type=int, default=6144)
    lm.add_argument("--context", type=int, default=256, help="tokens per window, and the model's longest input")
    lm.add_argument("--layers", type=int, default=6)
    lm.add_argument("--heads", type=int, default=8)
    lm.add_argument("--width", type=int, default=256, help="d_model; the feed-forward layer is four times as wide")
    lm.add_argument("--positions", default="rope", help="none, learned, sinusoidal, rope, alibi or t5")
    lm.add_argument("--batch-size", type=int, default=16, help="windows per step")
    lm.add_argument("--repeated", type=int, default=1, help="of these, rows of repeated random tokens")
    lm.add_argument("--steps", type=int, default=4000)
    lm.add_argument("--learning-rate", type=float, default=2e-3)
    lm.add_argument("--seed", type=int, default=0)
    lm.add_argument("--device", default=best_device(), help="cpu, cuda or mps (default: %(default)s)")
    lm.add_argument("--precision", choices=("float32", "bfloat16"), default=None, help="default: what is fast here")
    lm.add_argument("--save-every", type=int, default=250, help="steps between checkpoints and evaluations")
    return parser.parse_args()


def train_language_model(args: argparse.Namespace) -> None:
    """Reads the text, trains or resumes, and writes the model folder."""
    args.out.mkdir(parents=True, exist_ok=True)
    split = load_split(parse_source(source) for source in args.data)
    tokenizer_path = args.out / "tokenizer.json"
    if tokenizer_path.exists():
        tokenizer = Tokenizer.load(tokenizer_path)
    else:
        tokenizer = Tokenizer.train(split.train, vocab_size=args.vocab_size)
        tokenizer.save(tokenizer_path)
    stream, held_out = pack(split.train, tokenizer, seed=args.seed), pack(split.held_out, tokenizer, seed=args.seed)
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
    batches = Batches(
        stream=stream,
        batch_size=args.batch_size,
        length=args.context,
        vocab_size=tokenizer.vocab_size,
        n_repeated=args.repeated,
        seed=args.seed,
    )
    torch.manual_seed(args.seed)
    model = build(config).to(args.device)
    assert isinstance(model, DecoderOnly)
    print(f"{len(stream):,} tokens to train on, {len(held_out):,} held out; {config.n_parameters:,} parameters.")
    run(model, tokenizer, batches, settings, held_out=held_out, args=args)
    export(args.out, model, tokenizer, card=card(model, tokenizer, batches, settings, held_out, split.held_out, args))
    print(f"Written to {args.out}.")


def run(
    model: DecoderOnly,
    tokenizer: Tokenizer,
    batches: Batches,
    settings: Settings,
    *,
    held_out: np.ndarray,
    args: argparse.Namespace,
) -> None:
    """Trains from the last checkpoint, if there is one, saving and reporting on the way."""
    optimizer = build_optimizer(model, settings)
    path, log = args.out / "checkpoint.safetensors", args.out / "log.jsonl"
    identity = asdict(settings) | model.config.to_dict() | batches.settings | {"data": args.data}
    start = checkpoint.load(path, model, optimizer, run=identity) if path.exists() else 0
    begin = time.perf_counter()
    for record in train(model, optimizer, batches, settings, start=start):
        entry = asdict(record)
        done = record.step + 1
        if done % args.save_every == 0 or done == settings.steps:
            entry["held_out_loss"] = evaluate(model, held_out, length=args.context, max_windows=64)
            checkpoint.save(path, model, optimizer, step=done, run=identity)
            sample = continuation(model, tokenizer, PROMPTS[0])
            print(f"step {done}: held-out loss {entry['held_out_loss']:.3f}; {sample!r}", flush=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        if done % 20 == 0:
            left = (time.perf_counter() - begin) / (done - start) * (settings.steps - done)
            print(
                f"step {done}/{settings.steps}  loss {record.loss:.3f}  {record.tokens_per_second:,.0f} tokens/s  "
                f"{datetime.timedelta(seconds=round(left))} left",
                flush=True,
            )


def card(
    model: DecoderOnly,
    tokenizer: Tokenizer,
    batches: Batches,
    settings: Settings,
    held_out: np.ndarray,
    documents: tuple[str, ...],
    args: argparse.Namespace,
) -> str:
    """Measures the finished model and writes its card. The weights are rounded to float16 first, as shipped."""
    model.to(torch.float16).to(torch.float32)
    loss = evaluate(model, held_out, length=args.context)
    unigram = unigram_cross_entropy(batches.stream, held_out, vocab_size=tokenizer.vocab_size)
    n_bytes = sum(len(document.encode()) for document in documents)
    tokens = settings.steps * batches.batch_size * batches.length
    facts = {
        "held-out loss": f"{loss:.3f} nats per token ({len(held_out):,} tokens, windows of {args.context})",
        "held-out bits per byte": f"{loss * (len(held_out) - len(documents)) / math.log(2) / n_bytes:.3f}",
        "unigram cross-entropy on the same text": f"{unigram:.3f} nats per token",
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
        "training": f"{settings.steps:,} steps of {batches.batch_size} × {batches.length} tokens: {tokens:,} in all, "
        f"{batches.n_repeated} of {batches.batch_size} rows repeated random tokens",
        "training text": f"{len(batches.stream):,} tokens, {settings.steps / batches.steps_per_epoch:.2f} epochs",
        "hardware": f"{args.device}, {torch.get_num_threads()} threads, {settings.precision}, {platform.machine()}",
        "finished": datetime.date.today().isoformat(),
        "command": f"`python -m tfmviz.training {shlex.join(sys.argv[1:])}`",
    }
    samples = {prompt: continuation(model, tokenizer, prompt) for prompt in PROMPTS}
    about = args.about.read_text(encoding="utf-8") if args.about else "Trained with `python -m tfmviz.training lm`."
    return write_card(name=args.out.name, about=about, facts=facts, samples=samples)


def continuation(model: DecoderOnly, tokenizer: Tokenizer, prompt: str, *, max_new_tokens: int = 40) -> str:
    ids = torch.tensor(tokenizer.encode_batch([prompt])[0], device=next(model.parameters()).device)
    model.eval()
    return tokenizer.decode(continue_ids(model, ids, max_new_tokens=max_new_tokens).tolist())


def parse_source(source: str) -> tuple[Path, int]:
    """ "stories.txt:2" is the file stories.txt, twice."""
    path, colon, weight = source.rpartition(":")
    return (Path(path), int(weight)) if colon and weight.isdigit() else (Path(source), 1)


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


def keep_memory() -> None:
    """Tells glibc to reuse large blocks instead of returning them to the system after every step.

    A step allocates and frees hundreds of megabytes; fetching the pages anew each time cost a third of the
    training speed. Elsewhere than on glibc this does nothing.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        m_trim_threshold, m_mmap_threshold = -1, -3
        libc.mallopt(m_mmap_threshold, 1 << 30)
        libc.mallopt(m_trim_threshold, (1 << 31) - 1)


if __name__ == "__main__":
    sys.exit(main())
