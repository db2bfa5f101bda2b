"""A folder of small random models, and each of them loaded."""

import shutil
from pathlib import Path

import pytest
import tokenizers
import torch

from tests.zoo.models import CONFIGS, EARLIER, VOCAB_SIZE
from tfmviz import zoo
from tfmviz.model.build import build
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three small random models, one per architecture, as training leaves them."""
    folder = tmp_path_factory.mktemp("models")
    sentences = ["The cat sat on the mat. A dog ran to the house.", "Once upon a time there was a bird."] * 3
    tokenizer = Tokenizer.train(sentences, vocab_size=VOCAB_SIZE)
    generator = torch.Generator().manual_seed(0)
    for name, config in CONFIGS.items():
        model = build(config)
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.data.normal_(std=0.4, generator=generator)
        export(folder / name, model, tokenizer, card=f"# {name}\n")
    return folder


@pytest.fixture
def folder(shipped: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(shipped, tmp_path / "models")


@pytest.fixture(scope="module")
def mixed(shipped: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Transformers and models of all kinds from before them in one folder, as training leaves them."""
    folder = shutil.copytree(shipped, tmp_path_factory.mktemp("mixed") / "models")
    tokenizer = Tokenizer.load(folder / "decoder-only" / "tokenizer.json")
    for name, config in EARLIER.items():
        torch.manual_seed(0)
        export(folder / name, build(config), tokenizer, card=f"# {name}\n")
    return folder


@pytest.fixture(scope="module", params=list(CONFIGS))
def model(request: pytest.FixtureRequest, shipped: Path) -> zoo.ZooModel:
    return zoo.load(request.param, folder=shipped)


@pytest.fixture(scope="module")
def translator(shipped: Path) -> zoo.ZooModel:
    return zoo.load("encoder-decoder", folder=shipped)


@pytest.fixture(scope="module")
def library(shipped: Path) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(shipped / "decoder-only" / "tokenizer.json"))
