"""Which models there are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import tfmviz
from tests.cases import each
from tests.zoo.models import CONFIGS
from tfmviz import zoo


def test_all_models_are_listed_by_name(shipped: Path) -> None:
    assert zoo.catalogue(shipped) == tuple(zoo.Entry(name, None, CONFIGS[name]) for name in sorted(CONFIGS))
    assert zoo.available(shipped) == tuple(sorted(CONFIGS))


@each("name", list(CONFIGS))
def test_a_model_loads_ready_to_read(shipped: Path, name: str) -> None:
    model = zoo.load(name, folder=shipped)
    assert (model.name, model.config) == (name, CONFIGS[name])
    assert not model.module.training
    assert {p.dtype for p in model.module.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in model.module.parameters())
    stored = load_file(shipped / name / "model.safetensors")
    assert {value.dtype for value in stored.values()} == {torch.float16}
    assert all(value.equal(stored[key].float()) for key, value in model.module.state_dict().items())


def test_models_with_the_same_tokenizer_share_it() -> None:
    one, other, another = (zoo.load(name).tokenizer for name in ("twins-rope", "twins-none", "tiny-english"))
    assert one is other is not another


def test_unknown_names_and_folders_without_models_are_answered(tmp_path: Path, shipped: Path) -> None:
    (tmp_path / "README.md").write_text("No models here.", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        assert zoo.catalogue(folder) == ()
        assert zoo.available(folder) == ()
        with pytest.raises(zoo.ModelUnavailable, match="none"):
            zoo.load("any", folder=folder)
    with pytest.raises(zoo.ModelUnavailable, match=r"'gpt-5'.*decoder-only, encoder-decoder, encoder-only"):
        zoo.load("gpt-5", folder=shipped)
    with pytest.raises(zoo.ModelUnavailable, match="no such model"):
        tfmviz.load("no such model")


def test_a_name_never_leads_out_of_the_folder(folder: Path) -> None:
    outside = shutil.copytree(folder / "decoder-only", folder.parent / "outside")
    for name in ("../outside", "decoder-only/../../outside", f"{outside}", "..", ".", "", "\0"):
        with pytest.raises(zoo.ModelUnavailable, match="There is no model named"):
            zoo.load(name, folder=folder)


def test_listing_models_imports_no_torch(shipped: Path) -> None:
    code = (
        "import sys, pathlib, tfmviz, tfmviz.zoo; tfmviz.available();"
        "print(*tfmviz.zoo.available(pathlib.Path(sys.argv[1])));"
        "print({'torch', 'transformers', 'streamlit'} & set(sys.modules))"
    )
    command, paths = [sys.executable, "-c", code, str(shipped)], {"PYTHONPATH": ":".join(sys.path)}
    said = subprocess.run(command, env=paths, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [" ".join(sorted(CONFIGS)), "set()"]
